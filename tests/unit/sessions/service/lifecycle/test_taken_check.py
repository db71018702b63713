"""Deleting or archiving a session that a user has taken over: refused here, possible if its machine is gone."""

import pytest
from msgspec import structs
from recorded_sessions import lines, record, said

from agentdash.sessions.model.errors import SessionBusyError
from agentdash.sessions.model.session import TakenBy
from agentdash.sessions.runner.processes import processes, runner_lock
from agentdash.sessions.service.lifecycle.session_ref import held_elsewhere
from agentdash.sessions.service.manager import SessionManager
from agentdash.sessions.storage.rows import dump
from agentdash.tui.texts.takeover_texts import put_away_warning

GONE = TakenBy(
    host="gone-machine", user="ann", tty="pts/3", since=1, pid=1, start=1, boot_id="b", pid_ns="n", run_id="r1", turn=1,
    argv=("codex",), talks=(),
)  # fmt: skip


@pytest.fixture
def manager():
    with SessionManager() as manager:
        yield manager


def taken(manager, holder):
    """A session that a user has in the agent's own interface."""
    session = record(manager, [("first words", lines(said("first answer")))])
    with manager.store.database.transaction() as db:
        db.execute("UPDATE sessions SET taken_by = ? WHERE id = ?", (dump(holder), session.id))
    return manager.reader.by_id(session.id)


def living(**fields):
    """A holder of this machine whose process has the lock."""
    return structs.replace(GONE, host=processes.host_name(), boot_id=processes.boot_id(), **fields)


def archive_all(manager, session):
    if manager.housekeeping.archive_all([session.id]) != [session.id]:
        raise SessionBusyError("ann (pts/3)")


ACTS = {
    "delete": lambda manager, session: manager.delete(session.id),
    "archive": lambda manager, session: manager.housekeeping.archive(session.id),
    "archive_all": archive_all,
}


def away(manager):
    return {one.id for one in manager.reader.put_away()}


@pytest.mark.parametrize("act", ACTS)
def test_a_session_whose_holder_was_on_a_machine_that_is_gone_can_be_put_away(manager, act):
    session = taken(manager, GONE)
    ACTS[act](manager, session)
    assert away(manager) == {session.id}
    assert manager.housekeeping.restore(session.id).taken_by == GONE  # nothing of it is lost


@pytest.mark.parametrize("act", ACTS)
def test_a_holder_of_this_machine_that_lives_prevents_it(manager, act):
    session = taken(manager, living())
    with (
        runner_lock.hold(manager.layout.session(session.id).lock),
        pytest.raises(SessionBusyError, match=r"ann \(pts/3\)"),
    ):
        ACTS[act](manager, session)
    assert away(manager) == set()


@pytest.mark.parametrize("act", ["delete", "archive"])
def test_a_lock_that_is_held_proves_that_the_holder_of_another_machine_lives(manager, act):
    session = taken(manager, GONE)
    with (
        runner_lock.hold(manager.layout.session(session.id).lock),
        pytest.raises(SessionBusyError, match=r"ann \(pts/3\)"),
    ):
        ACTS[act](manager, session)
    assert away(manager) == set()


def test_another_holder_than_the_one_that_was_judged_prevents_it(manager):
    session = taken(manager, GONE)
    changed = manager.store.archive(session.id, 1, holder="r0") or manager.store.delete(session.id, 1, holder="r0")
    assert not changed
    assert manager.reader.by_id(session.id).archived_at is None


def test_it_still_cannot_be_stopped_from_here_and_a_clean_up_keeps_it(manager):
    session = taken(manager, GONE)
    with pytest.raises(SessionBusyError, match=r"ann \(pts/3\): it can be stopped"):
        manager.stop(session.id)
    assert [one.id for one in manager.housekeeping.clean(0).kept] == [session.id]


def test_the_warning_names_holder_and_machine_and_only_those_of_other_machines(manager):
    far, near = taken(manager, GONE), taken(manager, living())
    assert held_elsewhere(near) is None
    assert "gone-machine, by ann (pts/3)" in put_away_warning([near, far])
    assert put_away_warning([near]) == ""
    assert "1 more" in put_away_warning([far, near, structs.replace(far, id="other")])
