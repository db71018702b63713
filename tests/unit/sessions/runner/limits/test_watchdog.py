"""The time of a turn that counts for its limit."""

from types import SimpleNamespace

import pytest

from agentdash.sessions.agents.registry import agent_named
from agentdash.sessions.rules.costs.usage_totals import Spent
from agentdash.sessions.rules.limits.limits import Limits
from agentdash.sessions.runner.follow import Follower
from agentdash.sessions.runner.limits import turn_watch
from agentdash.sessions.storage.files.line_reader import FilePart
from agentdash.sessions.storage.turns.turn_output import TurnOutput


class Turn:
    """A turn with a limit of 60 s, and a clock that the test sets."""

    def __init__(self, folder, age_s=0.0):
        self.now = 1000.0
        output = folder / "turn_1.jsonl"
        output.touch()
        part = TurnOutput(1, FilePart(output), FilePart(output.with_suffix(".err")), output.with_suffix(".times"))
        self._follower = Follower(output, part.times, agent_named("codex").parser())
        self._watchdog = turn_watch.Watchdog(Limits(wall_seconds=60.0), part, age_s)

    def after(self, seconds, *, waits=None):
        """Let time pass; then the turn begins or ends to wait.  The limits crossed, and the seconds until the next."""
        self.now += seconds
        if waits is not None:
            self._watchdog.note(waits=waits)
            self._follower.facts.waiting = "asks to run: ls" if waits else None
        crossed, due = self._watchdog.check(self._follower, Spent())
        return list(crossed), due


@pytest.fixture
def turn(tmp_path, monkeypatch):
    made = []

    def begin(age_s=0.0):
        monkeypatch.setattr(turn_watch, "time", SimpleNamespace(monotonic=lambda: made[0].now if made else 1000.0))
        made.append(Turn(tmp_path, age_s))
        return made[0]

    return begin


def test_the_time_in_which_a_turn_waits_for_an_answer_does_not_count(turn):
    one = turn()
    assert one.after(20) == ([], 40.0)
    assert one.after(10, waits=True) == ([], None)
    assert one.after(3600) == ([], None)
    assert one.after(3600, waits=True) == ([], None)
    assert one.after(5, waits=False) == ([], 30.0)
    assert one.after(10, waits=True) == ([], None)
    assert one.after(3600, waits=False) == ([], 20.0)
    assert one.after(20) == (["wall"], None)


def test_an_adopted_turn_goes_on_with_its_age(turn):
    one = turn(age_s=50.0)
    assert one.after(0, waits=True) == ([], None)
    assert one.after(3600, waits=False) == ([], 10.0)
    assert one.after(10)[0] == ["wall"]
