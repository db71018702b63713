"""A list of any length on the line API: only lines on the screen are made, wrapped and drawn.

The place at the top of the screen (an item and a line of it) is the truth, and the scrollbar follows from it: a wrong
estimate of a height moves the scrollbar, never the text.
"""

from abc import abstractmethod
from array import array
from bisect import bisect_left, insort
from collections.abc import Iterable
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.cache import LRUCache
from textual.geometry import Region
from textual.message import Message
from textual.reactive import var
from textual.scroll_view import ScrollView
from textual.strip import Strip

from agentdash.widgets.drawing.painted_view import PaintedView
from agentdash.widgets.drawing.spans import Row

_BLOCK = 256
"""Items per partial sum."""

_MOST = 65_535


class Heights:
    """The heights of a list of any length; an unmeasured item counts as ``estimate`` lines."""

    def __init__(self, count: int = 0, *, estimate: int = 3) -> None:
        self.count = count
        """The number of items; to lengthen the list, change this number."""
        self._estimate = estimate
        self._blocks: dict[int, array[int]] = {}
        self._excess: dict[int, int] = {}
        """Lines by which the measured items of each block exceed the estimate."""
        self._known: list[int] = []

    @property
    def total(self) -> int:
        """The lines of all items."""
        return self.count * self._estimate + sum(self._excess.values())

    def __getitem__(self, item: int) -> int:
        return self._measured(item) or self._estimate

    def measured(self, item: int) -> bool:
        """Return whether the height is measured, not estimated."""
        return bool(self._measured(item))

    def measure(self, item: int, height: int) -> None:
        """Set the height of an item; 0 makes it an estimate again."""
        number, place = divmod(item, _BLOCK)
        if number not in self._blocks:
            self._blocks[number], self._excess[number] = array("H", bytes(2 * _BLOCK)), 0
            insort(self._known, number)
        self._excess[number] -= self[item]
        self._blocks[number][place] = min(_MOST, height)
        self._excess[number] += self[item]

    def forget(self, item: int) -> None:
        """Forget the height of a changed item: it is an estimate again."""
        if self.measured(item):
            self.measure(item, 0)

    def top(self, item: int) -> int:
        """The first line of an item."""
        number, place = divmod(item, _BLOCK)
        before = sum(self._excess[n] for n in self._known[: bisect_left(self._known, number)])
        within = self._blocks.get(number, ())[:place]
        return item * self._estimate + before + sum(height - self._estimate for height in within if height)

    def find(self, line: int) -> tuple[int, int]:
        """The item on a line, and the line's number within the item; beyond the last line, the end of the list."""
        begin, top = 0, 0
        for number in self._known:
            first = number * _BLOCK
            if line < top + (first - begin) * self._estimate:
                break
            top += (first - begin) * self._estimate
            begin = min(first + _BLOCK, self.count)
            for item in range(first, begin):
                if line < top + self[item]:
                    return item, line - top
                top += self[item]
        further, rest = divmod(line - top, self._estimate)
        return (self.count, 0) if begin + further >= self.count else (begin + further, rest)

    def _measured(self, item: int) -> int:
        block = self._blocks.get(item // _BLOCK)
        return 0 if block is None else block[item % _BLOCK]


CACHED_ITEMS = 400

Place = tuple[int, int]
"""An item, and a line within it."""


class VirtualList(PaintedView, can_focus=True):
    """Items in order, each some lines high; follows the last one if ``following`` is set."""

    DEFAULT_CSS = "VirtualList { overflow-x: hidden; overflow-y: scroll; }"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("pagedown,space", "page(1.0)", "page down", show=False, id="lines.page_down"),
        Binding("pageup,b", "page(-1.0)", "page up", show=False, id="lines.page_up"),
        Binding("ctrl+d", "page(0.5)", "half page down", show=False, id="lines.half_page_down"),
        Binding("ctrl+u", "page(-0.5)", "half page up", show=False, id="lines.half_page_up"),
        Binding("J", "roll(1)", "line down", show=False, id="lines.down"),
        Binding("K", "roll(-1)", "line up", show=False, id="lines.up"),
    ]

    following: var[bool] = var(False, init=False)
    """True if new items scroll into view."""

    class FollowingChanged(Message):
        """The user scrolled away from the end, or back to it."""

        def __init__(self, following: bool) -> None:
            super().__init__()
            self.following = following

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._heights = Heights()
        self._strips: LRUCache[int, list[Strip]] = LRUCache(CACHED_ITEMS)
        self._top: Place = (0, 0)
        self._page: list[Strip] = []
        self._columns = 0
        self.note = ""
        """The text to show while there are no items."""
        self._noted = ""

    @abstractmethod
    def count(self) -> int:
        """The number of items."""

    @abstractmethod
    def rows(self, item: int, width: int) -> list[Row]:
        """The lines of an item, at least one, none wider than ``width`` cells."""

    @property
    def columns(self) -> int:
        """Cells of text; one cell before the scrollbar stays free."""
        return max(10, self.size.width - 1)

    @property
    def page_lines(self) -> int:
        """The number of lines on the screen."""
        return max(1, self.size.height)

    @property
    def top(self) -> Place:
        """The place at the top of the screen."""
        return self._top

    def shown(self) -> range:
        """The items that are on the screen, at least in part."""
        last = self._moved(self._top, self.page_lines - 1)[0]
        return range(self._top[0], min(last + 1, self.count()))

    def forget_all(self) -> None:
        """Forget all lines because every item changed; draws nothing yet."""
        self._columns = self.columns
        self._strips.clear()
        self._heights = Heights(self.count())

    def forget(self, items: Iterable[int]) -> None:
        """Forget the lines of changed items; draws nothing yet."""
        for item in items:
            self._strips.discard(item)
            self._heights.forget(item)

    def grow(self) -> None:
        """Count the items added at the end."""
        self._heights.count = self.count()

    def place(self, place: Place) -> None:
        """Put this line at the top of the screen, but scroll no further than the end; move the scrollbar to match."""
        self._top = max((0, 0), min(place, self.end()))
        page = self._visible()
        self.set_height(self._heights.total)
        y = float(self._heights.top(self._top[0]) + self._top[1])
        # Not by assignment: that would call the watcher, which moves the text.
        self.set_reactive(ScrollView.scroll_y, y)
        self.set_reactive(ScrollView.scroll_target_y, y)
        if self.show_vertical_scrollbar:
            self.vertical_scrollbar.position = y
        self._show(page)

    def end(self) -> Place:
        """The place at the top when the last line is at the bottom of the screen."""
        return self._moved((self.count(), 0), -self.page_lines)

    def followed(self) -> Place:
        """The place at the top while new items scroll into view."""
        return self.end()

    def reveal(self, item: int) -> None:
        """Scroll as little as needed to show the item; its beginning if it is higher than the screen."""
        if not 0 <= item < self.count():
            return
        first = (item, 0)
        last = self._moved(first, self.height(item) - self.page_lines)
        if self._top > first or self._top < last:
            self.place(first if self._top > first or last > first else last)

    def height(self, item: int) -> int:
        """The lines of an item; 0 if it does not exist."""
        if not 0 <= item < self.count():
            return 0
        if not self._heights.measured(item):
            self.strips(item)
        return self._heights[item]

    def lines_above(self, place: Place) -> int:
        """Lines from the top of the screen down to a place on it; -1 if the place is above the top."""
        if place < self._top:
            return -1
        return sum(self.height(item) for item in range(self._top[0], place[0])) - self._top[1] + place[1]

    def lines_below(self, most: int) -> int:
        """Lines below the screen, counted up to ``most``."""
        item, line = self._moved(self._top, self.page_lines)
        lines = -line
        for below in range(item, self.count()):
            lines += self.height(below)
            if lines >= most:
                return most
        return max(0, lines)

    def roll(self, lines: int) -> None:
        """Scroll by lines; scrolling up stops following, and reaching the end resumes it."""
        far = abs(lines) > 4 * self.page_lines
        line = self._heights.top(self._top[0]) + self._top[1] + lines
        place = self._heights.find(max(0, line)) if far else self._moved(self._top, lines)
        end = self.end()
        self.place(place)
        if lines:
            self.following = place >= end

    def watch_following(self, following: bool) -> None:
        """Notify the parent, and jump to the end when following starts."""
        self.post_message(self.FollowingChanged(following))
        if following:
            self.place(self.end())

    def action_roll(self, lines: int) -> None:
        """Scroll by lines."""
        self.roll(lines)

    def action_page(self, pages: float) -> None:
        """Scroll by a fraction of the screen's lines."""
        self.roll(int(pages * max(1, self.page_lines - 1)))

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Scroll the text after a move of the scrollbar or the wheel."""
        self.roll(round(new_value) - round(old_value))

    def on_resize(self) -> None:
        """Wrap to the new width; the item at the top stays there."""
        item, line = self._top
        if self._columns != self.columns:
            share = line / self._heights[item] if line and item < self._heights.count else 0.0
            self.forget_all()
            line = int(share * self.height(item)) if share else 0
        self.place(self.followed() if self.following else (item, line))

    def forget_strips(self) -> None:
        """Drop all drawn lines."""
        self._strips.clear()
        self._page = []

    def render_line(self, y: int) -> Strip:
        """One line of the screen."""
        if not self._page:
            self._page = self._visible()
        if y < len(self._page):
            return self._page[y]
        note = self.note.split("\n") if not self.count() else []
        return self._painter.strip([(note[y] if y < len(note) else "", "dim")], self.size.width)

    def strips(self, item: int) -> list[Strip]:
        """The drawn lines of an item; measures its height."""
        strips = self._strips.get(item)
        if strips is None:
            rows = self.rows(item, self.columns)
            strips = self._strips[item] = [self._painter.strip(row, self.size.width) for row in rows]
        if not self._heights.measured(item):
            self._heights.measure(item, len(strips))
        return strips

    def show_focus(self) -> None:
        """Draw the lines that differ with the focus."""
        self.redraw()

    def redraw(self) -> None:
        """Draw the lines of the screen that changed."""
        self._show(self._visible())

    def _moved(self, place: Place, lines: int) -> Place:
        """The place exactly ``lines`` further, within the list; measures every item on the way."""
        item, line = place[0], place[1] + lines
        while line < 0 and item > 0:
            item -= 1
            line += self.height(item)
        while item < self.count() and line >= self.height(item):
            line -= self.height(item)
            item += 1
        return item, max(0, line)

    def _visible(self) -> list[Strip]:
        item, skip = self._top
        page: list[Strip] = []
        while item < self.count() and len(page) < self.page_lines:
            page.extend(self.strips(item)[skip:])
            skip = 0
            item += 1
        return page[: self.page_lines]

    def _show(self, page: list[Strip]) -> None:
        """Draw only the lines that differ from the previous page."""
        before, self._page = self._page, page
        if not page:
            if not before and self.note != self._noted:
                self.refresh(Region(0, 0, self.size.width, 1 + max(self.note.count("\n"), self._noted.count("\n"))))
            self._noted = self.note
        for y in range(max(len(before), len(page))):
            if y >= len(before) or y >= len(page):
                self.refresh(Region(0, y, self.size.width, 1))
            elif before[y] is not page[y] and before[y] != page[y]:
                # If only the cursor came or went, draw the first cell alone: each cell costs bytes.
                width = 1 if before[y].crop(1) == page[y].crop(1) else self.size.width
                self.refresh(Region(0, y, width, 1))
