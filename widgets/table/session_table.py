"""The live table of sessions: filter, order, cursor, marks, and their keys.

The selection belongs to a session, not to a row: it stays when other sessions come and go.
"""

from collections.abc import Callable, Iterable, Mapping
from time import monotonic
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.events import Click
from textual.message import Message

from agentdash.sessions.model.session import Load, Session
from agentdash.sessions.rules.attention import is_to_visit
from agentdash.widgets.drawing.short_forms import place_of
from agentdash.widgets.table.ordering import Arrangement
from agentdash.widgets.table.row_canvas import RowCanvas
from agentdash.widgets.table.row_model import Chooser

HAND_MS = 10_000
"""Milliseconds after a key in the table during which the rows that the cursor left stay in place, too."""


class SessionTable(RowCanvas):
    """Sessions as rows; reports the selected session and the one to open.

    Args:
        clock: returns the time in UTC ms, from which ages are counted.
        on_open: opens the selected session.  Not a message: a key typed right after it must find the steps focused.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("j,down", "move(1)", "next session", show=False, id="table.down"),
        Binding("k,up", "move(-1)", "previous session", show=False, id="table.up"),
        Binding("pagedown,ctrl+d", "page(1)", "page down", show=False, id="table.page_down"),
        Binding("pageup,ctrl+u", "page(-1)", "page up", show=False, id="table.page_up"),
        Binding("g g,home", "edge(False)", "first session", show=False, id="table.first"),
        Binding("G,end", "edge(True)", "last session", show=False, id="table.last"),
        Binding("enter", "open", "open the session", show=False, id="table.open"),
        Binding("space", "mark", "mark (actions apply to all marked)", show=False, id="table.mark"),
        Binding("v", "mark_range", "start / end range", show=False, id="table.mark_range"),
        Binding("asterisk", "mark_all", "mark all / none", show=False, id="table.mark_all"),
        Binding("h,left", "fold(True)", "collapse", show=False, id="table.fold"),
        Binding("l,right", "fold(False)", "expand", show=False, id="table.unfold"),
    ]

    class NothingWaits(Message):
        """The user asked for a session that needs attention, and there is none."""

    class Recounted(Message):
        """Time alone added chosen sessions, or removed some."""

    class Marked(Message):
        """The marks changed."""

    class Highlighted(Message):
        """Another session is selected; None if there is none."""

        def __init__(self, session_id: str | None) -> None:
            super().__init__()
            self.session_id = session_id

    def __init__(
        self,
        clock: Callable[[], int],
        *,
        on_open: Callable[[], None] = lambda: None,
        id: str | None = None,  # noqa: A002
    ) -> None:
        super().__init__(clock, id=id)
        self._on_open = on_open
        self._touched_at = self._now - HAND_MS
        self._holding = False
        """True if the cursor's row stays in place, even if the order changes: the user has chosen it."""
        self.replaced_at = 0.0
        """When the cursor last lost its row and came to the next, in seconds on the clock of events' ``time``."""

    @property
    def marked(self) -> list[Session]:
        """The marked sessions, in the order they were marked."""
        return [session for session in map(self._rows.get, self._marks) if session is not None]

    @property
    def marked_elsewhere(self) -> int:
        """The number of marked sessions that the filter hides; keys apply to them as well."""
        return sum(not self._rows.chooses(session_id) for session_id in self._marks)

    @property
    def ranging(self) -> bool:
        """True if marks follow the cursor."""
        return self._marks.ranging

    def unmark(self) -> bool:
        """Remove all marks; return whether there were any."""
        there = len(self._marks) > 0
        self._marks.clear()
        self._marks_changed()
        return there

    @property
    def listed(self) -> list[Session]:
        """The sessions that the filter shows, on the screen or not."""
        return [session for session in map(self._rows.get, self._rows.shown) if session is not None]

    def unmark_but(self, session_ids: Iterable[str]) -> int:
        """Remove all marks but those of some sessions; return how many are left."""
        kept = [session_id for session_id in session_ids if session_id in self._marks]
        self._marks.clear()
        self._marks.mark(kept)
        self._marks_changed()
        return len(kept)

    @property
    def selected(self) -> Session | None:
        """The current state of the session under the cursor."""
        return self._rows.get(self._cursor)

    @property
    def cursor_place(self) -> str:
        """The number of the row under the cursor, and of all rows: ``12/26``."""
        position = self._rows.position(self._cursor)
        number, count = self._rows.place(position or 0)
        return place_of(number if self.selected is not None and position is not None else None, count)

    @property
    def group(self) -> list[Session]:
        """The sessions of the group whose heading is under the cursor, folded away or not."""
        position = self._rows.position(self._cursor)
        heading = self._rows.row(position).heading if position is not None else None
        return [one for one in map(self._rows.get, heading.sessions) if one is not None] if heading else []

    def session(self, session_id: str) -> Session | None:
        """The current state of a session; None if it is not in the table."""
        return self._rows.get(session_id)

    @property
    def sessions(self) -> list[Session]:
        """All sessions, shown or not."""
        return list(self._rows)

    @property
    def asking(self) -> list[Session]:
        """The sessions whose agents wait for an answer or ended with an open question, shown or not, in any order."""
        return self._rows.asking

    @property
    def counts(self) -> tuple[int, int]:
        """The number of chosen sessions, and of all sessions."""
        return self._rows.chosen, self._rows.total

    @property
    def new(self) -> int:
        """The number of chosen sessions that ended and were not opened since."""
        return self._rows.new

    @property
    def order(self) -> Arrangement:
        """The order of the rows."""
        return self._rows.arrangement

    def choose(self, chooser: Chooser | None, arrangement: Arrangement) -> None:
        """Show only the sessions that pass the filter (None shows all), in this order.

        The cursor stays with its session; if that is hidden, it goes to the first session shown.
        """
        self._now = self._clock()
        before = self._rows.position(self._cursor)
        self._rows.choose(chooser, self._now, arrangement)
        if self._rows.position(self._cursor) is None:
            before = self._rows.first
        self._rearranged(before)
        self._learn_columns(forget=True)

    def update_rows(self, updated: Iterable[Session], removed: Iterable[str] = ()) -> None:
        """Apply changes; redraws only the visible cells that differ."""
        updated, removed = tuple(updated), tuple(removed)
        self._see()
        before = self._rows.position(self._cursor)
        line = None if before is None else self._rows.top(before)
        self._marks.forget(removed)
        if self._rows.update(updated, removed, self._now, self._in_hand, self._kept):
            self._rearranged(before, line)
        else:
            leads = {key for session in updated for key in self._rows.families.above(session)}
            for key in leads.union(session.id for session in updated):
                self._redraw(key)
        self._learn_columns()

    def tick(self) -> None:
        """Apply the passage of time: redraw the ages that changed, and check the filter again."""
        self._see()
        before = self._rows.position(self._cursor)
        line = None if before is None else self._rows.top(before)
        counted = self.counts
        hands = self._in_hand, self._kept
        moved = self._rows.chosen_anew(self._now, *hands)
        moved |= not 0 <= self._now - self._touched_at < HAND_MS and self._rows.let_go(self._now, *hands)
        if moved:
            self._rearranged(before, line)
            if self.counts != counted:
                self.post_message(self.Recounted())
        else:
            self._redraw_all(only=self._painting.is_due)

    def show_loads(self, loads: Mapping[str, Load]) -> None:
        """Show a measurement of the processes, and sort the rows by it if that is the chosen order."""
        self._see(loads)
        before = self._rows.position(self._cursor)
        line = None if before is None else self._rows.top(before)
        if self._rows.measured(loads, self._now, self._in_hand, self._kept):
            self._rearranged(before, line)
        else:
            self._redraw_all()
        self._learn_columns()

    def let_go(self) -> None:
        """Release the cursor's row, so that it moves to its place."""
        self._touched_at, self._holding = self._now - HAND_MS, False

    def led_by(self, session_id: str) -> list[Session]:
        """The sessions that a session started, shown or not."""
        return self._rows.families.workers(session_id)

    def position(self, session_id: str) -> int | None:
        """The position of a session's row; None if it has none."""
        return self._rows.position(session_id)

    def reveal(self, session_id: str) -> None:
        """Unfold the rows that hide a session."""
        if self._rows.unfold_to(session_id):
            self._rearranged()

    def select(self, session_id: str) -> None:
        """Put the cursor on a session."""
        position = self._rows.position(session_id)
        if position is not None:
            self._move_to(position)

    def action_move(self, rows: int) -> None:
        """Move the cursor."""
        position = self._rows.position(self._cursor)
        if position is not None:
            self._move_to(self._past_headings(position + rows, 1 if rows > 0 else -1))

    def action_page(self, pages: int) -> None:
        """Move the cursor by pages."""
        self.action_move(pages * max(1, self._room - 1))

    def action_edge(self, last: bool) -> None:
        """Move the cursor to the first or the last row."""
        if len(self._rows):
            self._move_to(len(self._rows) - 1 if last else self._past_headings(0, 1))

    def action_mark(self) -> None:
        """Mark or unmark the selected session and move down, or mark or unmark the selected group."""
        if (session := self.selected) is not None:
            self._marks.toggle(session.id)
            self._marks_changed()
            self.action_move(1)
        elif group := self.group:
            self._marks.toggle_all([session.id for session in group])
            self._marks_changed()

    def action_mark_range(self) -> None:
        """Begin a range of marks, or end it."""
        if self._marks.ranging:
            self._marks.close()
        elif (session := self.selected) is not None:
            self._marks.begin(session.id)
        self._marks_changed()

    def action_mark_all(self) -> None:
        """Mark all shown sessions; if all are marked, remove all marks."""
        shown = self._rows.shown
        if all(session_id in self._marks for session_id in shown):
            self._marks.clear()
        else:
            self._marks.mark(shown)
        self._marks_changed()

    def action_next_attention(self, direction: int) -> None:
        """Go to the next session that needs the user or is done and unread, wrapping around the end.

        From any other row it is the first of them: in the usual order the one that has waited longest.
        """
        sessions = enumerate(map(self._rows.at, range(len(self._rows))))
        places = [place for place, session in sessions if session is not None and is_to_visit(session)]
        here = self._rows.position(self._cursor)
        if not places or places == [here]:
            self.post_message(self.NothingWaits())
        elif here in places:
            self._move_to(places[(places.index(here) + direction) % len(places)])
        else:
            self._move_to(places[0 if direction > 0 else -1])

    def action_fold(self, closed: bool) -> None:
        """Fold the rows below the selected row, or those of its parent; or unfold them."""
        position = self._rows.position(self._cursor)
        if position is None:
            return
        row = self._rows.row(position)
        key = row.key if row.folds and (row.key in self._rows.folded) is not closed else row.parent if closed else None
        if key is not None and self._rows.fold(key, closed):
            opened = self._rows.position(key) or 0
            self._cursor = self._rows.row(self._past_headings(opened, 1)).key
            self._rearranged(position)
            self._highlight()

    def action_open(self) -> None:
        """Open the selected session, or fold or unfold the selected group."""
        position = self._rows.position(self._cursor)
        if position is not None and self._rows.at(position) is not None:
            self._on_open()
        elif self._cursor is not None:
            self.action_fold(self._cursor not in self._rows.folded)

    def on_resize(self) -> None:
        """Redraw everything: other columns may fit now."""
        self._painting.clear()
        self._fit()
        self._learn_columns(forget=True)
        self._reveal()
        self.refresh()

    def on_click(self, event: Click) -> None:
        """Select by a click, open by a second one, if the mouse is on."""
        place = self._rows.find(event.y - 1 + self.scroll_offset.y) if event.y else None
        if place is None:
            return
        self._move_to(place[0])
        if event.chain == 2:
            self.action_open()

    def on_focus(self) -> None:
        """Keep the rows in place for a while: the user has just come back to them."""
        self._touched_at = self._clock()

    def show_focus(self) -> None:
        """Draw the headings and the cursor's row."""
        self._redraw_headings()
        self._redraw_cursor()

    @property
    def _in_hand(self) -> str | None:
        """The row that the user moved to, until the cursor leaves it."""
        return self._cursor if self._holding else None

    @property
    def _kept(self) -> str | None:
        """The row that a filter must not hide: it is in hand, or the user reads it in another pane."""
        return self._cursor if not self.has_focus else self._in_hand

    def _marks_changed(self) -> None:
        self._redraw_all()
        self.post_message(self.Marked())

    def _rearranged(self, before: int | None = None, line: int | None = None) -> None:
        """Lay out the rows after a change; the selected row keeps its place on the screen if possible."""
        self._painting.clear()
        self._fit()
        position = self._rows.position(self._cursor)
        if position is None and len(self._rows):
            self._cursor = self._rows.row(self._past_headings(before or 0, 1)).key
            self.replaced_at = monotonic()
            self._highlight()
        elif position is None and self._cursor is not None:
            self._cursor = None
            self._highlight()
        elif position is not None and line is not None and self.scroll_offset.y:
            self._scroll_to_line(self.scroll_offset.y + self._rows.top(position) - line)
        self._reveal()
        self.refresh()

    def _past_headings(self, position: int, direction: int) -> int:
        """The nearest row in this direction that is not the heading of an open section, else one in the other."""
        last = len(self._rows) - 1
        place = max(0, min(last, position))
        while 0 <= place <= last and self._rows.is_passed(place):
            place += direction
        return place if 0 <= place <= last else max(0, min(last, position)) - direction

    def _move_to(self, position: int) -> None:
        self._touched_at, self._holding = self._clock(), True
        key = self._rows.row(max(0, min(len(self._rows) - 1, position))).key
        if key == self._cursor:
            return
        self._redraw_cursor()
        self._cursor = key
        self._redraw_cursor()
        self._reveal()
        if self._marks.ranging:
            self._marks.reach(self._rows.displayed, key)
            self._marks_changed()
        self._highlight()

    def _highlight(self) -> None:
        # From this widget's own queue: a message that the parent's handler posts here would reach only the parent.
        self.call_later(self._tell_highlighted)

    def _tell_highlighted(self) -> None:
        session = self.selected
        self.post_message(self.Highlighted(session.id if session else None))
