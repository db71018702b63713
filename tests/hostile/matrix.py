"""Which hostile file is read by which agent's parser, and at how many widths its rows are made."""

import pytest
from repetition import TORTURE, repeated

from hostile import big, make
from hostile.checks import AGENT_NAMES

EVERY = [(path, agent) for path in make.files() for agent in AGENT_NAMES if make.agent_of(path) in (agent, None)]
"""Each small file with its agent; a stream of no agent, with all of them."""

QUICK = {"brackets", "newlines", "often started", "blank lines"}
"""The big files that each run reads; only ``make full`` reads the others."""

BIG = [
    pytest.param(name, agent, marks=() if name in QUICK else pytest.mark.slow)
    for name in big.FILES
    for agent in (AGENT_NAMES if TORTURE else big.SPEAKERS.get(name, ("codex",)))
]
"""Each big file with the agents that may print it; in ``make torture``, with all of them."""

BIG_FILES = [pytest.param(name, marks=() if name in QUICK else pytest.mark.slow) for name in big.FILES]
"""Each big file alone."""

WIDTHS = (10, 11, 13, 20, 37, 80, 200)


def widths(number: int) -> tuple[int, ...]:
    """Return the widths for one step: one that goes round with its number; in ``make torture``, all of them."""
    return repeated((WIDTHS[number % len(WIDTHS)],), WIDTHS)
