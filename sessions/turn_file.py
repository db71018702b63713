"""Any turn file as steps, without a session around it."""

import os
from collections.abc import Iterable, Iterator
from functools import partial
from itertools import chain, islice
from pathlib import Path

from msgspec import structs

from .agents.guess import LOOKED_AT, guess_agent
from .agents.table import agent_named
from .model import Step
from .steps.block_cache import BlockCache
from .steps.turn_index import LINE_CAP, TurnIndex


def merged(steps: list[Step]) -> list[Step]:
    """Each step in its latest form, in the order of turn and index."""
    latest = {(step.turn, step.index): step for step in steps}
    return [latest[key] for key in sorted(latest)]


def read_file(path: Path, agent: str | None = None) -> Iterator[Step]:
    """The steps of a turn file of any size, one at a time; nobody knows when its lines arrived.

    Args:
        path: a regular file.
        agent: who wrote it; guessed from the first lines where nobody says.

    Raises:
        UsageError: there is no such agent.
        OSError: the file cannot be read.
    """
    with path.open("rb") as file:
        name = agent or guess_agent(islice(iter(partial(file.readline, LINE_CAP), b""), LOOKED_AT))
    index = TurnIndex(path, Path(os.devnull), agent_named(name), 1, BlockCache())
    index.read_on(float("inf"))
    index.finish(None)
    for step in index.every():
        yield structs.replace(step, index=step.index - 1)


def read_lines(lines: Iterable[bytes], agent: str | None = None) -> list[Step]:
    """The steps of lines that come from anywhere; nobody knows when they arrived.

    Args:
        lines: as a binary file gives them.
        agent: who wrote it; guessed from the first lines where nobody says.

    Raises:
        UsageError: there is no such agent.
    """
    lines = iter(lines)
    head = list(islice(lines, LOOKED_AT))
    parser = agent_named(agent or guess_agent(head)).parser()
    steps = [step for line in chain(head, lines) for step in parser.feed(line.removesuffix(b"\n"))]
    return merged(steps + parser.close())
