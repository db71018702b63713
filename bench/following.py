"""Follow one turn file as it grows to 31 MB, 40 lines per poll: ``python bench/following.py``.

"floor" reads only new data and decodes each line once; "again" reads and decodes the whole file at every poll.
"""

import json
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from measure import table
from sample import lines
from sizes import sized

from agentdash.sessions.agents.registry import agent_named
from agentdash.sessions.runner.follow import Follower

POLLS = sized((200, 400, 800, 1600), (4, 8))
AGAIN_UPTO = sized(400, 4)
"""Maximum polls of "again", whose cost is quadratic: more would take minutes."""


def floor(path: Path) -> Callable[[], None]:
    file, rest = path.open("rb"), b""

    def poll() -> None:
        nonlocal rest
        *whole, rest = (rest + file.read()).split(b"\n")
        for line in whole:
            json.loads(line)

    return poll


def again(path: Path) -> Callable[[], None]:
    def poll() -> None:
        for line in path.read_text().split("\n"):
            if line:
                json.loads(line)

    return poll


def runner(path: Path) -> Callable[[], None]:
    follower = Follower(path, path.with_suffix(".times"), agent_named("codex").parser())
    return lambda: void(follower.catch_up())


def void(_: object) -> None:
    """Discard a result."""


def spent(polls: int, make: Callable[[Path], Callable[[], None]]) -> float:
    """Return the seconds spent in the reader, over all polls."""
    chunk = lines(42, done=False).split(b"\n", 2)[2]
    with tempfile.TemporaryDirectory() as scratch:
        path = Path(scratch, "turn.jsonl")
        total = 0.0
        with path.open("ab", buffering=0) as out:
            poll = make(path)
            for _ in range(polls):
                out.write(chunk)
                began = time.perf_counter()
                poll()
                total += time.perf_counter() - began
    return total


def main() -> None:
    size = len(lines(42, done=False)) / 1e6
    rows = []
    for polls in POLLS:
        base, ours = spent(polls, floor), spent(polls, runner)
        whole = spent(polls, again) if polls <= AGAIN_UPTO else None
        rows.append(
            [
                polls,
                polls * size,
                base,
                ours,
                ours / base,
                "" if whole is None else whole,
                "" if whole is None else whole / ours,
            ]
        )
    head = ["polls", "file, MB", "floor, s", "runner, s", "runner/floor", "again, s", "again/runner"]
    table("following a growing turn file", head, rows)


if __name__ == "__main__":
    main()
