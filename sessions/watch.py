"""Watch for changes on disk: two folders, whatever the number of sessions.  The only import of watchfiles.

An event only means *that* something changed.  Its receiver queries the change feed, or reads a turn file from its last
offset.  A sweep every two seconds finds changes that the kernel failed to report.  If the kernel reports nothing at
all (watch limit, network folder, a folder that is gone), everything is checked twice a second.
"""

import asyncio
import os
from collections.abc import AsyncGenerator, Iterable
from contextlib import aclosing
from pathlib import Path

from msgspec import Struct

from .clock import monotonic
from .recheck import rechecked

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
    sweep: bool = False
    """Check everything that is open, and search for runners that died."""


async def changes(home: Path, live: Path) -> AsyncGenerator[Change, None]:
    """Yield, without end, the changes in the state folder and in its folder of live turn files.

    The first value requests a check of everything.  The stream continues if the folders are deleted or replaced.
    """
    folders = (home, live)
    yield Change(database=True, sweep=True)
    while True:
        watched = _identity(folders)
        try:
            async with aclosing(_watched(folders, watched)) as reported:
                async for change in reported:
                    yield change
        except (OSError, RuntimeError):
            # The watch limit is reached (watchfiles has an error of its own for too many instances), or a folder is
            # gone: poll for a while.
            pass
        async for change in _polled(folders, watched):
            yield change


async def _watched(folders: tuple[Path, Path], watched: object) -> AsyncGenerator[Change, None]:
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
    looks = rechecked(batches, _of_database, RECHECK_SECONDS)
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


async def _polled(folders: tuple[Path, Path], watched: object) -> AsyncGenerator[Change, None]:
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
    )


def _of_database(batch: Iterable[tuple[object, str]]) -> bool:
    """Return whether the batch includes the database's log."""
    return _change(batch).database


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
