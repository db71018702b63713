"""Any turn file as steps, without a session around it."""

from collections.abc import Iterable
from itertools import chain, islice

from .agents.guess import LOOKED_AT, guess_agent
from .agents.table import agent_named
from .model import Step


def merged(steps: list[Step]) -> list[Step]:
    """Each step in its latest form, in the order of turn and index."""
    latest = {(step.turn, step.index): step for step in steps}
    return [latest[key] for key in sorted(latest)]


def read_lines(lines: Iterable[bytes], agent: str | None = None) -> list[Step]:
    """The steps of any turn file, from anywhere; nobody knows when its lines arrived.

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
