"""From the change feed to the screen."""

import factories
import pytest

from agentdash.sessions.model.session import Changes, Status
from agentdash.tui.services import change_feed as module
from agentdash.tui.services.change_feed import LEAST_SECONDS, ChangeFeed


def session(sid, title):
    return factories.session(sid, title=title)


class Source:
    def __init__(self):
        self.answers = []
        self.asked = []

    def changes(self, since):
        self.asked.append(since)
        return self.answers.pop(0) if self.answers else Changes(seq=since)


class Clock:
    now = 100.0


def watched(monkeypatch):
    source, told, later = Source(), [], []
    monkeypatch.setattr(module, "monotonic", lambda: Clock.now)
    feed = ChangeFeed(source, lambda: told.append(Clock.now), later.append)
    return source, feed, told, later


async def test_a_burst_is_told_once_and_the_rest_a_tenth_of_a_second_later(monkeypatch):
    source, feed, told, later = watched(monkeypatch)
    source.answers = [Changes(seq=n, updated=(session("a", f"title {n}"),)) for n in range(1, 21)]
    await feed.pull()
    assert told == [100.0]
    assert [s.title for s in feed.take().updated] == ["title 1"]
    for _ in range(19):
        await feed.pull()
    assert told == [100.0]
    assert later == [pytest.approx(LEAST_SECONDS)]
    feed.announce()
    assert [s.title for s in feed.take().updated] == ["title 20"]


async def test_each_pull_asks_for_what_came_after_the_last(monkeypatch):
    source, feed, told, _ = watched(monkeypatch)
    source.answers = [Changes(seq=7, updated=(session("a", "x"),)), Changes(seq=9, removed=("a",))]
    feed.prime()
    await feed.pull()
    await feed.pull()
    assert source.asked == [0, 7, 9]
    taken = feed.take()
    assert (taken.updated, taken.removed) == ((), ("a",))
    assert len(told) == 1


async def test_nothing_new_tells_nothing(monkeypatch):
    _, feed, told, later = watched(monkeypatch)
    await feed.pull()
    assert (told, later) == ([], [])


async def test_another_store_makes_everything_known_void(monkeypatch):
    source, feed, _, _ = watched(monkeypatch)
    source.answers = [
        Changes(seq=5, updated=(session("a", "old"), session("b", "old"))),
        Changes(seq=2, updated=(session("b", "new"),), fresh=True),
    ]
    await feed.pull()
    feed.take()
    await feed.pull()
    taken = feed.take()
    assert [one.title for one in taken.updated] == ["new"]
    assert taken.removed == ("a",)
    await feed.pull()
    assert source.asked == [0, 5, 2]


@pytest.mark.parametrize(
    ("facts", "unsettled", "only_warm"),
    [
        ([{"status": Status.DONE}], False, True),
        ([{"status": Status.DONE, "warm_since": 1}], True, True),
        ([{"status": Status.DONE, "warm_since": 1, "left": 1}], True, False),
        ([{"status": Status.DONE, "warm_since": 1}, {"status": Status.RUNNING}], True, False),
        ([{"status": Status.DONE, "warm_since": 1}, {"status": Status.DONE, "left": 2}], True, False),
    ],
)
async def test_sessions_with_processes_are_known_and_whether_all_of_them_only_wait(
    monkeypatch, facts, unsettled, only_warm
):
    source, feed, _, _ = watched(monkeypatch)
    running = [factories.session(str(number)) for number in range(len(facts))]
    ended = [factories.session(str(number), **one) for number, one in enumerate(facts)]
    source.answers = [Changes(seq=1, updated=tuple(running)), Changes(seq=2, updated=tuple(ended))]
    source.answers.append(Changes(seq=3, removed=tuple(one.id for one in ended)))
    await feed.pull()
    assert (feed.unsettled, feed.only_warm) == (True, False)
    await feed.pull()
    assert (feed.unsettled, feed.only_warm) == (unsettled, only_warm)
    await feed.pull()
    assert not feed.unsettled
