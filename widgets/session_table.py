"""The live table of sessions on the line API: its cost follows what changed and is visible, not how many there are.

Line 0 holds the headings; the rows scroll below it.  The selection belongs to a session, not to a row: it stays
where it is when other sessions come and go.
"""

from collections.abc import Callable, Iterable
from itertools import zip_longest
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.cache import LRUCache
from textual.events import Click
from textual.geometry import Region, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from ..sessions.model import Session
from ..sessions.text import cell_width
from .columns import Cell, cells, columns, headings, second_line
from .paint import ROLES, ROLES_CSS, Painter
from .signs import UNICODE, Signs
from .table_rows import TableRows

CACHED_STRIPS = 512


class SessionTable(ScrollView, can_focus=True):
    """Sessions as rows; says which one is selected and which one is to be opened.

    Args:
        clock: gives the time in UTC ms, from which ages are counted.
        on_open: opens the selected session.  No message: a key typed right behind must find the steps focused.
        signs: the characters to draw with.
    """

    COMPONENT_CLASSES = ROLES
    DEFAULT_CSS = f"SessionTable {{ {ROLES_CSS} }}"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("j,down", "move(1)", "next session", show=False, id="table.down"),
        Binding("k,up", "move(-1)", "previous session", show=False, id="table.up"),
        Binding("pagedown,ctrl+d", "page(1)", "one page down", show=False, id="table.page_down"),
        Binding("pageup,ctrl+u", "page(-1)", "one page up", show=False, id="table.page_up"),
        Binding("g,home", "edge(False)", "first session", show=False, id="table.first"),
        Binding("G,end", "edge(True)", "last session", show=False, id="table.last"),
        Binding("enter", "open", "open the trajectory", show=False, id="table.open"),
        Binding("space", "mark", "mark it, to be shown beside others", show=False, id="table.mark"),
    ]

    class Highlighted(Message):
        """Another session is selected; None where there is none."""

        def __init__(self, session_id: str | None) -> None:
            super().__init__()
            self.session_id = session_id

    def __init__(
        self,
        clock: Callable[[], int],
        *,
        on_open: Callable[[], None] = lambda: None,
        signs: Signs = UNICODE,
        id: str | None = None,  # noqa: A002
    ) -> None:
        super().__init__(id=id)
        self._on_open = on_open
        self._clock = clock
        self._now = clock()
        self._signs = signs
        self._rows = TableRows()
        self._cursor: str | None = None
        self._painted: dict[str, _Painted] = {}
        self._painted_width = 0
        self._strips: LRUCache[object, Strip] = LRUCache(CACHED_STRIPS)
        self._painter = Painter(self, signs)
        self._empty: list[str] = []
        self._marked: list[str] = []

    @property
    def marked(self) -> list[Session]:
        """The sessions that somebody marked, in the order in which that was done."""
        return [session for session in map(self._rows.get, self._marked) if session is not None]

    def unmark(self) -> None:
        """Take all marks away."""
        for session_id in list(self._marked):
            self._toggle(session_id)

    @property
    def selected(self) -> Session | None:
        """The session under the cursor, as it is now."""
        return self._rows.get(self._cursor)

    def session(self, session_id: str) -> Session | None:
        """A session of the table, as it is now."""
        return self._rows.get(session_id)

    def show_when_empty(self, lines: Iterable[str]) -> None:
        """What stands there while there is no session."""
        self._empty = list(lines)
        self.refresh()

    def update_rows(self, updated: Iterable[Session], removed: Iterable[str] = ()) -> None:
        """Show what changed; only the cells that differ and are visible are drawn again."""
        updated, removed = tuple(updated), tuple(removed)
        self._now = self._clock()
        before = self._rows.position(self._cursor)
        line = None if before is None else self._rows.top(before)
        if self._rows.update(updated, removed, self._now):
            self._rearranged(before, line)
        else:
            for session in updated:
                self._redraw(session)

    def tick(self) -> None:
        """Time went on: draw the ages again that read differently now."""
        self._now = self._clock()
        before = self._rows.position(self._cursor)
        line = None if before is None else self._rows.top(before)
        if self._rows.fell_silent(self._now):
            self._rearranged(before, line)
            return
        shown = self._visible()
        self._painted = {s.id: self._painted[s.id] for s in shown if s.id in self._painted}
        for session in shown:
            self._redraw(session)

    def select(self, session_id: str) -> None:
        """Put the cursor on a session."""
        position = self._rows.position(session_id)
        if position is not None:
            self._move_to(position)

    def action_move(self, rows: int) -> None:
        """Move the cursor."""
        position = self._rows.position(self._cursor)
        if position is not None:
            self._move_to(position + rows)

    def action_page(self, pages: int) -> None:
        """Move the cursor by what fits on the screen."""
        self.action_move(pages * max(1, self._room - 1))

    def action_edge(self, last: bool) -> None:
        """Move the cursor to the first or the last row."""
        if len(self._rows):
            self._move_to(len(self._rows) - 1 if last else 0)

    def action_mark(self) -> None:
        """Mark the selected session or take the mark away, and go on to the next one."""
        if self._cursor is not None:
            self._toggle(self._cursor)
            self.action_move(1)

    def action_open(self) -> None:
        """Ask for the selected session to be opened."""
        if self._cursor is not None:
            self._on_open()

    def render_line(self, y: int) -> Strip:
        """One line of the screen: the headings, a row, its second line, or nothing."""
        width = self._width
        if not len(self._rows):
            text = self._empty[y - 1] if 1 <= y <= len(self._empty) else ""
            return self._painter.strip([(text, "dim")], width)
        if y == 0:
            role = "command" if self.has_focus else "heading"
            return self._painter.strip([(headings(columns(width), width), role)], width)
        found = self._rows.find(y - 1 + self.scroll_offset.y)
        if found is None:
            return self._painter.strip([], width)
        session = self._rows.at(found[0])
        cells, below = self._paint(session)
        spans = cells if found[1] == 0 else (below,) if below else ()
        return self._strip(spans, width, session.id == self._cursor)

    def on_resize(self) -> None:
        """Other columns may fit now."""
        self._painted.clear()
        self._fit()
        self._reveal()
        self.refresh()

    def on_click(self, event: Click) -> None:
        """With the mouse on, a click selects and a second one opens."""
        found = self._rows.find(event.y - 1 + self.scroll_offset.y) if event.y else None
        if found is None:
            return
        self._move_to(found[0])
        if event.chain == 2:
            self.action_open()

    def on_focus(self) -> None:
        """The headings and the cursor brighten."""
        self._redraw_headings()
        self._redraw_cursor()

    def on_blur(self) -> None:
        """They fade."""
        self._redraw_headings()
        self._redraw_cursor()

    def notify_style_update(self) -> None:
        """Another theme: no strip can be used again."""
        super().notify_style_update()
        self._painter.clear()
        self._strips.clear()

    @property
    def _width(self) -> int:
        """Cells of a row: a scrollbar takes some of them."""
        return self.scrollable_content_region.width

    @property
    def _room(self) -> int:
        """Lines below the headings."""
        return max(1, self.size.height - 1)

    def _strip(self, spans: tuple[Cell, ...], width: int, cursor: bool) -> Strip:
        over = "" if not cursor else "cursor" if self.has_focus else "cursor-blurred"
        key = (spans, width, over)
        strip = self._strips.get(key)
        if strip is None:
            gaps = [part for text, role in spans for part in ((text, role), (" ", role))]
            strip = self._strips[key] = self._painter.strip(gaps[:-1], width, over=over)
        return strip

    def _paint(self, session: Session) -> "_Painted":
        """The row and its second line as they were last drawn; a tick or a change replaces them."""
        width = self._width
        if self._painted_width != width:
            self._painted.clear()
            self._painted_width = width
        found = self._painted.get(session.id)
        if found is None:
            row = cells(session, self._now, width, self._signs, marked=session.id in self._marked)
            found = self._painted[session.id] = (row, second_line(session, self._now, width, self._signs))
        return found

    def _toggle(self, session_id: str) -> None:
        if session_id in self._marked:
            self._marked.remove(session_id)
        else:
            self._marked.append(session_id)
        if (session := self._rows.get(session_id)) is not None:
            self._redraw(session)

    def _redraw(self, session: Session) -> None:
        """Draw again what differs in a row, if it is visible."""
        width = self._width
        painted = self._painted.pop(session.id, None) if self._painted_width == width else None
        position = self._rows.position(session.id)
        if position is None:
            return
        line = self._rows.top(position) - self.scroll_offset.y + 1
        row, below = self._paint(session)
        # Nobody knows what stands there: all of it may differ.
        start, end = _difference(painted[0], row) if painted else (0, width)
        if start < end and 1 <= line < self.size.height:
            self.refresh(Region(start, line, end - start, 1))
        if below and 1 <= line + 1 < self.size.height and (painted is None or painted[1] != below):
            self.refresh(Region(0, line + 1, width, 1))

    def _redraw_headings(self) -> None:
        self.refresh(Region(0, 0, self._width, 1))

    def _redraw_cursor(self) -> None:
        position = self._rows.position(self._cursor)
        if position is not None:
            self.refresh(Region(0, self._rows.top(position) - self.scroll_offset.y + 1, self._width, 2))

    def _visible(self) -> list[Session]:
        """The sessions whose first line or second line is on the screen."""
        first = self._rows.find(self.scroll_offset.y)
        if first is None:
            return []
        last = self._rows.find(min(self._rows.height, self.scroll_offset.y + self._room) - 1) or first
        return [self._rows.at(position) for position in range(first[0], last[0] + 1)]

    def _rearranged(self, before: int | None, line: int | None) -> None:
        """Rows came or went: the selected one stays at its place of the screen as far as possible."""
        self._painted.clear()
        self._fit()
        position = self._rows.position(self._cursor)
        if position is None and len(self._rows):
            self._cursor = self._rows.at(min(before or 0, len(self._rows) - 1)).id
            self.post_message(self.Highlighted(self._cursor))
        elif position is None and self._cursor is not None:
            self._cursor = None
            self.post_message(self.Highlighted(None))
        elif position is not None and line is not None and self.scroll_offset.y:
            self.scroll_to(y=self.scroll_offset.y + self._rows.top(position) - line, animate=False)
        self._reveal()
        self.refresh()

    def _move_to(self, position: int) -> None:
        session = self._rows.at(max(0, min(len(self._rows) - 1, position)))
        if session.id == self._cursor:
            return
        self._redraw_cursor()
        self._cursor = session.id
        self._redraw_cursor()
        self._reveal()
        self.post_message(self.Highlighted(session.id))

    def _fit(self) -> None:
        # The width of the widget without a scrollbar would bring up the horizontal one.
        self.virtual_size = Size(0, self._rows.height + 1)

    def _reveal(self) -> None:
        """Scroll as little as needed to show the whole selected row."""
        position = self._rows.position(self._cursor)
        if position is None:
            return
        top = self._rows.top(position)
        bottom = self._rows.top(position + 1) if position + 1 < len(self._rows) else self._rows.height
        if top < self.scroll_offset.y:
            self.scroll_to(y=top, animate=False)
        elif bottom > self.scroll_offset.y + self._room:
            self.scroll_to(y=bottom - self._room, animate=False)


_Painted = tuple[tuple[Cell, ...], Cell | None]
"""The cells of a row, and its second line."""


def _difference(old: tuple[Cell, ...], new: tuple[Cell, ...]) -> tuple[int, int]:
    """The cells of the screen, from and to, between which two rows of one width differ."""
    start = end = x = 0
    for before, after in zip_longest(old, new, fillvalue=("", "")):
        width = max(cell_width(before[0]), cell_width(after[0])) + 1
        if before != after:
            start = start if end else x
            end = x + width
        x += width
    return start, end
