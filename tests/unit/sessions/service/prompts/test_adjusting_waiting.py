"""The model and the mode of a session that waits for another one: its first turn begins with the change."""

import pytest
from recorded_sessions import lines, record, said

from agentdash.sessions.model.adjustments import AdjustmentState
from agentdash.sessions.model.errors import UsageError
from agentdash.sessions.model.session import Status
from agentdash.sessions.rules.launch import Start
from agentdash.sessions.runner.queue import chains
from agentdash.sessions.service.manager import SessionManager
from agentdash.sessions.storage.files.session_record import read_identity
from agentdash.sessions.storage.rows import dump


@pytest.fixture
def manager(monkeypatch, tmp_path):
    monkeypatch.setattr("agentdash.sessions.service.manager.pump", lambda *_: None)
    with SessionManager() as manager:
        monkeypatch.setattr(manager.housekeeping, "settle", lambda: None)  # no process works for the other session
        yield manager


@pytest.fixture
def other(manager):
    """A session at work."""
    return record(manager, [("first", lines(said("an answer")))], last=Status.RUNNING)


def waiting(manager, other, **options):
    start = Start("go on", agent="codex", cwd="/usr", after=other.id, options={"sandbox": "workspace-write"} | options)
    return manager.spawn(start)


def first_start(manager, session):
    """The start of its first turn when the other session is done."""
    found = manager.store.chains.one(session.id)
    assert chains.release(manager.layout, manager.store, found, "an answer")
    return manager.store.launch(session.id, 1)


@pytest.mark.parametrize("live", [False, True])
def test_a_mode_that_is_chosen_while_it_waits_is_that_of_its_first_turn(manager, other, live):
    session = waiting(manager, other, live=live)
    changed = manager.adjuster.mode(session.id, "read-only")
    assert (changed.state, changed.effect) == (AdjustmentState.NEXT, "from turn 1 on")
    assert manager.reader.turns(session.id)[0].mode.permissions == "read-only"
    launch = first_start(manager, session)
    assert "read-only" in str((launch.argv, launch.opening))
    assert "workspace-write" not in str((launch.argv, launch.opening))
    assert launch.mode.permissions == "read-only"
    assert not manager.store.adjustments.pending(session.id)


def test_a_model_that_is_chosen_while_it_waits_is_that_of_its_first_turn(manager, other):
    session = waiting(manager, other, live=False)
    manager.adjuster.model(session.id, "gpt-of-now")
    assert manager.reader.by_id(session.id).model == "gpt-of-now"
    launch = first_start(manager, session)
    assert ("gpt-of-now" in str(launch.argv), launch.model, launch.mode.model) == (True, "gpt-of-now", "gpt-of-now")
    assert "an answer" in launch.stdin


def test_a_dangerous_mode_is_recorded_as_such_and_the_folder_has_the_change(manager, other):
    session = waiting(manager, other, live=False)
    manager.adjuster.mode(session.id, "danger-full-access")
    assert manager.reader.turns(session.id)[0].mode.dangerous
    identity = read_identity(manager.layout.session(session.id).identity)
    assert identity.launches[0].mode.permissions == "danger-full-access"
    assert identity.recipe.options["sandbox"] == "danger-full-access"


def test_a_change_between_the_reading_and_the_start_is_not_lost(manager, other):
    session = waiting(manager, other, live=False)
    found, recorded = manager.store.chains.one(session.id), manager.store.launch(session.id, 1)
    manager.adjuster.mode(session.id, "read-only")
    assert not manager.store.chains.start(found, "go on", recorded, recorded)
    assert "read-only" in str(first_start(manager, session).argv)


def test_a_mode_that_the_agent_lacks_changes_nothing(manager, other):
    session = waiting(manager, other, live=False)
    before = dump(manager.store.launch(session.id, 1))
    with pytest.raises(UsageError, match="no mode 'plan'"):
        manager.adjuster.mode(session.id, "plan")
    assert dump(manager.store.launch(session.id, 1)) == before


@pytest.mark.parametrize(("mode", "model"), [("read-only", "no such\nmodel"), ("plan", "gpt-of-now")])
def test_a_change_of_both_that_is_refused_in_one_part_changes_nothing(manager, other, mode, model):
    session = waiting(manager, other, live=False)
    before = dump(manager.store.launch(session.id, 1))
    with pytest.raises(UsageError):
        manager.adjuster.change(session.id, mode=mode, model=model)
    assert dump(manager.store.launch(session.id, 1)) == before
    changes = manager.adjuster.change(session.id, mode="read-only", model="gpt-of-now")
    assert [(one.what, one.value) for one in changes] == [("mode", "read-only"), ("model", "gpt-of-now")]
