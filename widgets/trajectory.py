"""The steps of one session on the line API: only what is on the screen is wrapped and drawn.

What stands at the top of the screen (an item and a line of it) is the truth, and the scrollbar follows from it: a
height that was estimated wrongly moves the scrollbar and never the text.
"""

from collections.abc import Iterable
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.cache import LRUCache
from textual.geometry import Region, Size
from textual.message import Message
from textual.reactive import var
from textual.scroll_view import ScrollView
from textual.strip import Strip

from ..sessions.model import Step
from .heights import Heights
from .paint import ROLES, ROLES_CSS, Painter
from .signs import UNICODE, Signs
from .step_lines import step_rows

CACHED_STEPS = 400
ESTIMATE_CAP = 12
"""Lines that a step is taken to have at most until it is seen."""


class Trajectory(ScrollView, can_focus=True):
    """Steps in their order; follows the newest until somebody scrolls up."""

    COMPONENT_CLASSES = ROLES
    DEFAULT_CSS = f"Trajectory {{ overflow-x: hidden; overflow-y: scroll; {ROLES_CSS} }}"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("j,down", "roll(1)", "one line down", show=False),
        Binding("k,up", "roll(-1)", "one line up", show=False),
        Binding("pagedown,space", "page(1.0)", "one page down", show=False),
        Binding("pageup", "page(-1.0)", "one page up", show=False),
        Binding("ctrl+d", "page(0.5)", "half a page down", show=False),
        Binding("ctrl+u", "page(-0.5)", "half a page up", show=False),
        Binding("g,home", "first", "the beginning", show=False),
        Binding("G,end", "last", "the end, and follow", show=False),
    ]

    following: var[bool] = var(True, init=False)
    """Whether new steps scroll into view."""

    class FollowingChanged(Message):
        """Somebody scrolled away from the newest step, or came back to it."""

        def __init__(self, following: bool) -> None:
            super().__init__()
            self.following = following

    def __init__(self, *, signs: Signs = UNICODE, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._signs = signs
        self._painter = Painter(self, signs)
        self._steps: list[Step] = []
        self._items: dict[tuple[int, int], int] = {}
        self._heights = Heights()
        self._strips: LRUCache[int, list[Strip]] = LRUCache(CACHED_STEPS)
        self._top = (0, 0)
        self._page: list[Strip] = []
        self._columns = 0
        self._note = ""

    @property
    def steps(self) -> tuple[Step, ...]:
        """What is shown, in its order."""
        return tuple(self._steps)

    def clear(self, note: str = "") -> None:
        """Show another session, or none; ``note`` stands there until its steps come."""
        self._note = note
        self._steps, self._items, self._top = [], {}, (0, 0)
        self._reset()
        self.following = True
        self._place(self._end())

    def add(self, steps: Iterable[Step]) -> None:
        """Append new steps, and put those that replace an earlier one (same turn and index) into its place."""
        late = False
        for step in steps:
            late = self._put(step) or late
        if late:
            self._steps.sort(key=_key)
            self._items = {_key(step): item for item, step in enumerate(self._steps)}
            self._reset()
        self._place(self._end() if self.following else self._top)

    def watch_following(self, following: bool) -> None:
        """Tell whoever shows it, and jump to the end."""
        self.post_message(self.FollowingChanged(following))
        if following:
            self._place(self._end())

    def action_roll(self, lines: int) -> None:
        """Scroll by lines."""
        self._roll(lines)

    def action_page(self, pages: float) -> None:
        """Scroll by a part of what fits on the screen."""
        self._roll(int(pages * max(1, self.size.height - 1)))

    def action_first(self) -> None:
        """Go to the first step."""
        self._roll(-self._heights.total)

    def action_last(self) -> None:
        """Go to the newest step and follow."""
        self.following = True
        self._place(self._end())

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """The scrollbar or the wheel moved."""
        delta = round(new_value) - round(old_value)
        if abs(delta) > 2 * self.size.height:
            self._top = self._heights.find(round(new_value))
            delta = 0
        self._roll(delta)

    def on_resize(self) -> None:
        """Other widths wrap differently: what stood at the top stays there."""
        if self._columns != self._width:
            item = self._top[0]
            self._reset()
            self._top = (item, 0)
        self._place(self._end() if self.following else self._top)

    def notify_style_update(self) -> None:
        """Another theme: no strip can be used again."""
        super().notify_style_update()
        self._painter.clear()
        self._strips.clear()
        self._page = []

    def render_line(self, y: int) -> Strip:
        """One line of the screen."""
        if not self._page:
            self._page = self._visible_strips()
        if y < len(self._page):
            return self._page[y]
        note = self._note if y == 0 and not self._steps else ""
        return self._painter.strip([(note, "dim")], self.size.width)

    @property
    def _width(self) -> int:
        """Cells of text: one is left free before the scrollbar."""
        return max(10, self.size.width - 1)

    def _put(self, step: Step) -> bool:
        """Place one step; True where it belongs before one that is there."""
        item = self._items.get(_key(step))
        if item is not None:
            self._steps[item] = step
            self._heights.forget(item)
            self._strips.discard(item)
            return False
        late = bool(self._steps) and _key(step) < _key(self._steps[-1])
        self._items[_key(step)] = len(self._steps)
        self._steps.append(step)
        self._heights.append(self._estimate(step))
        return late

    def _reset(self) -> None:
        """Nothing that was measured holds any more."""
        self._columns = self._width
        self._strips.clear()
        self._heights = Heights(map(self._estimate, self._steps))

    def _estimate(self, step: Step) -> int:
        return min(ESTIMATE_CAP, 1 + (len(step.text) + len(step.output or "")) // self._width)

    def _strips_of(self, item: int) -> list[Strip]:
        """The lines of a step; its height is known from then on."""
        strips = self._strips.get(item)
        if strips is None:
            step = self._steps[item]
            heading = item == 0 or self._steps[item - 1].turn != step.turn
            rows = step_rows(step, self._width, heading=heading, signs=self._signs)
            strips = self._strips[item] = [self._painter.strip(row, self.size.width) for row in rows]
        if not self._heights.measured(item):
            self._heights.measure(item, len(strips))
        return strips

    def _height(self, item: int) -> int:
        if not self._heights.measured(item):
            self._strips_of(item)
        return self._heights[item]

    def _end(self) -> tuple[int, int]:
        """The place at which the newest line is the last of the screen."""
        return self._moved((len(self._steps), 0), -self.size.height)

    def _moved(self, place: tuple[int, int], lines: int) -> tuple[int, int]:
        """Exactly so many lines further; what lies between is measured, and the ends of the list bound it."""
        item, line = place[0], place[1] + lines
        while line < 0 and item > 0:
            item -= 1
            line += self._height(item)
        while item < len(self._steps) and line >= self._height(item):
            line -= self._height(item)
            item += 1
        return item, max(0, line)

    def _roll(self, lines: int) -> None:
        """Move the text; up leaves the newest step, and down to the end joins it again."""
        place = self._moved(self._top, lines) if lines > -self._heights.total else (0, 0)
        end = self._end()
        self._place(min(place, end))
        if lines:
            self.following = place >= end

    def _place(self, place: tuple[int, int]) -> None:
        """Put this line at the top of the screen, and the scrollbar where it belongs."""
        self._top = place
        page = self._visible_strips()
        self.virtual_size = Size(0, self._heights.total)
        y = float(self._heights.top(place[0]) + place[1])
        # Not by assignment: that would call the watcher, which moves the text.
        self.set_reactive(ScrollView.scroll_y, y)
        self.set_reactive(ScrollView.scroll_target_y, y)
        if self.show_vertical_scrollbar:
            self.vertical_scrollbar.position = y
        self._show(page)

    def _visible_strips(self) -> list[Strip]:
        item, skip = self._top
        height = self.size.height
        page: list[Strip] = []
        while item < len(self._steps) and len(page) < height:
            page.extend(self._strips_of(item)[skip:])
            skip = 0
            item += 1
        return page[:height]

    def _show(self, page: list[Strip]) -> None:
        """Draw the lines again that are others than before."""
        before, self._page = self._page, page
        for y in range(max(len(before), len(page), 1)):
            if y >= len(before) or y >= len(page) or before[y] is not page[y]:
                self.refresh(Region(0, y, self.size.width, 1))


def _key(step: Step) -> tuple[int, int]:
    return step.turn, step.index
