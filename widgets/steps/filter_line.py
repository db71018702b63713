"""The kinds of steps with their counts and keys, and the progress of a search: one line, pure."""

from collections.abc import Callable, Collection

from msgspec import Struct
from textual.content import Content

from ..drawing.glyphs import UNICODE, Signs
from ..drawing.roles import MUTED
from .step_groups import GROUPS, Group
from .step_lines import BRIEF, WHOLE


class Found(Struct, frozen=True):
    """The progress of a search."""

    needle: str
    hits: int
    at: int | None
    """The number of the hit under the cursor, from 1; None if the cursor is on no hit."""
    share: float
    """The searched share of the steps, 0 to 1."""


LEVELS = {BRIEF: "one line each", WHOLE: "whole"}


def filter_line(
    count: Callable[[bytes], int],
    groups: Collection[str],
    level: int,
    width: int,
    *,
    signs: Signs = UNICODE,
    found: Found | None = None,
    note: str = "",
) -> Content:
    """Counts of the groups, chosen ones strong, signs instead of labels if space is short; the search at the end."""
    right = found_words(found) if found is not None else " · ".join(filter(None, (LEVELS.get(level), note)))
    numbers = [(group, count(group.marked)) for group in GROUPS]
    there = [(group, number) for group, number in numbers if number or group.key in groups]
    room = width - len(right) - (2 if right else 0)
    named = [f"{group.key} {group.label} {number:,}" for group, number in there]
    short = [f"{group.key} {signs.kinds[group.kind]} {number:,}" for group, number in there]
    shown = named if sum(map(len, named)) + 2 * len(named) - 2 <= room else short
    while shown and sum(map(len, shown)) + 2 * len(shown) - 2 > room:
        shown.pop()
    styles = [_style(group, groups) for group, _ in there]
    left = Content("  ").join(Content.styled(words, style) for words, style in zip(shown, styles, strict=False))
    gap = " " * max(2, width - len(left.plain) - len(right))
    return Content.assemble(left, gap, (right, "$text-warning")) if right else left


def _style(group: Group, chosen: Collection[str]) -> str:
    if group.key in chosen:
        return "bold $foreground"
    return "$text-error" if group.key == "7" else MUTED


def found_words(found: Found) -> str:
    """The number of steps that contain the text, and the searched share."""
    place = f"{found.at:,} of {found.hits:,}" if found.at else f"{found.hits:,}"
    share = "" if found.share >= 1 else f" · {int(found.share * 100)} % searched"
    return f"/{found.needle[:24]}  {place if found.hits or share else 'no matches'}{share}"
