"""The main screen: the table of sessions, the steps of the selected one, and a prompt for it."""

import asyncio
from collections.abc import Callable, Iterable, Iterator
from functools import partial

from msgspec import structs
from textual import on, work
from textual.app import ComposeResult
from textual.containers import Container
from textual.timer import Timer
from textual.widget import Widget

from agentdash.sessions.model.session import Session, Status
from agentdash.sessions.rules.attention import by_urgency
from agentdash.sessions.service.reader import SessionReader
from agentdash.sessions.service.selected import Selected
from agentdash.sessions.storage.paths import usual_home
from agentdash.tui._textual_hacks import set_size_classes
from agentdash.tui.keys.action import Place
from agentdash.tui.keys.actions import ACTIONS, MENU_ACTIONS, bindings
from agentdash.tui.keys.availability import ActionTarget
from agentdash.tui.keys.command_line import Command
from agentdash.tui.keys.footer import Labels, daily_keys
from agentdash.tui.messages import SessionAwaited, SessionsChanged, WorkersAsked
from agentdash.tui.panes.session_pane import SessionPane
from agentdash.tui.panes.table.split import Split
from agentdash.tui.panes.table.table_commands import table_commands
from agentdash.tui.panes.table.table_pane import TablePane
from agentdash.tui.screens.session_screen import SessionScreen
from agentdash.tui.screens.ways import FamilyWays, UsageWays
from agentdash.tui.services.actions.session_actions import SessionActions
from agentdash.tui.services.background import Requests
from agentdash.tui.services.change_feed import ChangeFeed
from agentdash.tui.state.plan_note import PlanNote
from agentdash.tui.state.ui_state import UiState
from agentdash.tui.texts import conversation_texts
from agentdash.widgets.drawing.short_forms import place
from agentdash.widgets.drawing.text_lines import MessageLine
from agentdash.widgets.inputs.prompt_box import PromptInput
from agentdash.widgets.table.header import Tally
from agentdash.widgets.table.row_detail import in_full
from agentdash.widgets.table.session_table import SessionTable
from agentdash.widgets.table.status_line import StatusLine

SETTLED_SECONDS = 0.15
"""The selection is recorded when it has not changed for this time."""


class MainScreen(SessionScreen):
    """Connects the panes with each other and with the keys."""

    BINDINGS = bindings([*ACTIONS, *MENU_ACTIONS])
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
        tour: Labels = (),
        alone: bool = False,
        missing: int = 0,
        selected: Selected | None = None,
    ) -> None:
        super().__init__(reader, requests, operations, clock=clock, tour=tour)
        self._selected = selected
        """Records the selected session for those who follow this table; None if it cannot be followed."""
        self._settling: Timer | None = None
        self.where = "" if tour or reader.home == usual_home() else place(str(reader.home))
        """The state folder, for the header; empty for the usual one."""
        self._feed = feed
        self._tally = Tally()
        self._plans = PlanNote(lambda seconds: self.set_timer(seconds, self._plan_ended), clock)
        self.status = StatusLine(note="read-only" if self.read_only else "", id="status")
        self.table = SessionTable(clock, on_open=self._open, id="table")
        self.pane = TablePane(self.table, ui_state, requests, reader, lambda: operations.desk.app.keys_wait)
        self.pane.missing = missing
        operations.bulk.progress, operations.bulk.unmark = self.pane.show_progress, self.table.unmark_but
        operations.desk.hiding = lambda session: self.pane.view.hiding(session, clock())
        operations.desk.show_all = self.pane.show_all
        self._alone = alone
        """True if the table alone has the screen, in any size."""
        detail = SessionPane(reader, requests, self._programs, operations.desk.drafts, clock=clock)
        self.details = [detail]
        detail.viewer.workers_of = self.table.led_by
        self._ways = FamilyWays(operations.desk.app, reader, requests, self._show_session)
        self.areas = [self.pane, detail]
        self._split = Split(self, self.pane, detail, ui_state)
        self._usage = UsageWays(operations.desk.app, reader, requests, self.pane, clock)

    @property
    def settled(self) -> bool:
        """True if nothing is being read for what it shows."""
        viewer, selected = self.detail.viewer, self.table.selected
        return selected is None or (viewer.session_id == selected.id and not viewer.is_reading)

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
        return ActionTarget(
            table.selected,
            several,
            marked=bool(table.marked),
            read_only=self.read_only,
            asking=self.answers.asking,
            on_worker=self.on_worker,
        )

    def reachable(self) -> Iterable[Session]:
        """Return the sessions whose agents ask something, the most urgent first."""
        return sorted(self.table.asking, key=by_urgency)

    def commands(self) -> Iterator[Command]:
        """Yield the commands of the command line on this screen."""
        steps, table = super().commands(), table_commands(self.pane)
        # Some names mean a step or a session: the place that has the keys decides.
        yield from (*steps, *table) if self._place is Place.TABLE else (*table, *steps)

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
        yield MessageLine()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Return True if the action applies now; an action on a row shows its own reason."""
        return action == "row" or super().check_action(action, parameters)

    def on_mount(self) -> None:
        """Show the sessions, and update their ages once a second."""
        self.set_interval(1.0, self._tick)
        self._sessions_changed()
        self._learn_default()

    def _tick(self) -> None:
        """Apply the passage of time, and mark the session seen whose end the user has before their eyes."""
        self.table.tick()
        self._show_preview()
        session = self.current
        if self.operations.desk.app.presence.has_seen(session if self._shows_the_end else None) and session is not None:
            self.mark_seen(session)

    @property
    def _shows_the_end(self) -> bool:
        """True if the newest steps of the selected session are on the screen, and the terminal has the focus."""
        steps = self.detail.steps
        return self.is_current and self.app.app_focus and steps.region.height > 0 and steps.is_vertical_scroll_end

    def on_resize(self) -> None:
        """Divide the new size."""
        set_size_classes(self)
        self._split.fit(alone=self._alone)

    def action_next_attention(self, direction: int) -> None:
        """Go to the next session that needs the user, or to the previous one; the keys stay in the same pane."""
        self.table.action_next_attention(direction)

    def go_on(self) -> None:
        """Go on to the next session that needs the user."""
        self.action_next_attention(1)

    def action_split(self, by: int) -> None:
        """Give the table ``by`` percent more of the screen; less if ``by`` is negative."""
        self._split.enlarge(by)

    def action_zoom(self) -> None:
        """Give the whole screen to the focused pane, or show both panes again."""
        self._split.zoom()

    @on(SessionsChanged)
    def _sessions_changed(self) -> None:
        changes, read_id = self._feed.take(), self._read_id
        read = self.current if self.detail.has_focus_within else None
        with self.app.batch_update():
            self._tally.update(changes.updated, changes.removed)
            self._plans.show(self._feed.plans)
            removed = [key for key in changes.removed if key not in self.pane.away.ids]
            # Steps that arrive while the user reads the session never count as new.
            updated = [
                structs.replace(one, seen_steps=one.steps) if one.id == read_id else one for one in changes.updated
            ]
            self.table.update_rows(updated, removed)
            self.pane.away.changed(changes)
            self.show_words()
        self.pane.sessions_changed()
        self.answers.changed()
        if read is not None and read.id in removed and not self.operations.putting_away.is_own(read.id):
            self._say_gone(read)
        self._select_awaited()
        selected = self.table.selected
        changed = next((session for session in changes.updated if selected and session.id == selected.id), None)
        if changed is not None:
            self.detail.viewer.read_on()
            self.detail.read_queue(changed)
            if changed.id == self._read_id:
                self.mark_seen(changed)

    def _say_gone(self, session: Session) -> None:
        """Say that the session that the user reads or writes to is gone, and give the keys to the table."""
        from agentdash.tui.dialogs.gone import GoneScreen

        drafted = isinstance(self.focused, PromptInput) and bool(self.operations.desk.drafts.get(session.id))
        self.give_keys(self.table)
        self.app.push_screen(GoneScreen(session, self._reader.get, drafted=drafted))

    def _plan_ended(self) -> None:
        """Take a window that has ended out of the first line."""
        self._plans.show(self._feed.plans)
        self.show_words()

    @on(SessionAwaited)
    def _select_awaited(self) -> None:
        awaited = self.table.session(self.operations.desk.awaited or "")
        # A view of the archive or the trash still has the row from before the session was restored.
        if awaited is not None and not awaited.put_away:
            self.operations.desk.awaited = None
            self.table.select(awaited.id)
            self.table.let_go()

    def show_other(self, session_id: str, step: tuple[int, int] | None) -> None:
        """Select another session, and show one of its steps."""
        self._show_session(session_id, step)

    def _show_session(self, session_id: str, step: tuple[int, int] | None) -> bool:
        """Select a session and show one of its steps; return False, with the reason on the screen, if it has no row."""
        self.table.reveal(session_id)
        if self.table.position(session_id) is None:
            self.requests.show_refusal(conversation_texts.NOT_IN_TABLE)
            return False
        if step is not None:
            self.detail.viewer.open_at(session_id, *step)
        self.table.select(session_id)
        return True

    def pane_for(self, session: Session) -> SessionPane | None:
        """Select a session; a filter that hides it is left."""
        self.table.reveal(session.id)
        while self.table.position(session.id) is None and self.pane.step_back():
            pass
        return self.detail if self._show_session(session.id, None) else None

    @on(WorkersAsked)
    def _workers_asked(self, event: WorkersAsked) -> None:
        if self.current is not None and self.current.id == event.session_id:
            self.run_worker(self._ways.down(event.session_id, event.step, event.workers))

    @work
    async def action_to_lead(self) -> None:
        """Go to the step of its lead that started the session."""
        if self.current is not None and await self._ways.up(self.current):
            self.go_to_steps()

    @on(SessionTable.Highlighted)
    def _highlighted(self, event: SessionTable.Highlighted) -> None:
        session = self.table.session(event.session_id) if event.session_id else None
        self._ways.moved(event.session_id)
        self.answers.session_shown(event.session_id)
        self.detail.open(session)
        self._note_selected()
        if session is not None and session.id == self._read_id:
            self.mark_seen(session)
        self.show_words()

    def _note_selected(self) -> None:
        """Record the selected session for those who follow the table, once the user stops moving."""
        if self._selected is not None and self._selected.wanted:
            if self._settling is not None:
                self._settling.stop()
            self._settling = self.set_timer(SETTLED_SECONDS, self._record_selected)

    @work(group="selected")
    async def _record_selected(self) -> None:
        if self._selected is not None:
            await asyncio.to_thread(self._selected.show, self.current.id if self.current is not None else None)

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
        """Leave a search or a filter, one at a time; else go from a worker to its lead, or to the table."""
        if self.detail.viewer.step_back() or (self.pane.has_focus_within and self.pane.step_back()):
            return
        if self.detail.has_focus_within and self._ways.back(self.current.id if self.current else None):
            return
        self.give_keys(self.table)

    def action_row(self, action: str) -> None:
        """Do from the table what the same key does in the steps: with the last answer of the selected session."""
        viewer, session = self.detail.viewer, self.current
        if session is None:
            self.requests.show_message("No session selected.")
        elif action == "changes":
            viewer.action_changes()
        elif action == "export":
            viewer.action_export()
        elif action in ("fork", "compact"):
            viewer.action_conversation(action)
        elif action == "explain":
            viewer.open_document("explain")
            viewer.pane.back_to = partial(self.give_keys, self.table)
            self.give_keys(viewer.pane)
        else:
            self._pass_answer(action, session)

    @work
    async def _pass_answer(self, action: str, session: Session) -> None:
        """Copy the last answer or open it in another program, where the user reads it."""
        answered = await self.detail.viewer.actions.on_answer(action, session.id, self.app)
        if answered and action in ("page_step", "edit_step"):
            self.mark_seen(session)

    def action_on_target(self, action: str) -> None:
        """Do the action, unless it needs no question and was meant for a row that went away after the key was typed."""
        if action != "archive" or self.table.marked or self.operations.desk.app.key_time > self.table.replaced_at:
            super().action_on_target(action)

    @work
    async def action_pin(self) -> None:
        """Pin the chosen sessions above the others, or unpin them."""
        self.table.let_go()
        await self.operations.pin_chosen(self.target.chosen)

    @work
    async def action_mark_read(self) -> None:
        """Mark the chosen sessions read, or unread if all are read."""
        await self.operations.mark_chosen(self.target.chosen)

    @work
    async def action_retry_failed(self) -> None:
        """Send the last prompt of all failed sessions of the table again, after a question if there are several."""
        failed = [session for session in self.table.listed if session.status in (Status.FAILED, Status.LOST)]
        if failed:
            await self.operations.prompts.retry_chosen(failed, failed[0])
        else:
            self.requests.show_refusal("No failed session in the table.")

    @work
    async def action_undo(self) -> None:
        """Restore the chosen sessions from the archive or the trash; if none is there, undo the last move there."""
        away = [session.id for session in self.target.chosen if session.put_away]
        if away:
            self.table.unmark()
            self.table.let_go()
            await self.operations.putting_away.restore(away)
        else:
            await self.operations.putting_away.undo()

    @on(TablePane.ChoiceLeft)
    def action_usage(self) -> None:
        """Show what sessions used."""
        self._usage.open(self.keymap, partial(self.give_keys, self.table))

    def action_beside(self) -> None:
        """Show the marked sessions, or the selected one, side by side on a screen of their own."""
        from agentdash.tui.screens.watch import MOST, WatchScreen

        chosen = self.table.marked or ([self.current] if self.current is not None else [])
        if len(chosen) > MOST:
            self.requests.show_refusal(f"{len(chosen)} sessions marked: at most {MOST} fit side by side.")
            return
        self.table.unmark()
        screen = WatchScreen(self._reader, self.requests, self.operations, chosen, clock=self._clock)
        self.app.push_screen(screen)

    @work
    async def _learn_default(self) -> None:
        await self.operations.starting.learn_default()
        self.keys_changed()

    def keys_changed(self) -> None:
        """Show the new keys, also in the lines of an empty table."""
        self.pane.show_agents(self.operations.starting.agents, self.keymap)
        self.detail.show_when_empty(daily_keys(self.keymap))
        super().keys_changed()

    @property
    def _read_id(self) -> str | None:
        """The id of the session whose steps the user reads now."""
        return self.current.id if self.current is not None and self.detail.viewer.has_focus_within else None

    @on(SessionTable.Marked)
    def show_words(self) -> None:
        """Update counts, headline, the prompt's label and the valid keys."""
        place = "" if self.pane.bar.display else self.table.cursor_place
        self.status.show(self._tally, self.where, self._plans.words, place)
        self.show_texts(self.detail, self.current, self.target)
        self._show_preview()
        super().show_words()

    def _show_preview(self) -> None:
        session = self.current
        text = in_full(session, self._clock(), lines=self.table.row_lines) if session is not None else ""
        self.pane.show_preview(text)
