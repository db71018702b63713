"""The main screen: the table of sessions, the steps of the selected one, and a prompt for it."""

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from msgspec import structs
from textual import on, work
from textual.app import ComposeResult
from textual.containers import Container
from textual.widget import Widget
from textual.widgets import Static

from ...sessions.model import Session
from ...sessions.reader import SessionReader
from ...widgets.drawing.glyphs import UNICODE, Signs
from ...widgets.drawing.short_forms import place
from ...widgets.table.session_table import SessionTable
from ...widgets.table.status_line import StatusLine, Tally
from .. import texts
from ..keys.actions import bindings, can_prompt
from ..keys.command_line import Command
from ..messages import SessionsChanged
from ..panes.session_pane import Detail
from ..panes.table.load_columns import LoadWatch
from ..panes.table.table_commands import table_commands
from ..panes.table.table_pane import TablePane
from ..services.background import Requests
from ..services.change_feed import Feed
from ..services.session_actions import Operations
from ..state.ui_state import LEAST_SHARE, MOST_SHARE, Memory
from .session_screen import SessionScreen
from .watch import MOST, WatchScreen

USUAL_SHARES = {"wide": 55, "tall": 40}


class MainScreen(SessionScreen):
    """Connects the panes with each other and with the keys."""

    BINDINGS = bindings()
    has_table = True
    AUTO_FOCUS = "#table"

    def __init__(
        self,
        reader: SessionReader,
        feed: Feed,
        requests: Requests,
        operations: Operations,
        memory: Memory,
        *,
        clock: Callable[[], int],
        signs: Signs = UNICODE,
        tour: texts.Tour = (),
        alone: bool = False,
        missing: int = 0,
    ) -> None:
        super().__init__(reader, requests, operations, clock=clock, signs=signs, tour=tour)
        self._where = place(str(reader.home))
        self._feed = feed
        self._tally = Tally()
        self.status = StatusLine(signs=signs, note="read-only" if self.read_only else "", id="status")
        self.table = SessionTable(clock, on_open=self._open, signs=signs, id="table")
        self.pane = TablePane(self.table, memory, requests, signs, reader)
        self.pane.missing = missing
        operations.bulk.progress = self.pane.show_progress
        self._memory = memory
        self._load_watch = LoadWatch(self, self.table, reader, requests)
        self.set_class(alone, "-alone")
        detail = Detail(
            reader,
            requests,
            self._outside,
            signs,
            operations.drafts,
            clock=clock,
            hint=texts.tour_line(tour),
        )
        self.details = [detail]
        self.areas = [self.pane, detail]
        self.too_small = Static("", id="too-small", markup=False)

    @property
    def current(self) -> Session | None:
        """The session under the table's cursor."""
        return self.table.selected

    @property
    def chosen(self) -> list[Session]:
        """The marked sessions, else those of the group or the one under the cursor."""
        return self.table.marked or self.table.group or super().chosen

    @property
    def marking(self) -> bool:
        """True if the chosen sessions are marked."""
        return bool(self.table.marked)

    @property
    def _in_table(self) -> bool:
        return self.pane.has_focus_within

    def commands(self) -> Iterator[Command]:
        """Yield the commands of the command line on this screen."""
        yield from super().commands()
        yield from table_commands(self.pane)

    def home_focus(self) -> Widget:
        """Return the table."""
        return self.table

    def compose(self) -> ComposeResult:
        """Yield the status line, the two panes, and the keys that are valid now."""
        yield self.status
        with Container(id="body"):
            yield self.pane
            yield self.detail
        yield self.foot()
        yield self.too_small

    def on_mount(self) -> None:
        """Show the sessions, and update their ages once a second."""
        self.set_interval(1.0, self.table.tick)
        self._sessions_changed()
        self._learn_default()

    def on_resize(self) -> None:
        """Redraw the lines that depend on the width."""
        self.too_small.update(f"{self.size.width}x{self.size.height} is too small: 30x8 at least.")
        self._share_out()
        self.call_after_refresh(self.show_words)

    @property
    def _direction(self) -> str:
        """``wide`` if table and steps are side by side, ``tall`` if the table is above the steps."""
        return "wide" if self.has_class("-wide") else "tall"

    def _share_out(self) -> None:
        """Give table and steps the shares of the screen that the user chose, if both fit."""
        share = self._memory.now.shares.get(self._direction)
        styles = (self.pane.styles, self.detail.styles)
        for style, cells in zip(styles, (share, 100 - (share or 0)), strict=True):
            beside = self._direction == "wide"
            style.width = f"{cells}fr" if share and beside else None
            style.height = f"{cells}fr" if share and not beside and not self.has_class("-reading") else None

    def action_split(self, by: int) -> None:
        """Give the table ``by`` percent more of the screen; less if ``by`` is negative."""
        usual = USUAL_SHARES[self._direction]
        share = self._memory.now.shares.get(self._direction, usual) + by
        self._memory.set(shares=self._memory.now.shares | {self._direction: max(LEAST_SHARE, min(MOST_SHARE, share))})
        self._share_out()
        self.pane.remember()

    def action_zoom(self) -> None:
        """Give the whole screen to the focused pane, or show both panes again."""
        zoomed = self.has_class("-zoomed")
        self.set_class(not zoomed, "-zoomed")
        self.set_class(not zoomed and not self._in_table, "-detail")

    @on(TablePane.Changed)
    def _other_columns(self) -> None:
        self._load_watch.watch(self._memory.now.columns, self.table.order.sort)

    @on(SessionsChanged)
    def _sessions_changed(self) -> None:
        changes = self._feed.take()
        with self.app.batch_update():
            self._tally.update(changes.updated, changes.removed)
            removed = [key for key in changes.removed if key not in self.pane.away.ids]
            self.table.update_rows(map(self._as_read, changes.updated), removed)
            self.pane.away.changed(changes)
            self.show_words()
        awaited = self.operations.awaited
        self.pane.sessions_changed()
        if awaited is not None and self.table.session(awaited) is not None:
            self.operations.awaited = None
            self.table.select(awaited)
        selected = self.table.selected
        changed = next((session for session in changes.updated if selected and session.id == selected.id), None)
        if changed is not None:
            self.detail.viewer.read_on()
            if self._is_read(changed):
                self.mark_seen(changed)

    def all_read(self) -> None:
        """Record that all sessions are loaded, not only those of the first screen."""
        self.pane.missing = 0
        self.pane.say()

    @on(SessionTable.Marked)
    def _other_marks(self) -> None:
        self.show_words()

    @on(SessionTable.NothingWaits)
    def _nothing_waits(self) -> None:
        self.requests.tell("No other session needs you.")

    @on(SessionTable.Highlighted)
    def _highlighted(self, event: SessionTable.Highlighted) -> None:
        self.detail.open(self.table.session(event.session_id) if event.session_id else None)
        self.show_words()

    def _open(self) -> None:
        """Give the keys to the steps of the selected session, and mark it seen."""
        self.go_to_steps()
        if self.current is not None:
            self.mark_seen(self.current)

    def left_for(self, widget: Widget) -> None:
        """Bring the table to the front of a narrow screen when it gets the keys."""
        if widget is self.table:
            self._show_pane(False)

    def action_quit(self) -> None:
        """Leave the dashboard; the sessions keep running."""
        self.app.exit()

    def action_back(self) -> None:
        """Leave a search or a filter, one at a time; else go from the steps to the table.

        While a message covers the screen, the first Esc removes only the message: marks are work to make again.
        """
        if self._in_table and self.table.marked and self.query("Toast"):
            self.app.clear_notifications()
            return
        if self.detail.viewer.step_back() or (self._in_table and self.pane.step_back()):
            return
        self.give_keys(self.table, partial(self.left_for, self.table))

    @work
    async def action_new_session(self) -> None:
        """Ask what to start, with the selected session's folder filled in."""
        selected = self.table.selected
        await self.operations.ask_what_to_start(selected.cwd if selected else str(Path.cwd()))

    @work
    async def action_new_like(self) -> None:
        """Ask what to start, with the fields of the selected session filled in."""
        if (session := self.table.selected) is not None:
            await self.operations.ask_what_to_start(session.cwd, session)

    @work
    async def action_delete(self) -> None:
        """Ask, then move the chosen sessions to the trash."""
        await self.operations.delete_chosen(self.chosen)

    @work
    async def action_archive(self) -> None:
        """Archive the chosen sessions."""
        await self.operations.archive_chosen(self.chosen, self.current)

    def action_rename(self) -> None:
        """Ask for a new title for the selected session."""
        if (session := self.current) is not None:
            self.operations.ask_for_title(session)

    @work
    async def action_pin(self) -> None:
        """Pin the chosen sessions above the others, or unpin them."""
        self.table.let_go()
        await self.operations.pin_chosen(self.chosen)

    @work
    async def action_undo(self) -> None:
        """Restore the chosen sessions from the archive or the trash; if none is there, undo the last move there."""
        away = [session.id for session in self.chosen if session.put_away]
        if away:
            self.table.unmark()
            self.table.let_go()
            await self.operations.restore(away)
        else:
            await self.operations.undo()

    def action_beside(self) -> None:
        """Show the marked sessions, or the selected one, side by side on a screen of their own."""
        chosen = self.table.marked or ([self.current] if self.current is not None else [])
        if len(chosen) > MOST:
            self.requests.tell(f"{len(chosen)} sessions are marked: {MOST} have room side by side.")
            return
        self.table.unmark()
        screen = WatchScreen(self._reader, self.requests, self.operations, chosen, clock=self._clock, signs=self._signs)
        self.app.push_screen(screen)

    @work
    async def _learn_default(self) -> None:
        await self.operations.learn_default()
        self.keys_changed()

    def keys_changed(self) -> None:
        """Show the new keys, also in the lines of an empty table."""
        self.pane.teach(self.operations.agents, self.keymap)
        super().keys_changed()

    def uncover(self) -> None:
        """Bring the detail pane to the front if only one pane fits."""
        self._show_pane(True)

    def _show_pane(self, shown: bool) -> None:
        self.restyle({"-detail": shown, "-reading": self.detail.has_focus_within})

    def _is_read(self, session: Session) -> bool:
        """Return True if the user reads the steps of this session now."""
        return self.current is not None and session.id == self.current.id and self.detail.viewer.has_focus_within

    def _as_read(self, session: Session) -> Session:
        """Return the session as the table shows it: steps that arrive while the user reads it never count as new."""
        return structs.replace(session, seen_steps=session.steps) if self._is_read(session) else session

    def show_words(self) -> None:
        """Update counts, headline, the prompt's label and the valid keys."""
        self.status.show(self._tally, self._where)
        chosen = self.chosen
        if len(chosen) > 1:
            able = sum(map(can_prompt, chosen))
            target = texts.target_of_several(chosen, able, marked=self.marking)
        else:
            target = self.target(chosen[0] if chosen else None)
        self.detail.say(self.current, target, follow_key=self.follow_key())
        self.pane.say_last(self.current)
        super().show_words()
