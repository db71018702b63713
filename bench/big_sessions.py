"""State folders for the viewer's benchmarks: a small session on top, and below it a generated one of any size.

The big session's turn file replaces that of a session with a minimal answer.
"""

import os
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from msgspec import Struct
from sample import DONE, THREAD, is_message, message, steps
from sizes import sized

from agentdash.sessions.rules.launch import Start
from agentdash.sessions.service.lifecycle.stop_family import NOW
from agentdash.sessions.service.manager import SessionManager

NEEDLE = "a needle in the hay"
SMALL_END = "end-of-the-small-one"
"""The last message of the small session.

It shares no character with :func:`big_end` in the same column, because the dashboard writes only the cells that
change.
"""
SMALL_STEPS = 30
SPARSE_NAME = sized("10 GB", "200 MB")
SPARSE_BYTES = sized(10_000_000_000, 200_000_000)
STRETCHES, STRETCH_STEPS, END_STEPS = sized((100, 50, 1_000), (5, 50, 1_000))
"""Number of stretches of real lines in the sparse file, steps in each, and steps in the first and the last."""


class Written(Struct, frozen=True):
    """The content of a generated turn file."""

    name: str
    path: Path
    megabytes: float
    steps: int
    messages: int
    end: str
    """Text of the last message."""
    needles: list[int]
    """Numbers of the steps that contain the needle: all in the last tenth."""

    @property
    def counted(self) -> str:
        """The number of messages in the line of counts after everything is read."""
        return f"{self.messages:,} messages"

    @property
    def first_hit(self) -> str:
        """The text before the first needle."""
        return f"Step {self.needles[0]}: "

    @property
    def all_searched(self) -> str:
        """The end of the line of counts after everything was searched from the beginning."""
        return f"1 of {len(self.needles)}\x1b"


class Home(Struct, frozen=True):
    """A state folder."""

    path: Path
    config: Path
    session: str
    big: Written

    @property
    def env(self) -> dict[str, str]:
        """The environment of an agentdash process that uses this folder."""
        return {"AGENTDASH_HOME": str(self.path), "AGENTDASH_CONFIG": str(self.config)}

    @property
    def file(self) -> Path:
        """The turn file of the big session."""
        return self.path / "sessions" / self.session / "turns" / "turn_1.jsonl"

    def forget_indexes(self) -> None:
        """Remove the kept indexes, so that the next opening is like the first."""
        shutil.rmtree(self.path / "cache", ignore_errors=True)


def big_end(name: str) -> str:
    """Return the last message of a generated session."""
    return f"LAST_STEP_OF_{name.replace(' ', '_')}"


def dense(path: Path, count: int, *, done: bool = True) -> Written:
    """Write a turn file of ``count`` steps."""
    needles = list(range(count * 95 // 100 + 4, count, max(10, count // 100)))
    name = f"{count // 1000}k"
    end = big_end(name)
    with path.open("wb") as out:
        out.write(THREAD)
        out.writelines(steps(range(count), dict.fromkeys(needles, NEEDLE)))
        out.writelines([message(count, end), DONE] if done else [message(count, end)])
    return _written(name, path, count, end, needles)


def sparse(path: Path) -> Written:
    """Write a turn file of 10 GB: between stretches of real lines there are holes, each one long line of NULs."""
    counts = [END_STEPS, *[STRETCH_STEPS] * (STRETCHES - 2), END_STEPS]
    total = sum(counts)
    needles, end, first = list(range(total - 496, total, 100)), big_end(SPARSE_NAME), 0
    with path.open("wb") as out:
        out.write(THREAD)
        for number, count in enumerate(counts):
            if number:
                out.seek(number * SPARSE_BYTES // (STRETCHES - 1))
                out.write(b"\n")
            out.writelines(steps(range(first, first + count), dict.fromkeys(needles, NEEDLE)))
            first += count
        out.writelines([message(total, end), DONE])
    return _written(SPARSE_NAME, path, total, end, needles)


def _written(name: str, path: Path, count: int, end: str, needles: list[int]) -> Written:
    said = sum(map(is_message, range(count))) + 1
    return Written(name, path, path.stat().st_size / 1e6, count, said, end, needles)


def replaced(scratch: Path, big: Written) -> Home:
    """Return a state folder whose second session has this file as its turn file.

    The sessions end one after the other and count as read, so that their rows keep their places: a row that the user
    has read goes to the next section ten seconds after the last key, and some measurements take longer.
    """
    path = scratch / f"home-{big.name.replace(' ', '')}"
    small = scratch / "small.jsonl"
    small.write_bytes(THREAD + b"".join(steps(range(SMALL_STEPS))) + message(SMALL_STEPS, SMALL_END) + DONE)
    config = _settings(scratch / f"{path.name}.toml", f"cat <<'end'\n{DONE.decode()}end\n")
    with SessionManager(path, config) as manager:
        ids = []
        for title in (f"big {big.name}", "small"):
            ids.append(manager.spawn(Start("Fix the parser.", agent="codex", title=title)).id)
            manager.wait(ids, timeout=60)
        manager.housekeeping.mark_all_seen(ids)
    home = Home(path, config, ids[0], big)
    small.replace(_turn_file(path, ids[1]))
    big.path.replace(_turn_file(path, ids[0]))
    return home


def _turn_file(home: Path, session: str) -> Path:
    """Return the path of a session's turn file; remove the arrival times, which belong to its old content."""
    turns = home / "sessions" / session / "turns"
    (turns / "turn_1.times").unlink()
    return turns / "turn_1.jsonl"


@contextmanager
def live(scratch: Path, big: Written) -> Iterator[tuple[Home, Path]]:
    """Yield a state folder with a running session that has these steps, and a pipe whose data it prints."""
    path, pipe = scratch / f"live-{big.name}", scratch / f"pipe-{big.name}"
    os.mkfifo(pipe)
    config = _settings(scratch / f"{path.name}.toml", f"cat {big.path}\nexec cat <> {pipe}\n")
    with SessionManager(path, config) as manager:
        session = manager.spawn(Start("Fix the parser.", agent="codex", title=f"live {big.name}"))
        try:
            while manager.reader.get(session.id).steps < big.steps:
                time.sleep(0.1)
            yield Home(path, config, session.id, big), pipe
        finally:
            manager.stop(session.id, NOW)


def _settings(path: Path, script: str) -> Path:
    """Write settings in which codex is a shell script."""
    program = path.with_suffix(".sh")
    program.write_text(f"#!/bin/sh\n{script}")
    program.chmod(0o700)
    path.write_text(f'[agents.codex]\nlive = false\nbin = "{program}"\n')
    return path
