"""An ask in words that follow the agent's name; pure."""

from ..text.unhidden import unhidden_line
from .model import Ask, AskKind

MOST_CELLS = 400
"""Terminal cells of a sentence; a longer one is cut."""


def sentence(ask: Ask) -> str:
    """Return an ask as one clean line: ``asks to run: rm -rf build``, ``asks: Which colour?``."""
    lead = "asks: " if ask.kind is AskKind.QUESTION else "asks to "
    return unhidden_line(lead + ask.title, MOST_CELLS)


def title_repeats_body(ask: Ask) -> bool:
    """Return whether the body of an ask, or its list of files, has all that its title names."""
    if ask.kind is AskKind.EDIT:
        return bool(ask.paths)
    subject = unhidden_line(ask.title.partition(": ")[2]).removesuffix("…").strip()
    return bool(subject) and subject in unhidden_line(ask.body)


def title_is_whole(ask: Ask) -> bool:
    """Return whether one line with the title shows all that the user would allow."""
    body = ask.body.strip()
    line = unhidden_line(ask.title, MOST_CELLS)
    return "\n" not in body and not ask.questions and len(ask.paths) < 2 and line.endswith(unhidden_line(body))
