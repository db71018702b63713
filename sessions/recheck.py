"""Repeat each event of a stream a little later: for events that arrive before their change is visible."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from typing import TypeVar

from .clock import monotonic

T = TypeVar("T")


class Rechecks:
    """The times of the rechecks after the newest event; once all are done, none is due until the next event.

    Args:
        after: seconds from the event to each recheck, ascending.
    """

    def __init__(self, after: Sequence[float]) -> None:
        self._after = after
        self._due: list[float] = []

    def restart(self, now: float) -> None:
        """Schedule all rechecks from now, because an event arrived."""
        self._due = [now + seconds for seconds in self._after]

    def timeout(self, now: float) -> float | None:
        """Return seconds until the next recheck; None if there is none."""
        return max(0.0, self._due[0] - now) if self._due else None

    def take(self, now: float) -> None:
        """Mark every recheck that is due by now as done, and at least the next one."""
        self._due = [due for due in self._due[1:] if due > now]


async def rechecked(
    source: AsyncGenerator[T, None], wanted: Callable[[T], bool], after: Sequence[float]
) -> AsyncGenerator[T | None, None]:
    """Yield each item at once, and None when a recheck is due.

    A wanted item starts the delays of ``after``; the next wanted one restarts them.  While nothing happens there is no
    timer.  Closing this closes ``source``.
    """
    rechecks = Rechecks(after)
    upcoming: asyncio.Future[T] | None = None
    try:
        while True:
            upcoming = upcoming or asyncio.ensure_future(anext(source))
            done, _ = await asyncio.wait({upcoming}, timeout=rechecks.timeout(monotonic()))
            if not done:
                rechecks.take(monotonic())
                yield None
                continue
            fetched, upcoming = upcoming, None
            try:
                item = fetched.result()
            except StopAsyncIteration:
                return
            if wanted(item):
                rechecks.restart(monotonic())
            yield item
    finally:
        if upcoming is not None:
            upcoming.cancel()
            await asyncio.gather(upcoming, return_exceptions=True)
        await source.aclose()
