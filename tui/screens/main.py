"""The main screen: the table of sessions, the steps of the selected one, and a prompt for it."""

from collections.abc import Callable, Iterator

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
from ..keys.action_target import ActionTarget
from ..keys.actions import bindings
from ..keys.command_line import Command
from ..messages import SessionAwaited, SessionsChanged
from ..panes.session_pane import SessionPane
from ..panes.table.split import Split
from ..panes.table.table_commands import table_commands
from ..panes.table.table_pane import TablePane
from ..services.background import Requests
from ..services.change_feed import ChangeFeed
from ..services.session_actions import SessionActions
from ..state.ui_state import UiState
from .session_screen import SessionScreen


class MainScreen(SessionScreen):
    """Connects the panes with each other and with the keys."""

    BINDINGS = bindings()
    has_table = True
    AUTO_FOCUS = "#table"

    def __init__(
        self,
        reader: SessionReader,
        feed: ChangeFeed,
        requests: Requests,
        operations: SessionActions,
        ui_state: UiState,
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
        self.pane = TablePane(self.table, ui_state, requests, signs, reader)
        self.pane.missing = missing
        operations.bulk.progress = self.pane.show_progress
        self.set_class(alone, "-alone")
        detail = SessionPane(
            reader,
            requests,
            self._programs,
            signs,
            operations.drafts,
            clock=clock,
            hint=texts.tour_line(tour),
        )
        self.details = [detail]
        self.areas = [self.pane, detail]
        self._split = Split(self, self.pane, detail, ui_state)
        self.too_small = Static("", id="too-small", markup=False)

    @property
    def current(self) -> Session | None:
        """The session under the table's cursor."""
        return self.table.selected

    @property
    def target(self) -> ActionTarget:
        """The marked sessions, else those of the group or the one under the cursor."""
        table, several = self.table, self.table.marked or self.table.group
        if not several:
            return super().target
        return ActionTarget(table.selected, several, marked=bool(table.marked), read_only=self.read_only)

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
        yield self.foot
        yield self.too_small

    def on_mount(self) -> None:
        """Show the sessions, and update their ages once a second."""
        self.set_interval(1.0, self.table.tick)
        self._sessions_changed()
        self._learn_default()

    def on_resize(self) -> None:
        """Redraw the lines that depend on the width."""
        self.too_small.update(f"{self.size.width}x{self.size.height} is too small: 30x8 at least.")
        self._split.apply()
        self.call_after_refresh(self.show_words)

    def action_split(self, by: int) -> None:
        """Give the table ``by`` percent more of the screen; less if ``by`` is negative."""
        self._split.enlarge(by)

    def action_zoom(self) -> None:
        """Give the whole screen to the focused pane, or show both panes again."""
        self._split.zoom()

    @on(SessionsChanged)
    def _sessions_changed(self) -> None:
        changes, read_id = self._feed.take(), self._read_id
        with self.app.batch_update():
            self._tally.update(changes.updated, changes.removed)
            removed = [key for key in changes.removed if key not in self.pane.away.ids]
            # Steps that arrive while the user reads the session never count as new.
            updated = [
                structs.replace(one, seen_steps=one.steps) if one.id == read_id else one for one in changes.updated
            ]
            self.table.update_rows(updated, removed)
            self.pane.away.changed(changes)
            self.show_words()
        self.pane.sessions_changed()
        self._select_awaited()
        selected = self.table.selected
        changed = next((session for session in changes.updated if selected and session.id == selected.id), None)
        if changed is not None:
            self.detail.viewer.read_on()
            if changed.id == self._read_id:
                self.mark_seen(changed)

    @on(SessionAwaited)
    def _select_awaited(self) -> None:
        awaited = self.table.session(self.operations.awaited or "")
        # A view of the archive or the trash still has the row from before the session was restored.
        if awaited is not None and not awaited.put_away:
            self.operations.awaited = None
            self.table.select(awaited.id)

    @on(SessionTable.Marked)
    def _other_marks(self) -> None:
        self.show_words()

    @on(SessionTable.Highlighted)
    def _highlighted(self, event: SessionTable.Highlighted) -> None:
        self.detail.open(self.table.session(event.session_id) if event.session_id else None)
        self.show_words()

    def _open(self) -> None:
        """Give the keys to the steps of the selected session, and mark it seen."""
        self.go_to_steps()
        if self.current is not None:
            self.mark_seen(self.current)

    def make_room(self, widget: Widget) -> None:
        """Bring the widget's pane to the front if only one pane fits."""
        shown = widget is not self.table
        if not shown or not self.has_class("-detail"):
            self.restyle({"-detail": shown, "-reading": self.detail.has_focus_within})

    def action_quit(self) -> None:
        """Leave the dashboard; the sessions keep running."""
        self.app.exit()

    def action_back(self) -> None:
        """Leave a search or a filter, one at a time; else go from the steps to the table.

        While a message covers the screen, the first Esc removes only the message: marks are work to make again.
        """
        if self.pane.has_focus_within and self.table.marked and self.query("Toast"):
            self.app.clear_notifications()
            return
        if self.detail.viewer.step_back() or (self.pane.has_focus_within and self.pane.step_back()):
            return
        self.give_keys(self.table)

    @work
    async def action_pin(self) -> None:
        """Pin the chosen sessions above the others, or unpin them."""
        self.table.let_go()
        await self.operations.pin_chosen(self.target.chosen)

    @work
    async def action_undo(self) -> None:
        """Restore the chosen sessions from the archive or the trash; if none is there, undo the last move there."""
        away = [session.id for session in self.target.chosen if session.put_away]
        if away:
            self.table.unmark()
            self.table.let_go()
            await self.operations.restore(away)
        else:
            await self.operations.undo()

    def action_beside(self) -> None:
        """Show the marked sessions, or the selected one, side by side on a screen of their own."""
        from .watch import MOST, WatchScreen

        chosen = self.table.marked or ([self.current] if self.current is not None else [])
        if len(chosen) > MOST:
            self.requests.show_message(f"{len(chosen)} sessions are marked: {MOST} have room side by side.")
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
        self.pane.show_agents(self.operations.agents, self.keymap)
        super().keys_changed()

    @property
    def _read_id(self) -> str | None:
        """The id of the session whose steps the user reads now."""
        return self.current.id if self.current is not None and self.detail.viewer.has_focus_within else None

    def show_words(self) -> None:
        """Update counts, headline, the prompt's label and the valid keys."""
        self.status.show(self._tally, self._where)
        self.detail.show_texts(self.current, self.sender.effect(self.target), self.keymap)
        self.pane.show_last_message(self.current)
        super().show_words()
