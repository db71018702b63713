"""The session that a caller is inside of: recorded processes decide, and a claim only narrows."""

import json

import pytest

from agentdash.sessions.model.errors import NotAllowedError, NotYoursError
from agentdash.sessions.model.membership import Membership
from agentdash.sessions.model.session import Status
from agentdash.sessions.rules.launch import Launch, Start
from agentdash.sessions.runner.caller import CLAUDE_SESSION, Caller, Link
from agentdash.sessions.runner.processes import processes, runner_lock
from agentdash.sessions.service.families.reach import known_caller, rights_of
from agentdash.sessions.service.lifecycle.starts.launch_plan import recorded_environment
from agentdash.sessions.service.manager import SessionManager
from agentdash.sessions.storage.turns.claim import Owner
from agentdash.sessions.storage.turns.turn_log import TurnLog

LEAD, WORKER, SIBLING = (f"{n * 8}-family" for n in "123")
RUNNER, AGENT = (900, 9), (901, 10)
TAG, MARK, HOOK = processes.SESSION_TAG, processes.RUNNER_MARK, processes.HOOK_TAG
SHELL = Link(50, 5, {})
"""The user's shell, above all."""


@pytest.fixture
def user():
    with SessionManager(caller=Caller()) as manager:
        for name, parent in ((LEAD, None), (WORKER, LEAD), (SIBLING, LEAD)):
            start = Start("work", agent="claude", cwd="/tmp", title=name, session_id=name)
            manager.layout.session(name).create()
            place = Membership(parent=parent, depth=int(parent is not None))
            env = recorded_environment("claude", manager.reader.settings.path)
            manager.store.create(start, Launch(argv=("x",)), name, host="mars", membership=place, env=env)
        owner = Owner(pid=RUNNER[0], start=RUNNER[1], boot_id=processes.boot_id(), pid_ns=processes.pid_namespace())
        log = TurnLog(manager.store, WORKER, 1, owner)
        assert log.claim() is not None
        log.running(*AGENT)
        yield manager


def runner(manager, name=WORKER, key=RUNNER):
    return Link(key[0], key[1], {MARK: str(manager.layout.session(name).lock)})


def agent(**env):
    return Link(AGENT[0], AGENT[1], {TAG: WORKER, **env})


def shell(n=1, **env):
    return Link(n, n, env)


def found(manager, *line, **facts):
    """The session of a caller with this line of processes, as its first claim makes it."""
    claimed = next((link.session for link in line if link.session), None)
    evidence = "environment" if line[0].session else "ancestor" if claimed else ""
    caller = Caller(session=claimed, evidence=evidence, line=line, **facts)
    return known_caller(caller, manager.layout, manager.store)


FORGED = {
    "nothing": {},
    "the lead's tag": {TAG: LEAD},
    "a sibling's tag": {TAG: SIBLING},
    "an unknown tag": {TAG: "77777777-nobody"},
    "a hook": {HOOK: "done", "AGENTDASH_SESSION": WORKER},
    "a runner": {MARK: "x"},
}


def test_the_recorded_process_decides_whatever_the_environment_claims(user):
    lines = {
        "runner and agent": [agent(), runner(user), SHELL],
        "runner alone": [runner(user), SHELL],
        "agent alone": [agent(), SHELL],
    }
    for name, forged in FORGED.items():
        for above, line in lines.items():
            for own in (forged, {}):
                caller = found(user, shell(1, **own), shell(2, **forged), *line)
                assert (caller.session, caller.acts_for_user) == (WORKER, False), (name, above)


def test_an_agent_that_took_another_environment_is_known_by_its_runner(user):
    assert found(user, shell(), Link(AGENT[0], AGENT[1], {TAG: LEAD}), runner(user), SHELL).session == WORKER


def test_a_process_that_claims_to_be_the_runner_of_the_lead_is_none(user):
    caller = found(user, shell(), runner(user, LEAD, (77, 7)), agent(), runner(user), SHELL)
    assert caller.session == WORKER


def test_a_claim_narrows_to_a_session_below_and_never_widens(user):
    with user.store.database.transaction() as db:
        db.execute("UPDATE turns SET runner_pid = 800, runner_start = 8 WHERE session = ?", (LEAD,))
        db.execute("UPDATE turns SET boot_id = ?, pid_ns = ?", (processes.boot_id(), processes.pid_namespace()))
    lead = runner(user, LEAD, (800, 8))
    assert found(user, shell(1, **{TAG: WORKER}), lead, SHELL).session == WORKER
    assert found(user, shell(), lead, SHELL).session == LEAD


def test_without_a_recorded_process_the_farthest_claim_decides(user):
    interface = shell(3, **{TAG: WORKER})  # the agent's own interface, in the user's terminal
    assert found(user, shell(1, **{TAG: LEAD}), interface, SHELL).session == WORKER
    assert found(user, shell(1, **{TAG: WORKER}), SHELL).session == WORKER
    assert found(user, shell(), SHELL).acts_for_user


def test_a_process_that_was_seen_below_a_killed_runner_is_known_though_it_claims_nothing(user):
    folder = user.layout.session(WORKER)
    folder.procs.write_text(json.dumps({"boot_id": processes.boot_id(), "processes": [[300, 3]], "spared": []}))
    caller = found(user, shell(1, **{HOOK: "done"}), Link(300, 3, {}))
    assert (caller.session, caller.evidence) == (WORKER, "ancestor")
    assert user.store.session(WORKER).status is Status.RUNNING


def test_the_command_of_a_hook_is_the_user_if_its_runner_recorded_the_keeper(user):
    keeper = Link(400, 4, {HOOK: "done", "AGENTDASH_SESSION": WORKER})
    line = [shell(1, **{HOOK: "done"}), keeper, runner(user), SHELL]
    assert found(user, *line).session == WORKER
    user.layout.session(WORKER).procs.write_text(
        json.dumps({"boot_id": processes.boot_id(), "processes": [], "spared": [[400, 4]]})
    )
    assert found(user, *line).acts_for_user


def test_the_conversation_of_an_outside_lead_adds_nothing_to_a_session(user):
    own = found(user, agent(**{CLAUDE_SESSION: "talk"}), runner(user), SHELL, lead="claude:talk")
    assert (own.session, own.lead) == (WORKER, None)
    with user.store.database.transaction() as db:
        db.execute("UPDATE sessions SET agent_session = 'talk' WHERE id = ?", (WORKER,))
    assert found(user, agent(), runner(user), SHELL, lead="claude:talk").lead == "claude:talk"


def test_a_session_reads_the_settings_with_which_it_began_and_stores_none(user, monkeypatch, tmp_path):
    evil = tmp_path / "evil.toml"
    evil.write_text('[orchestration]\nreach = "all"\nmax_depth = 99\n[queue]\nmax_running = 99\n[profiles.x]\n')
    monkeypatch.setenv("AGENTDASH_CONFIG", str(evil))
    monkeypatch.setenv("AGENTDASH_PROFILE", "x")
    before = user.store.database.rows("SELECT * FROM settings")
    with SessionManager(caller=Caller(session=WORKER, evidence="environment")) as inside:
        assert inside.reader.settings.path == tmp_path / "config.toml"
        assert inside.rights.reach_text().startswith("only itself")
        inside.housekeeping.settle()
    assert user.store.database.rows("SELECT * FROM settings") == before
    monkeypatch.delenv("AGENTDASH_PROFILE", raising=False)


def test_what_a_session_reads_is_not_seen_by_the_user(user):
    seen = user.reader.by_id(SIBLING).seen_at
    with SessionManager(caller=Caller(session=WORKER, evidence="environment")) as inside:
        inside.housekeeping.mark_seen(SIBLING)
    assert user.reader.by_id(SIBLING).seen_at == seen


def test_a_command_that_cannot_see_the_processes_of_sessions_at_work_is_not_the_user(user):
    with user.store.database.transaction() as db:
        db.execute("UPDATE turns SET pid_ns = 'pid:[1]' WHERE session = ?", (WORKER,))
    assert found(user, shell()).acts_for_user  # no runner lives there
    with runner_lock.hold(user.layout.session(WORKER).lock):
        caller = found(user, shell())
        assert (caller.session, caller.acts_for_user) == (None, False)
        rights = rights_of(caller, user.layout, user.reader, user.store)
        for act in (lambda: rights.check(SIBLING, "stop"), lambda: rights.check_no_agent("A change of prices")):
            with pytest.raises((NotAllowedError, NotYoursError)):
                act()
        assert not rights.states_settings
        assert rights.caller_text() == "a command in another pid namespace than sessions at work"
        with user.store.database.transaction() as db:
            db.execute("UPDATE turns SET boot_id = 'other' WHERE session = ?", (WORKER,))
        assert found(user, shell()).acts_for_user
