"""Which hostile file is read by which agent's parser, and at how many widths its rows are made."""

from typing import Any

from repetition import FULL, SEED, repeated

from hostile import big, make
from hostile.checks import AGENT_NAMES

EVERY = [(path, agent) for path in make.files() for agent in AGENT_NAMES if make.agent_of(path) in (agent, None)]
"""Each small file with its agent; a stream of no agent, with all of them."""

BIG_FILES = list(big.FILES) if FULL else list(big.FILES)[int(SEED) % 3 :: 3]
"""The big files: in short a third of them, another one each day."""

BIG = [(name, agent) for name in BIG_FILES for agent in (AGENT_NAMES if FULL else big.SPEAKERS.get(name, ("codex",)))]
"""Each big file with the agents that read it in short; in full, with all of them."""

WIDTHS = (10, 11, 13, 20, 37, 80, 200)


def widths(number: int) -> tuple[int, ...]:
    """Return the widths for one step: one that goes round with its number; in full, all of them."""
    return repeated((WIDTHS[number % len(WIDTHS)],), WIDTHS)


def name(value: Any) -> str | None:
    """Return what a parameter is called in the name of its test."""
    return value if isinstance(value, str) else getattr(value, "stem", None)
