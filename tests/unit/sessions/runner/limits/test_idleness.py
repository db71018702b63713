"""Idleness: silence alone is none, and neither is silence while a process works."""

import os

from agentdash.sessions.runner.limits.stuck import Idleness
from agentdash.sessions.runner.processes import processes

AGENT, CHILD = (10, 1), (11, 1)


class Watched:
    """An agent whose processes use what a test says, looked at as its runner would."""

    def __init__(self, seconds=300.0):
        self.used = {AGENT: 5.0}
        self.looks = 0
        self.idleness = Idleness(seconds, self.look)

    def look(self):
        self.looks += 1
        return dict(self.used)

    def until(self, end, *, begin=0, printed_at=0.0, every=5, using=()):
        """Look every few seconds; ``using`` are the processes at work meanwhile."""
        for now in range(begin + every, end + 1, every):
            for key in using:
                self.used[key] = self.used.get(key, 0.0) + every * 0.9
            self.idleness.check(float(now), printed_at)
        return self.idleness.evidence


def test_nothing_printed_and_nothing_used_is_idle():
    watched = Watched()
    assert watched.until(355) is None
    assert watched.until(420, begin=355) == "no output for 6m, CPU idle"
    assert watched.until(1200, begin=420) == "no output for 6m, CPU idle"


def test_it_is_looked_at_once_a_minute_and_only_in_silence():
    watched = Watched()
    watched.until(600)
    assert watched.looks == 10
    busy = Watched()
    for now in range(600):
        busy.idleness.check(float(now), float(now))
    assert busy.looks == 0


def test_a_child_at_work_is_only_silence():
    watched = Watched()
    assert watched.until(1800, using=[CHILD]) is None
    assert watched.until(2040, begin=1800) is None
    assert watched.until(2200, begin=2040) == "no output for 35m, CPU idle"
    assert watched.until(5700, using=[CHILD]) is None
    assert watched.until(6100, begin=5700) == "no output for 1h, CPU idle"


def test_a_build_of_many_short_processes_is_work():
    watched = Watched()
    for minute in range(1, 30):
        watched.used = {AGENT: 5.0, (100 + minute, minute): 1.5}
        watched.idleness.check(minute * 60.0, 0.0)
    assert watched.idleness.evidence is None


def test_the_timers_of_a_runtime_are_no_work():
    watched = Watched()
    for minute in range(1, 30):
        watched.used = {AGENT: 5.0 + minute * 0.3}
        watched.idleness.check(minute * 60.0, 0.0)
    assert watched.idleness.evidence is not None


def test_an_event_ends_it_and_silence_begins_anew():
    watched = Watched()
    assert watched.until(600) is not None
    watched.idleness.printed(601.0)
    assert watched.idleness.evidence is None
    assert watched.until(900, begin=600, printed_at=601.0) is None
    assert watched.until(1100, begin=900, printed_at=601.0) is not None


def test_work_that_begins_again_ends_it():
    watched = Watched()
    assert watched.until(600) is not None
    assert watched.until(720, begin=600, using=[CHILD]) is None


def test_it_says_when_to_look_again():
    watched = Watched(5.0)
    assert watched.idleness.check(100.0, 99.75) == 0.75
    assert watched.idleness.check(100.75, 99.75) == 1.0
    assert watched.idleness.check(101.75, 99.75) == 1.0
    assert watched.idleness.check(105.75, 99.75) == 1.0
    assert watched.idleness.evidence == "no output for 6s, CPU idle"


def test_a_process_that_works_uses_processor_time():
    before = processes.cpu_seconds(os.getpid())
    while processes.cpu_seconds(os.getpid()) < before + 0.05:
        sum(range(10_000))
    assert processes.cpu_seconds(2**22 + 1) is None


def test_a_short_time_is_not_doubled_by_the_looks():
    watched = Watched(seconds=10.0)
    assert watched.until(9, every=1) is None
    assert watched.until(12, begin=9, every=1) is not None
