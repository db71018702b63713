"""Every act on a session passes the check of the caller's rights, and the check knows families."""

import inspect
from collections.abc import Callable

import pytest

from agentdash.sessions.agents.registry import agent_named
from agentdash.sessions.asks.model import Answer, Ask, AskKind, Verdict
from agentdash.sessions.errors import AgentdashError, NotAllowedError, NotYoursError
from agentdash.sessions.families.caller import Caller
from agentdash.sessions.families.guarded import Guarded
from agentdash.sessions.families.permissions import Bound, check_mode, rank
from agentdash.sessions.launch import Launch, Start
from agentdash.sessions.lifecycle.stop_family import at_work
from agentdash.sessions.manager import SessionManager
from agentdash.sessions.membership import Membership
from agentdash.sessions.prompts.prompter import PromptOptions
from agentdash.sessions.turn_mode import TurnMode

GRAND, LEAD, WORKER, BELOW, SIBLING, STRANGER = (f"{n}{n}{n}{n}{n}{n}{n}{n}-family" for n in "123456")

FREE = {
    "SessionManager": "close spawn spawn_copies continue_session run give_back started wait",
    "Housekeeping": "mark_seen settle settled record",
    "Prompter": "allowance plan sent serve check_reachable",
    "SessionQueue": "prompts named first_unconfirmed",
    "SessionAsks": "named",
    "SessionConversations": "preview_fork fork",
}
"""What changes no session that was there, or only records what is true; a start is limited by its own rules."""

BY_HAND = {"Housekeeping": "clean", "ProjectTrust": "trust forget trusted"}
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
    "rewind": lambda m, ref: m.conversation.rewind(ref, 1),
    "undo": lambda m, ref: m.conversation.undo(ref),
}


@pytest.mark.parametrize("act", ACTS)
@pytest.mark.parametrize("target", [GRAND, SIBLING, STRANGER])
def test_a_session_reaches_no_ancestor_sibling_or_stranger(lead, act, target):
    before = lead.reader.by_id(target), lead.store.database.rows("SELECT * FROM requests")
    with pytest.raises(NotYoursError, match=f"Session {LEAD[:8]} cannot .* session {target[:8]}: .*{WORKER[:8]}"):
        ACTS[act](lead, target)
    assert (lead.reader.by_id(target), lead.store.database.rows("SELECT * FROM requests")) == before


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
    lead.reader.settings_path.write_text('[orchestration]\nreach = "all"\n')
    assert lead.housekeeping.rename(STRANGER, "two").title == "two"
    lead.reader.settings_path.write_text("[orchestration]\nreach = 1\n")
    with pytest.raises(NotYoursError):
        lead.housekeeping.rename(STRANGER, "three")


def test_a_tag_of_another_state_folder_is_the_user(user):
    with SessionManager(caller=Caller(session="99999999-elsewhere", evidence="environment")) as manager:
        assert manager.caller.session is None
        assert manager.housekeeping.rename(STRANGER, "x").title == "x"


def test_an_outside_lead_that_is_a_session_here_is_that_session(user):
    with user.store.database.transaction() as db:
        db.execute("UPDATE sessions SET agent_session = 'talk' WHERE id = ?", (LEAD,))
    with SessionManager(caller=Caller(lead="claude:talk", evidence="lead key")) as manager:
        assert manager.caller.session == LEAD
    with SessionManager(caller=Caller(lead="codex:talk", evidence="lead key")) as manager:
        assert manager.caller.session is None


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
        ("demo", None, None),
    ],
)  # fmt: skip
def test_the_ranks_of_modes(agent, permissions, expected):
    assert rank(agent_named(agent), mode(permissions)) == expected
    assert rank(agent_named(agent), mode(permissions, dangerous=True)) in (2, None)


def test_a_worker_has_no_more_permissions_than_its_lead():
    claude, codex = agent_named("claude"), agent_named("codex")
    edit = Bound(rank=1, agent="claude", permissions="acceptEdits")
    check_mode(edit, claude, mode("acceptEdits"))
    check_mode(edit, codex, mode("workspace-write"))
    check_mode(edit, agent_named("demo"), None)
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
        db.execute("UPDATE sessions SET host = ?, status = 'done', cwd = '/'", (user_host(),))
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
    from agentdash.sessions.processes import processes

    return processes.host_name()
