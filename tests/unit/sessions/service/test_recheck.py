"""Looks that follow an event: as many as planned, counted from the newest event, and none while nothing happens."""

import asyncio

import pytest

from agentdash.sessions.service import watch
from agentdash.sessions.service.watch import Rechecks, rechecked

AFTER = (0.1, 0.3, 0.9)


def test_without_an_event_there_is_nothing_to_wait_for():
    assert Rechecks(AFTER).timeout(5.0) is None


def test_an_event_is_followed_by_each_look_and_then_by_none():
    rechecks = Rechecks(AFTER)
    rechecks.restart(10.0)
    waited = []
    now = 10.0
    while (timeout := rechecks.timeout(now)) is not None:
        now += timeout
        rechecks.take(now)
        waited.append(now - 10.0)
    assert waited == pytest.approx(AFTER)


def test_a_new_event_starts_over():
    rechecks = Rechecks(AFTER)
    rechecks.restart(10.0)
    rechecks.take(10.1)
    rechecks.restart(10.2)
    assert rechecks.timeout(10.2) == pytest.approx(0.1)


def test_looks_that_a_busy_reader_missed_are_one_look():
    rechecks = Rechecks(AFTER)
    rechecks.restart(10.0)
    assert rechecks.timeout(10.5) == 0
    rechecks.take(10.5)
    assert rechecks.timeout(10.5) == pytest.approx(0.4)


class Source:
    """A stream that gives what a test puts into it; a number above 0 is wanted."""

    def __init__(self):
        self._items = asyncio.Queue()
        self.closed = False

    def put(self, item):
        self._items.put_nowait(item)

    async def stream(self):
        try:
            while (item := await self._items.get()) is not None:
                if isinstance(item, Exception):
                    raise item
                yield item
        finally:
            self.closed = True


@pytest.fixture
def source():
    return Source()


@pytest.fixture
async def looks(source, monkeypatch):
    """The stream with its looks, on a clock that goes forward by what is waited for."""
    waits = []
    clock = [100.0]
    real_wait = asyncio.wait

    async def wait(tasks, timeout):  # noqa: ASYNC109 - asyncio's own signature
        await asyncio.sleep(0)  # what was put into the source arrives
        done, pending = await real_wait(tasks, timeout=None if timeout is None else 0)
        if not done:
            waits.append(timeout)
            clock[0] += timeout
        return done, pending

    monkeypatch.setattr(watch, "monotonic", lambda: clock[0])
    monkeypatch.setattr(asyncio, "wait", wait)
    stream = rechecked(source.stream(), lambda item: item > 0, AFTER)
    stream_and_waits = stream, waits
    yield stream_and_waits
    await stream.aclose()


async def test_a_wanted_item_is_followed_by_its_looks_and_an_unwanted_one_by_none(source, looks):
    stream, waits = looks
    source.put(1)
    assert [await anext(stream) for _ in range(4)] == [1, None, None, None]
    assert waits == pytest.approx([0.1, 0.2, 0.6])
    source.put(-1)
    source.put(-2)
    assert [await anext(stream) for _ in range(2)] == [-1, -2]
    assert len(waits) == 3


async def test_a_wanted_item_between_looks_starts_them_over_and_an_unwanted_one_does_not(source, looks):
    stream, waits = looks
    source.put(1)
    assert [await anext(stream) for _ in range(2)] == [1, None]
    source.put(2)
    assert [await anext(stream) for _ in range(2)] == [2, None]
    source.put(-1)
    assert [await anext(stream) for _ in range(3)] == [-1, None, None]
    assert waits == pytest.approx([0.1, 0.1, 0.2, 0.6])


async def test_the_end_of_the_source_is_the_end(source, looks):
    stream, _ = looks
    source.put(1)
    source.put(None)
    assert [item async for item in stream] == [1]
    assert source.closed


async def test_an_error_of_the_source_is_raised(source, looks):
    stream, _ = looks
    source.put(OSError("watch limit reached"))
    with pytest.raises(OSError, match="watch limit"):
        await anext(stream)
    assert source.closed


async def test_closing_it_closes_the_source(source, looks):
    stream, _ = looks
    source.put(1)
    assert [await anext(stream) for _ in range(2)] == [1, None]
    assert not source.closed
    await stream.aclose()
    assert source.closed
