"""The lines of a unified diff: which came, which went."""

from collections.abc import Iterator
from itertools import groupby

ADDED, REMOVED, PLACE, CONTEXT = "added", "removed", "place", "context"


def parts(diff: str) -> Iterator[tuple[str, str]]:
    """Neighbouring lines of one kind as one text each, every line with its newline."""
    for kind, lines in groupby(diff.split("\n"), _kind):
        yield kind, "".join(f"{line}\n" for line in lines)


def extent(diff: str) -> tuple[int, int]:
    """How many lines came and how many went."""
    kinds = [_kind(line) for line in diff.split("\n")]
    return kinds.count(ADDED), kinds.count(REMOVED)


def _kind(line: str) -> str:
    if line.startswith(("@@", "+++ ", "--- ")):
        return PLACE
    return {"+": ADDED, "-": REMOVED}.get(line[:1], CONTEXT)
