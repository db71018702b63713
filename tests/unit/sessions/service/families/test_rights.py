"""Every act on a session passes the check of the caller's rights, and the check knows families."""

import inspect
import shutil
from collections.abc import Callable

import pytest

from agentdash.sessions.agents.registry import agent_named
from agentdash.sessions.model.errors import AgentdashError, NotAllowedError, NotYoursError
from agentdash.sessions.model.membership import Budget, Membership
from agentdash.sessions.model.turn_mode import TurnMode
from agentdash.sessions.rules.asks.model import Answer, Ask, AskKind, Verdict
from agentdash.sessions.rules.costs.repricing import Choice
from agentdash.sessions.rules.launch import Launch, Start
from agentdash.sessions.runner.caller import Caller
from agentdash.sessions.service.families.permissions import Bound, check_mode, rank
from agentdash.sessions.service.families.rights import Guarded, Rights
from agentdash.sessions.service.lifecycle.stop_family import at_work
from agentdash.sessions.service.manager import SessionManager
from agentdash.sessions.service.prompts.prompter import PromptOptions
from agentdash.sessions.storage.rows import dump

GRAND, LEAD, WORKER, BELOW, SIBLING, STRANGER = (f"{n}{n}{n}{n}{n}{n}{n}{n}-family" for n in "123456")

FREE = {
    "SessionManager": "close spawn spawn_copies continue_session run give_back started wait take_late",
    "Housekeeping": "mark_seen settle settled record",
    "Prompter": "allowance plan sent serve check_reachable worded",
    "SessionQueue": "prompts named first_unconfirmed",
    "SessionAsks": "named",
    "SessionConversations": "preview_fork fork",
}
"""What changes no session that was there, or only records what is true; a start is limited by its own rules."""

BY_HAND = {"Housekeeping": "clean", "ProjectTrust": "trust forget trusted", "SessionBudgets": "raise_to",
           "SessionPrices": "import_file reprice"}  # fmt: skip
"""Acts on all sessions, or on none: their own tests show that a session is refused."""


@pytest.fixture
def user():
    with SessionManager(caller=Caller()) as manager:
        above: str | None = None
        for depth, name in enumerate((GRAND, LEAD, WORKER, BELOW)):
            created(manager, name, above, depth)
            above = name
        created(manager, SIBLING, GRAND, 1)
        created(manager, STRANGER, None, 0)
        yield manager


def created(manager, name, parent, depth=0, **facts):
    start = Start("work", agent="claude", cwd="/tmp", title=name, session_id=name)
    manager.layout.session(name).create()
    place = Membership(parent=parent, depth=depth, **facts)
    manager.store.create(start, Launch(argv=("x",)), f"run-{name}", host="mars", membership=place)


@pytest.fixture
def lead(user):
    with SessionManager(caller=Caller(session=LEAD, evidence="environment")) as manager:
        yield manager


def parts(manager) -> list[Guarded]:
    found = [getattr(manager, name) for name in (*vars(manager), "conversation")]
    return [manager, *(part for part in found if isinstance(part, Guarded))]


def test_every_method_that_changes_sessions_is_checked_or_named_as_free(user):
    names = {type(part).__name__ for part in parts(user)}
    assert names >= {"SessionManager", "Housekeeping", "Prompter", "SessionQueue", "SessionAsks", "SessionAdjuster",
                     "SessionCompactor", "SessionChains", "SessionConversations", "ProjectTrust"}  # fmt: skip
    for part in parts(user):
        kind = type(part)
        free = f"{FREE.get(kind.__name__, '')} {BY_HAND.get(kind.__name__, '')}".split()
        methods = [name for name, _ in inspect.getmembers(kind, inspect.isfunction) if not name.startswith("_")]
        unmarked = [name for name in methods if not hasattr(getattr(kind, name), "acts")]
        assert sorted(unmarked) == sorted(free), kind
        assert part.rights is user.rights, kind


ACTS: dict[str, Callable[[SessionManager, str], object]] = {
    "stop": lambda m, ref: m.stop(ref),
    "stop many": lambda m, ref: m.stop_all([LEAD, ref]),
    "stop family": lambda m, ref: m.stop_family([ref]),
    "delete": lambda m, ref: m.delete(ref),
    "take over": lambda m, ref: m.take_over(ref),
    "archive": lambda m, ref: m.housekeeping.archive(ref),
    "archive all": lambda m, ref: m.housekeeping.archive_all([ref]),
    "restore": lambda m, ref: m.housekeeping.restore(ref),
    "rename": lambda m, ref: m.housekeeping.rename(ref, "x"),
    "pin": lambda m, ref: m.housekeeping.pin(ref),
    "inject": lambda m, ref: m.prompts.inject(ref, "x"),
    "retry": lambda m, ref: m.prompts.retry(ref),
    "interrupt": lambda m, ref: m.prompts.interrupt(ref),
    "hold": lambda m, ref: m.queue.hold(ref),
    "release": lambda m, ref: m.queue.release(ref),
    "model": lambda m, ref: m.adjuster.model(ref, "x"),
    "mode": lambda m, ref: m.adjuster.mode(ref, "plan"),
    "compact": lambda m, ref: m.compacting.compact(ref),
    "start": lambda m, ref: m.chains.start(ref),
    "budget": lambda m, ref: m.budgets.change(ref, Budget(tokens=1)),
    "rewind": lambda m, ref: m.conversation.rewind(ref, 1),
    "undo": lambda m, ref: m.conversation.undo(ref),
}


def test_a_session_reaches_no_ancestor_sibling_or_stranger(lead):
    def recorded(target):
        return lead.reader.by_id(target), lead.store.database.rows("SELECT * FROM requests")

    for name, act in ACTS.items():
        for target in (GRAND, SIBLING, STRANGER):
            before, told = recorded(target), f"Session {LEAD[:8]} cannot .* session {target[:8]}: .*{WORKER[:8]}"
            with pytest.raises(NotYoursError, match=told):
                act(lead, target)
            assert recorded(target) == before, (name, target)


@pytest.mark.parametrize("act", ACTS)
@pytest.mark.parametrize("target", [WORKER, BELOW])
def test_a_session_reaches_those_below_it(lead, act, target):
    try:
        ACTS[act](lead, target)
    except NotYoursError:  # pragma: no cover - the failure
        pytest.fail("refused")
    except AgentdashError:
        pass  # the state of the session does not allow it


def test_an_ask_of_another_session_is_not_answered(lead, user):
    stranger = user.store.asks.record(STRANGER, 1, 1, Ask(key="a", kind=AskKind.TOOL, tool="x", title="x"))
    with pytest.raises(NotYoursError):
        lead.asks.answer(stranger.id, Answer(verdict=Verdict.ALLOW))


def test_a_session_renames_itself_and_does_not_delete_itself(lead):
    assert lead.housekeeping.rename(LEAD, "mine").title == "mine"
    with pytest.raises(NotYoursError, match="cannot delete itself"):
        lead.delete(LEAD)
    with pytest.raises(NotYoursError, match="clean up"):
        lead.housekeeping.clean()


def test_reading_is_free(lead):
    assert lead.reader.get(STRANGER).title == STRANGER
    assert len(lead.reader.sessions()) == 6


def test_the_user_and_the_setting_reach_everything(user, lead):
    assert user.housekeeping.rename(STRANGER, "one").title == "one"
    lead.reader.settings.path.write_text('[orchestration]\nreach = "all"\n')
    assert lead.housekeeping.rename(STRANGER, "two").title == "two"
    lead.reader.settings.path.write_text("[orchestration]\nreach = 1\n")
    with pytest.raises(NotYoursError):
        lead.housekeeping.rename(STRANGER, "three")


ELSEWHERE = Caller(session="99999999-elsewhere", evidence="environment")


def test_a_session_of_another_state_folder_reaches_only_what_it_starts(user):
    with SessionManager(caller=ELSEWHERE) as manager:
        assert (manager.caller.session, manager.caller.lead) == (None, "agentdash:99999999-elsewhere")
        with pytest.raises(NotYoursError, match="Session 99999999 of another state folder cannot rename"):
            manager.housekeeping.rename(STRANGER, "x")
        with pytest.raises(NotAllowedError, match="for the user only"):
            manager.prices.reprice(Choice())
        with user.store.database.transaction() as db:
            db.execute("UPDATE sessions SET lead = ? WHERE id = ?", (manager.caller.lead, STRANGER))
        assert manager.housekeeping.rename(STRANGER, "x").title == "x"


def test_in_a_state_folder_that_was_made_inside_a_session_each_other_folders_session_is_the_user(tmp_path):
    home = tmp_path / "made by a test"
    with SessionManager(home, caller=ELSEWHERE) as manager:
        created(manager, STRANGER, None)
        assert manager.housekeeping.rename(STRANGER, "x").title == "x"
    with SessionManager(home, caller=ELSEWHERE) as manager:
        assert manager.caller.acts_for_user


def test_rights_have_no_default_and_without_families_a_session_reaches_nothing():
    with pytest.raises(TypeError):
        Guarded()  # type: ignore[call-arg]
    with pytest.raises(TypeError):
        Rights()  # type: ignore[call-arg]
    with pytest.raises(NotYoursError):
        Rights(Caller(session=LEAD)).check(WORKER, "stop")
    Rights(Caller()).check(WORKER, "stop")


def test_an_outside_lead_that_is_a_session_here_is_that_session(user):
    launch = dump(Launch(argv=("claude", "-p", "--session-id", "talk")))
    with user.store.database.transaction() as db:
        db.execute("UPDATE sessions SET agent_session = 'talk' WHERE id IN (?, ?)", (LEAD, STRANGER))
        db.execute("UPDATE turns SET launch = ? WHERE session = ?", (launch, LEAD))
    with SessionManager(caller=Caller(lead="claude:talk", evidence="lead key")) as manager:
        assert manager.caller.session == LEAD
    with SessionManager(caller=Caller(lead="codex:talk", evidence="lead key")) as manager:
        assert manager.caller.session is None


def test_a_stream_that_reports_the_conversation_of_an_outside_lead_takes_nothing_over(user):
    resumed = dump(Launch(argv=("claude", "-p", "--resume", "talk")))
    with user.store.database.transaction() as db:
        db.execute("UPDATE sessions SET agent_session = 'talk' WHERE id = ?", (LEAD,))
        db.execute("UPDATE turns SET launch = ? WHERE session = ?", (resumed, LEAD))
    with SessionManager(caller=Caller(lead="claude:talk", evidence="lead key")) as manager:
        assert (manager.caller.session, manager.caller.lead) == (None, "claude:talk")


OUTSIDE = "claude:another-talk"


@pytest.fixture
def outside(user):
    """A lead outside any session with a worker, and a worker of this worker."""
    created(user, "77777777-family", None, lead=OUTSIDE)
    created(user, "88888888-family", "77777777-family", 1)
    with SessionManager(caller=Caller(lead=OUTSIDE, evidence="client")) as manager:
        yield manager


def test_an_outside_lead_changes_only_the_sessions_below_it(outside):
    def recorded(target):
        return outside.store.session(target), outside.store.database.rows("SELECT * FROM requests")

    for name, act in ACTS.items():
        for target in (GRAND, WORKER, STRANGER):
            before = recorded(target)
            with pytest.raises(NotYoursError, match=r"outside lead claude:another-talk cannot .* 77777777, 88888888"):
                act(outside, target)
            assert recorded(target) == before, (name, target)


def test_a_command_of_an_agent_outside_any_session_acts_for_the_user(outside):
    with SessionManager(caller=Caller(lead=OUTSIDE, evidence="lead key")) as manager:
        assert manager.housekeeping.rename(STRANGER, "mine").title == "mine"
        assert manager.rights.reach_text() == "all sessions"
        started = manager.spawn(Start("true", agent="command", argv=("true",), cwd="/"))
        assert (started.lead, started.cwd) == (OUTSIDE, "/")


def test_an_outside_lead_does_not_clean_up(outside):
    with pytest.raises(NotYoursError, match="cannot clean up"):
        outside.housekeeping.clean()


def test_an_outside_lead_changes_its_workers_and_theirs(outside):
    assert outside.housekeeping.rename("77777777", "one").title == "one"
    assert outside.housekeeping.rename("88888888", "two").title == "two"
    outside.reader.settings.path.write_text('[orchestration]\nreach = "all"\n')
    assert outside.housekeeping.rename(STRANGER, "three").title == "three"


def test_an_outside_lead_without_workers_is_told_so(user):
    with (
        SessionManager(caller=Caller(lead="codex:x", evidence="client")) as manager,
        pytest.raises(NotYoursError, match=r"it can change no session; it has started no sessions\. Ask the user"),
    ):
        manager.stop(WORKER)


def test_an_outside_lead_that_became_a_session_keeps_its_workers(outside, user):
    with user.store.database.transaction() as db:
        db.execute("UPDATE sessions SET agent_session = 'another-talk' WHERE id = ?", (STRANGER,))
        given = dump(Launch(argv=("claude", "-p", "--session-id", "another-talk")))
        db.execute("UPDATE turns SET launch = ? WHERE session = ?", (given, STRANGER))
    with SessionManager(caller=Caller(lead=OUTSIDE, evidence="client")) as manager:
        assert manager.caller.session == STRANGER
        assert manager.housekeeping.rename("88888888", "mine").title == "mine"


def test_the_worker_of_a_deleted_worker_goes_to_the_outside_lead_and_back(outside, user):
    with user.store.database.transaction() as db:
        db.execute("UPDATE sessions SET status = 'done' WHERE id = '77777777-family'")
        db.execute("UPDATE turns SET status = 'done' WHERE session = '77777777-family'")
    outside.delete("77777777")
    assert outside.reader.by_id("88888888-family").lead == OUTSIDE
    assert outside.housekeeping.rename("88888888", "mine").title == "mine"
    assert outside.housekeeping.restore("77777777").id == "77777777-family"
    below = outside.reader.by_id("88888888-family")
    assert (below.parent, below.lead) == ("77777777-family", None)


def test_children_of_a_deleted_session_go_to_the_session_above(user):
    with user.store.database.transaction() as db:
        db.execute("UPDATE sessions SET status = 'done' WHERE id = ?", (LEAD,))
        db.execute("UPDATE turns SET status = 'done' WHERE session = ?", (LEAD,))
        db.execute("UPDATE sessions SET key = 'one' WHERE id IN (?, ?)", (WORKER, SIBLING))
    user.delete(LEAD)
    assert user.reader.by_id(WORKER).parent == GRAND
    assert (user.reader.by_id(WORKER).key, user.reader.by_id(SIBLING).key) == (None, "one")
    with SessionManager(caller=Caller(session=GRAND, evidence="environment")) as manager:
        assert manager.housekeeping.rename(BELOW, "mine").title == "mine"
        assert manager.housekeeping.restore(LEAD).id == LEAD  # it was below it when it was deleted
        assert manager.reader.by_id(WORKER).parent == LEAD


def test_a_session_in_the_trash_is_restored_only_by_its_own_family(user, lead):
    with user.store.database.transaction() as db:
        db.execute("UPDATE sessions SET status = 'done' WHERE id = ?", (STRANGER,))
        db.execute("UPDATE turns SET status = 'done' WHERE session = ?", (STRANGER,))
    user.delete(STRANGER)
    with pytest.raises(NotYoursError):
        lead.housekeeping.restore(STRANGER)


@pytest.mark.parametrize("purged", [False, True])
def test_a_process_of_a_deleted_session_starts_no_sessions(user, lead, purged):
    with user.store.database.transaction() as db:
        db.execute("UPDATE sessions SET status = 'done' WHERE id = ?", (LEAD,))
        db.execute("UPDATE turns SET status = 'done' WHERE session = ?", (LEAD,))
    user.delete(LEAD)
    if purged:
        shutil.rmtree(user.layout.trash / LEAD)
    before = user.store.ids()
    with SessionManager(caller=Caller(session=LEAD, evidence="environment")) as later:
        for manager in (lead, later):  # a server that runs since before the deletion, and a command after it
            for start in (lambda m: m.spawn(Start("go on", agent="claude", key="one")), lambda m: m.run(["true"])):
                with pytest.raises(NotAllowedError, match="Session 22222222 was deleted") as refused:
                    start(manager)
                assert refused.value.code == "lead_deleted"
            with pytest.raises(NotYoursError):
                manager.housekeeping.rename(STRANGER, "mine")
    assert user.store.ids() == before


def test_linked_workers_of_linked_workers_follow_and_detached_ones_do_not(user):
    assert at_work(user.store, GRAND) == []
    created(user, "aaaaaaaa-one", GRAND, 1, lifecycle="linked")
    created(user, "aaaaaaaa-two", "aaaaaaaa-one", 2, lifecycle="ephemeral")
    created(user, "aaaaaaaa-three", "aaaaaaaa-one", 2, lifecycle="detached")
    created(user, "aaaaaaaa-four", "aaaaaaaa-three", 3, lifecycle="linked")
    assert [one.id for one in at_work(user.store, GRAND)] == ["aaaaaaaa-two", "aaaaaaaa-one"]


def mode(name, **facts):
    return TurnMode(setting="x", permissions=name, **facts)


@pytest.mark.parametrize(
    ("agent", "permissions", "expected"),
    [
        ("claude", "plan", 0), ("claude", "acceptEdits", 1), ("claude", "dontAsk", 1), ("claude", "future", 2),
        ("codex", "read-only", 0), ("codex", "workspace-write", 1), ("codex", None, 2), ("command", None, 2),
    ],
)  # fmt: skip
def test_the_ranks_of_modes(agent, permissions, expected):
    assert rank(agent_named(agent), mode(permissions)) == expected
    assert rank(agent_named(agent), mode(permissions, dangerous=True)) == 2


def test_a_worker_has_no_more_permissions_than_its_lead():
    claude, codex = agent_named("claude"), agent_named("codex")
    edit = Bound(rank=1, agent="claude", permissions="acceptEdits")
    check_mode(edit, claude, mode("acceptEdits"))
    check_mode(edit, codex, mode("workspace-write"))
    check_mode(None, claude, mode("bypassPermissions", dangerous=True))
    for agent, refused in ((claude, mode("bypassPermissions", dangerous=True)), (codex, mode("danger-full-access"))):
        with pytest.raises(NotAllowedError, match="acceptEdits"):
            check_mode(edit, agent, refused)
    with pytest.raises(NotAllowedError, match="auto"):
        check_mode(Bound(rank=1, agent="claude", permissions="default"), claude, mode("auto"))
    with pytest.raises(NotAllowedError, match="allowed_tools"):
        check_mode(edit, claude, mode("plan"), ["allowed_tools", "permission_mode"])


def test_prompts_and_changes_give_no_more_permissions_than_the_lead_has(user):
    with user.store.database.transaction() as db:
        db.execute("UPDATE sessions SET host = ?, status = 'done', cwd = '/usr'", (user_host(),))
        db.execute("UPDATE turns SET status = 'done'")
        db.execute("UPDATE sessions SET mode = 'plan' WHERE id = ?", (LEAD,))
        db.execute("UPDATE turns SET launch = json_set(launch, '$.mode', json('{\"permissions\": \"plan\"}'))")
    with SessionManager(caller=Caller(session=LEAD, evidence="environment")) as lead:
        with pytest.raises(NotAllowedError):
            lead.adjuster.mode(WORKER, "acceptEdits")
        with pytest.raises(NotAllowedError):
            lead.prompts.inject(WORKER, "x", PromptOptions(settings={"permission_mode": "acceptEdits"}))
        assert lead.adjuster.mode(WORKER, "plan").value == "plan"


def user_host():
    from agentdash.sessions.runner.processes import processes

    return processes.host_name()


def test_a_start_that_is_not_allowed_names_the_next_step(lead):
    with pytest.raises(
        NotAllowedError, match=r"cannot start a worker in /; .*\. Ask the user, who can change"
    ) as refused:
        lead.spawn(Start("x", agent="claude", cwd="/"))
    assert "Ask" not in refused.value.fact  # the tools have words of their own for it
