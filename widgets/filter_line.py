"""The kinds of steps with their counts and keys, and how a search gets on: one line, pure."""

from collections.abc import Callable, Collection

from msgspec import Struct
from textual.content import Content

from .paint import MUTED
from .step_groups import GROUPS
from .step_lines import BRIEF, WHOLE


class Found(Struct, frozen=True):
    """How a search gets on."""

    needle: str
    hits: int
    at: int | None
    """Which of the hits the cursor is on, from 1."""
    share: float
    """How much was searched, 0 to 1."""


LEVELS = {BRIEF: "one line each", WHOLE: "whole"}


def filter_line(
    count: Callable[[bytes], int],
    groups: Collection[str],
    level: int,
    width: int,
    *,
    found: Found | None = None,
    note: str = "",
) -> Content:
    """What fits: counts of the groups, chosen ones strong; at the right end the search, or a note."""
    right = found_words(found) if found is not None else " · ".join(filter(None, (LEVELS.get(level), note)))
    parts = []
    room = width - len(right) - (2 if right else 0)
    for group in GROUPS:
        number = count(group.marked)
        if not number and group.key not in groups:
            continue
        words = f"{group.key} {group.label} {number:,}"
        if len(words) > room:
            break
        room -= len(words) + 2
        style = "bold $foreground" if group.key in groups else "$text-error" if group.key == "7" else MUTED
        parts.append((words, style))
    left = Content("  ").join(Content.styled(words, style) for words, style in parts)
    gap = " " * max(2, width - len(left.plain) - len(right))
    return Content.assemble(left, gap, (right, "$text-warning")) if right else left


def found_words(found: Found) -> str:
    """How many steps have the text, and how much was searched."""
    place = f"{found.at:,} of {found.hits:,}" if found.at else f"{found.hits:,}"
    share = "" if found.share >= 1 else f" · {int(found.share * 100)} % searched"
    return f"/{found.needle[:24]}  {place if found.hits or share else 'nothing found'}{share}"
