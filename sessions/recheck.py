"""Items of a stream, each announced again a little later: for events that come before what they announce is visible."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from typing import TypeVar

from .clock import monotonic

T = TypeVar("T")


class Rechecks:
    """The moments at which to look again after the newest event; none are left until the next one.

    Args:
        after: seconds from the event to each look, ascending.
    """

    def __init__(self, after: Sequence[float]) -> None:
        self._after = after
        self._due: list[float] = []

    def restart(self, now: float) -> None:
        """An event came: plan all looks from here."""
        self._due = [now + seconds for seconds in self._after]

    def timeout(self, now: float) -> float | None:
        """Seconds until the next look; None if there is none."""
        return max(0.0, self._due[0] - now) if self._due else None

    def take(self, now: float) -> None:
        """Count every look that is due by now as done; at least the next one."""
        self._due = [due for due in self._due[1:] if due > now]


async def rechecked(
    source: AsyncGenerator[T, None], wanted: Callable[[T], bool], after: Sequence[float]
) -> AsyncGenerator[T | None, None]:
    """Yield each item at once, and None when it is time to look again.

    A wanted item starts the seconds of ``after``; the next wanted one starts them over.  While nothing happens there
    is no timer.  Closing this closes ``source``.
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
