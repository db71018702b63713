"""A step of the wall clock changes neither the duration nor the age of a turn."""

import os

import pytest
from recorded_use import ID, OWNER

from agentdash.sessions.model.clock import now_ms
from agentdash.sessions.model.session import Status
from agentdash.sessions.rules.launch import Launch, Start
from agentdash.sessions.rules.turn_facts import Facts
from agentdash.sessions.runner import clock_steps
from agentdash.sessions.runner.clock_steps import ClockSteps, surplus_ms
from agentdash.sessions.runner.processes.processes import uptime
from agentdash.sessions.storage.store import Store
from agentdash.sessions.storage.turns.claim import Outcome, move_times
from agentdash.sessions.storage.turns.turn_log import TurnLog
from agentdash.widgets.table.columns import COLUMNS, Moment

DAYS = 2 * 86_400_000
T0 = 1_790_000_000_000


class Clock:
    """A wall clock and an uptime that the test sets."""

    def __init__(self):
        self.wall, self.boot = T0, 1_000.0

    def pass_by(self, seconds):
        self.wall += round(seconds * 1000)
        self.boot += seconds


@pytest.fixture
def clock(monkeypatch):
    made = Clock()
    monkeypatch.setattr(clock_steps, "now_ms", lambda: made.wall)
    monkeypatch.setattr(clock_steps, "uptime", lambda: made.boot)
    return made


@pytest.mark.parametrize("step", [DAYS, -DAYS, 60_000])
def test_each_step_is_noticed_once_and_time_that_passes_is_none(clock, step):
    steps = ClockSteps()
    clock.pass_by(3_600)
    assert steps.step_ms() == 0
    clock.wall += step
    assert (steps.step_ms(), steps.step_ms()) == (step, 0)


def test_slow_drift_and_a_process_that_is_held_up_are_no_steps(clock, monkeypatch):
    steps = ClockSteps()
    clock.wall += 1_500
    assert steps.step_ms() == 0
    held = iter(range(0, 100, 10))
    monkeypatch.setattr(clock_steps, "uptime", lambda: 5_000.0 + next(held))
    assert steps.step_ms() == 0


def test_a_turn_cannot_be_older_than_its_process():
    ticks = os.sysconf("SC_CLK_TCK")
    start = round((uptime() - 10) * ticks)
    assert surplus_ms(now_ms() - 10_000, start) == 0
    assert surplus_ms(now_ms() - 40_000, start) == 0, "the process may begin later than its turn"
    assert surplus_ms(now_ms() - 10_000 - DAYS, start) == pytest.approx(DAYS, abs=2_000)
    assert surplus_ms(None, start) == surplus_ms(now_ms() - DAYS, None) == 0


@pytest.fixture
def running(tmp_path):
    """A store with a session that printed 4 s after its start, and its turn's log."""
    store = Store(tmp_path / "agentdash.db")
    start = Start("do it", agent="codex", session_id=ID.format(1), cwd="/p")
    store.create(start, Launch(argv=("codex",)), "run", host="h")
    log = TurnLog(store, ID.format(1), 1, OWNER)
    claim = log.claim()
    log.progress(Facts(), Status.RUNNING, None, 1, claim.started_at + 4_000)
    return store, log, claim.started_at


def cells(session, now):
    return tuple(COLUMNS[name].text(session, Moment(now=now)) for name in ("time", "age"))


@pytest.mark.parametrize("step", [DAYS, -DAYS])
def test_time_and_age_of_a_turn_at_work_stay_what_they_were(running, step):
    store, _, began = running
    before = cells(store.session(ID.format(1)), began + 60_000)
    move_times(store.database, ID.format(1), 1, step)
    (turn,), session = store.turns(ID.format(1)), store.session(ID.format(1))
    assert session.started_at == turn.started_at == began + step
    if step < 0:  # the time of the last output is never in the future, and here no clock has made the step
        assert cells(session, began + 60_000 + step) == before == ("1m", "1m")


def test_the_times_of_a_turn_that_has_ended_stay(running):
    store, log, began = running
    assert log.end(Facts(end="completed"), Outcome(status=Status.DONE, reason=None), 1, lambda *_: Launch(argv=()))
    move_times(store.database, ID.format(1), 1, DAYS)
    assert store.session(ID.format(1)).started_at == began
