"""Watch for changes on disk: two folders, whatever the number of sessions.  The only import of watchfiles.

An event only means *that* something changed.  Its receiver queries the change feed, or reads a turn file from its last
offset.  An event can arrive before its change is visible, so it is repeated a little later.  A sweep every two seconds
finds changes that the kernel failed to report.  If the kernel reports nothing at all (watch limit, network folder, a
folder that is gone), everything is checked twice a second.
"""

import asyncio
import os
from collections.abc import AsyncGenerator, Callable, Iterable, Sequence
from contextlib import aclosing, suppress
from pathlib import Path
from typing import TypeVar

from msgspec import Struct

from agentdash.sessions.model.clock import monotonic
from agentdash.sessions.storage.paths import SELECTED_ENDING

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


DEBOUNCE_MS = 50
"""Time for which events are batched; the default of 1,600 ms would delay a busy folder."""

RECHECK_SECONDS = (0.15, 0.4, 1.0)
"""Delays after a write to the database's log.

SQLite writes a commit to the log, waits for the disk (fsync), and only then makes the commit visible, which the kernel
does not report.  On a slow disk the first check comes too soon.  A check that found something proves nothing about the
next commit of the same moment, so all of them are made.
"""

SWEEP_SECONDS = 2.0
POLL_SECONDS = 0.5
RETRY_SECONDS = 30.0
"""Time to poll before asking the kernel for watches again."""


class Change(Struct, frozen=True, kw_only=True):
    """A request to check the disk."""

    database: bool = False
    turn_files: frozenset[str] = frozenset()
    """Names of the files in the live folder that grew: ``<session>.<stream>.jsonl``."""
    selected: bool = False
    """Another session may be selected in a table; with a sweep too."""
    sweep: bool = False
    """Check everything that is open, and search for runners that died."""


async def changes(home: Path, live: Path, *selected: Path) -> AsyncGenerator[Change, None]:
    """Yield, without end, the changes in the state folder and in its folder of live turn files.

    The first value requests a check of everything.  The stream continues if the folders are deleted or replaced.
    ``selected`` is the folder of what is selected in tables, for those who follow one.
    """
    folders = (home, live, *selected)
    yield Change(database=True, sweep=True)
    while True:
        watched = _identity(folders)
        # If the watch limit is reached (watchfiles has an error of its own for too many instances), or a folder is
        # gone: poll for a while.
        with suppress(OSError, RuntimeError):
            async with aclosing(_watched(folders, watched)) as reported:
                async for change in reported:
                    yield change
        async for change in _polled(folders, watched):
            yield change


async def _watched(folders: tuple[Path, ...], watched: object) -> AsyncGenerator[Change, None]:
    """Yield the kernel's reports, until the folders at these paths are not the watched ones."""
    from watchfiles import awatch  # takes longer to load than to draw the first screen, which is drawn before

    swept = monotonic()
    batches = awatch(
        *folders,
        watch_filter=None,  # filtered below: batches without relevant files would hold back the sweep
        debounce=DEBOUNCE_MS,
        step=DEBOUNCE_MS,
        rust_timeout=int(SWEEP_SECONDS * 1000),
        yield_on_timeout=True,
        recursive=False,
    )
    looks = rechecked(batches, lambda batch: _change(batch).database, RECHECK_SECONDS)
    async with aclosing(looks):
        async for batch in looks:
            change = Change(database=True) if batch is None else _change(batch)
            sweep = monotonic() - swept >= SWEEP_SECONDS
            if sweep:
                swept = monotonic()
                if _identity(folders) != watched:
                    return
                yield Change(database=True, turn_files=change.turn_files, sweep=True)
            elif change != Change():
                yield change


async def _polled(folders: tuple[Path, ...], watched: object) -> AsyncGenerator[Change, None]:
    """Yield the differences twice a second, until the folders are replaced or it is time to ask the kernel again."""
    began = swept = monotonic()
    sizes = await asyncio.to_thread(_sizes, folders[1])
    while monotonic() - began < RETRY_SECONDS or None in _identity(folders):
        await asyncio.sleep(POLL_SECONDS)
        earlier, sizes = sizes, await asyncio.to_thread(_sizes, folders[1])
        grown = frozenset(name for name, size in sizes.items() if earlier.get(name) != size)
        sweep = monotonic() - swept >= SWEEP_SECONDS
        if sweep:
            swept = monotonic()
        yield Change(database=True, turn_files=grown, sweep=sweep)
        now = _identity(folders)
        if None in now:
            watched = None  # a new folder may get the number of the one that is gone
        elif now != watched:
            return


def _change(batch: Iterable[tuple[object, str]]) -> Change:
    """Extract the relevant changes of a batch: the database's log, and turn files."""
    names = [path.rpartition(os.sep)[2] for _, path in batch]
    return Change(
        database=any(name.endswith("-wal") for name in names),
        turn_files=frozenset(name for name in names if name.endswith(".jsonl")),
        selected=any(name.endswith(SELECTED_ENDING) for name in names),
    )


def _identity(folders: Iterable[Path]) -> tuple[tuple[int, int] | None, ...]:
    """Return the identities of the folders now at these paths; None for each that is missing."""
    return tuple(_inode(folder) for folder in folders)


def _inode(folder: Path) -> tuple[int, int] | None:
    try:
        stat = folder.stat()
    except OSError:
        return None
    return stat.st_dev, stat.st_ino


def _sizes(live: Path) -> dict[str, tuple[int, int]]:
    """Return size and time of each live turn file; whole seconds would miss a second append."""
    try:
        with os.scandir(live) as entries:
            return {e.name: (e.stat().st_size, e.stat().st_mtime_ns) for e in entries if e.name.endswith(".jsonl")}
    except OSError:
        return {}
