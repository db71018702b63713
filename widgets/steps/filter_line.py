"""The lines around the steps: their counts and filter above, the queue of the session below."""

from collections.abc import Callable, Collection, Sequence

from msgspec import Struct
from textual.content import Content
from textual.widgets import Static

from agentdash.sessions.text import units
from agentdash.widgets.drawing import glyphs
from agentdash.widgets.drawing.roles import MUTED
from agentdash.widgets.steps.filtered_steps import GROUPS, LOG_LINES, Group
from agentdash.widgets.steps.step_lines import BRIEF, USUAL, WHOLE


class Found(Struct, frozen=True):
    """The progress of a search."""

    needle: str
    hits: int
    at: int | None
    """The number of the hit under the cursor, from 1; None if the cursor is on no hit."""
    share: float
    """The searched share of the steps, 0 to 1."""


LEVELS = {BRIEF: "one line each", WHOLE: "whole"}


class Shown(Struct, frozen=True):
    """The state of a list of steps."""

    groups: Collection[str] = ()
    """The keys of the chosen groups."""
    level: int = USUAL
    found: Found | None = None
    note: str = ""
    plain: bool = False
    """True for the lines of a plain command."""

    @property
    def is_usual(self) -> bool:
        """True if all steps are shown in their usual form and nothing was searched for."""
        return not self.groups and self.level == USUAL and self.found is None


def filter_line(count: Callable[[bytes], int], shown: Shown, width: int) -> Content:
    """Counts of the steps, with the keys of their groups while a filter is on; the search at the end."""
    note = " · ".join(filter(None, (LEVELS.get(shown.level), shown.note)))
    right = found_words(shown.found) if shown.found is not None else note
    room = width - len(right) - (2 if right else 0)
    left = _keyed(count, shown.groups, room) if shown.groups else _counted(count, room, plain=shown.plain)
    gap = " " * max(2, width - len(left.plain) - len(right))
    return Content.assemble(left, gap, (right, "$text-warning")) if right else left


def _counted(count: Callable[[bytes], int], room: int, *, plain: bool) -> Content:
    """``41 messages · 40 commands · 2 failed``: the least important counts are left out if there is little room."""
    if plain:
        lines = count(LOG_LINES)
        parts = [(0, units.count(lines, "line"), MUTED)] if lines else []
    else:
        numbers = [(group, count(group.marked)) for group in GROUPS if group.one]
        parts = [(one.rank, units.count(n, one.one, one.many), _style(one, ())) for one, n in numbers if n]
    while parts and sum(len(words) + len(_BETWEEN) for _, words, _ in parts) - len(_BETWEEN) > room:
        parts.remove(max(parts))
    between = Content.styled(_BETWEEN, MUTED)
    return between.join(Content.styled(words, style) for _, words, style in parts)


_BETWEEN = " · "


def _keyed(count: Callable[[bytes], int], groups: Collection[str], room: int) -> Content:
    """Key, label and count of each group, chosen ones strong; signs instead of labels if there is little room."""
    numbers = [(group, count(group.marked)) for group in GROUPS]
    there = [(group, number) for group, number in numbers if number or group.key in groups]
    named = [f"{group.key} {group.label} {number:,}" for group, number in there]
    short = [f"{group.key} {glyphs.KINDS[group.kind]} {number:,}" for group, number in there]
    shown = named if sum(map(len, named)) + 2 * len(named) - 2 <= room else short
    while shown and sum(map(len, shown)) + 2 * len(shown) - 2 > room:
        shown.pop()
    styles = [_style(group, groups) for group, _ in there]
    return Content("  ").join(Content.styled(words, style) for words, style in zip(shown, styles, strict=False))


def _style(group: Group, chosen: Collection[str]) -> str:
    if group.key in chosen:
        return "bold $foreground"
    return "$text-error" if group.key == "7" else MUTED


def found_words(found: Found) -> str:
    """The number of steps that contain the text, and the searched share."""
    place = f"{found.at:,} of {found.hits:,}" if found.at else f"{found.hits:,}"
    share = "" if found.share >= 1 else f" · {int(found.share * 100)} % searched"
    return f"/{found.needle[:24]}  {place if found.hits or share else 'no matches'}{share}"


class QueueLines(Static):
    """Up to a few lines; takes no room while there are none, and draws nothing while they stay the same."""

    DEFAULT_CSS = "QueueLines { height: auto; display: none; }"

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id, markup=False)
        self._shown: list[Content] = []

    def show_lines(self, lines: Sequence[Content]) -> None:
        """Show other lines."""
        former, self._shown = self._shown, list(lines)
        if [(line.plain, line.spans) for line in former] == [(line.plain, line.spans) for line in lines]:
            return
        self.display = bool(lines)
        self.update(Content("\n").join(lines), layout=len(lines) != len(former))
