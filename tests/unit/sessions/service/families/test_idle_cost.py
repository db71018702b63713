"""The cost of a family for a dashboard when nothing changes, in statements of SQL."""

import pytest
from recorded_sessions import lines, record, said

from agentdash.sessions.model.session import Status
from agentdash.sessions.runner.caller import Caller
from agentdash.sessions.runner.processes import runner_lock
from agentdash.sessions.service.manager import SessionManager
from agentdash.sessions.storage.database import Database


@pytest.fixture
def manager(tmp_path, monkeypatch):
    monkeypatch.setenv("AGENTDASH_CONFIG", str(tmp_path / "config.toml"))
    with SessionManager(tmp_path / "home", caller=Caller()) as made:
        yield made


@pytest.fixture
def statements(monkeypatch):
    """Counts the statements that all connections run."""
    run = []
    for opens in ("_open_reader", "_open_writer"):
        original = getattr(Database, opens)

        def opened(self, original=original):
            connection = original(self)
            connection.set_trace_callback(run.append)
            return connection

        monkeypatch.setattr(Database, opens, opened)

    def counted(act):
        run.clear()
        act()
        return list(run)

    return counted


def grow(manager, workers):
    """Record a lead with workers that have ended."""
    lead = record(manager, [("lead", lines(said("x", 1)))])
    for number in range(workers):
        record(manager, [(f"work {number}", lines(said("x", 1)))], parent=lead.id, lifecycle="linked", depth=1)
    return lead


def test_a_look_at_an_unchanged_family_is_one_statement_whatever_its_size(statements, manager):
    for workers in (1, 30):
        grow(manager, workers)
        changes = manager.reader.changes(0)
        assert statements(lambda: manager.reader.changes(changes.seq)) == ["PRAGMA data_version"]  # noqa: B023


def test_settling_costs_as_many_statements_for_a_family_of_thirty_as_for_one(statements, manager):
    grow(manager, 1)
    manager.housekeeping.settle()
    few = statements(manager.housekeeping.settle)
    grow(manager, 30)
    manager.housekeeping.settle()
    many = statements(manager.housekeeping.settle)
    assert len(many) == len(few) <= 25
    assert not [one for one in many if one.startswith(("BEGIN IMMEDIATE", "UPDATE", "INSERT", "DELETE"))]


def test_a_worker_at_work_costs_no_statement_of_its_own_while_its_runner_lives(statements, manager):
    def at_work(number):
        lead = grow(manager, 0)
        for _ in range(number):
            one = record(manager, [("x", lines(said("x", 1)))], parent=lead.id, lifecycle="linked", last=Status.RUNNING)
            held.append(runner_lock.hold(manager.layout.session(one.id).lock))
        manager.housekeeping.settle()
        return len(statements(manager.housekeeping.settle))

    held = []
    try:
        assert at_work(1) == at_work(8)
    finally:
        for lock in held:
            lock.release()
