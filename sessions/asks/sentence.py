"""An ask in words that follow the agent's name; pure."""

from ..text.sanitize import one_line
from .model import Ask, AskKind

MOST_CELLS = 400
"""Terminal cells of a sentence; a longer one is cut."""


def sentence(ask: Ask) -> str:
    """Return an ask as one clean line: ``asks to run: rm -rf build``, ``asks: Which colour?``."""
    lead = "asks: " if ask.kind is AskKind.QUESTION else "asks to "
    return one_line(lead + ask.title, MOST_CELLS)
