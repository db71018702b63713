"""The main screen: the table of sessions, the steps of the selected one, and a prompt for it."""

import asyncio
from collections.abc import Callable
from pathlib import Path

from textual import on, work
from textual.app import ComposeResult
from textual.containers import Container
from textual.content import Content
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Static

from ...sessions.manager import SessionManager
from ...sessions.model import Session
from ...widgets.line import Line
from ...widgets.prompt_box import PromptInput
from ...widgets.session_table import SessionTable
from ...widgets.signs import UNICODE, Signs
from ...widgets.status_line import StatusLine, Tally
from ...widgets.words import place
from .. import sayings
from ..actions import WRITING, bindings, footer, possible
from ..detail import Detail
from ..feed import Feed
from ..messages import SessionsChanged
from ..operations import Operations
from ..requests import Requests
from ..viewer import Viewer
from .help import HelpScreen
from .processes import ProcessesScreen


class MainScreen(Screen[None]):
    """Wires the panes to each other and to what the keys ask for."""

    BINDINGS = bindings()
    AUTO_FOCUS = "#table"

    def __init__(
        self,
        manager: SessionManager,
        feed: Feed,
        requests: Requests,
        operations: Operations,
        *,
        clock: Callable[[], int],
        signs: Signs = UNICODE,
        tour: sayings.Tour = (),
    ) -> None:
        super().__init__()
        self._where = place(str(manager.home))
        self._feed = feed
        self._operations = operations
        self._tally = Tally()
        self._sending = asyncio.Lock()
        self._came_from: Widget | None = None
        self.status = StatusLine(signs=signs, id="status")
        self.table = SessionTable(clock, signs=signs, id="table")
        self.detail = Detail(manager, requests, signs, clock=clock, hint=sayings.tour_line(tour))
        self._tour = tour
        self.keys = Line(signs=signs, id="keys")
        self.too_small = Static("", id="too-small", markup=False)

    def compose(self) -> ComposeResult:
        """Status line, the two panes, and the keys that can be pressed now."""
        yield self.status
        with Container(id="body"):
            yield self.table
            yield self.detail
        yield self.keys
        yield self.too_small

    def on_mount(self) -> None:
        """Ages are looked at once a second; nothing else moves by itself."""
        self.table.show_when_empty(sayings.EMPTY)
        self.set_interval(1.0, self.table.tick)
        self._sessions_changed()
        self._learn_default()

    def on_resize(self) -> None:
        """Lines that are made for a width are made again."""
        self.too_small.update(f"{self.size.width}x{self.size.height} is too small: 30x8 at least.")
        self.call_after_refresh(self._show_words)

    def on_descendant_focus(self) -> None:
        """Other keys are valid in the prompt."""
        self._show_words()

    @on(Detail.Resized)
    def _detail_resized(self) -> None:
        self._show_words()

    @on(SessionsChanged)
    def _sessions_changed(self) -> None:
        changes = self._feed.take()
        with self.app.batch_update():
            self._tally.update(changes.updated, changes.removed)
            self.table.update_rows(changes.updated, changes.removed)
            self._show_words()
        awaited = self._operations.awaited
        if awaited is not None and self.table.session(awaited) is not None:
            self._operations.awaited = None
            self.table.select(awaited)
        selected = self.table.selected
        if selected is not None and any(session.id == selected.id for session in changes.updated):
            self.detail.viewer.read_on()
            self._look(reading=self.detail.steps.has_focus)

    @on(SessionTable.Highlighted)
    def _highlighted(self, event: SessionTable.Highlighted) -> None:
        self.detail.open(self.table.session(event.session_id) if event.session_id else None)
        self._show_words()

    @on(SessionTable.Opened)
    def _opened(self) -> None:
        self._uncover()
        self.detail.steps.focus()
        self._look(reading=True)

    @on(Viewer.Changed)
    def _viewer_changed(self) -> None:
        self._show_words()

    @on(PromptInput.Left)
    def _prompt_left(self) -> None:
        back = self._came_from if self._came_from is not None and self._came_from.can_focus else self.table
        if back is self.table:
            self.remove_class("-detail")
        back.focus()

    @on(PromptInput.Sent)
    def _prompt_sent(self, event: PromptInput.Sent) -> None:
        if event.text.strip():
            self._send(event.text, self.table.selected)

    @work(group="send")
    async def _send(self, text: str, session: Session | None) -> None:
        async with self._sending:  # one after the other: the second may have to wait for the session of the first
            sent = await self._operations.send(session, text, str(Path.cwd()))
        if sent:
            self.detail.prompt.accepted(text)
            self.detail.steps.following = True
        else:
            self.detail.prompt.give_back(text)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:  # noqa: ARG002
        """A key that makes no sense for the selected session does nothing."""
        return possible(action, self.table.selected)

    def action_quit(self) -> None:
        """Leave; the sessions go on."""
        self.app.exit()

    def action_help(self) -> None:
        """Show all keys."""
        self.app.push_screen(HelpScreen(self._tour))

    def action_back(self) -> None:
        """Out of a search, from the steps to the table; from the table nowhere."""
        if self.detail.viewer.end_search():
            return
        self.remove_class("-detail")
        self.table.focus()

    def action_write_prompt(self) -> None:
        """Go to the prompt."""
        self._came_from = self.focused
        self._uncover()
        self.detail.prompt.input.focus()
        self._learn_history()

    def action_follow(self) -> None:
        """Follow the newest step, or stop following."""
        self.detail.steps.following = not self.detail.steps.following

    @work
    async def action_new_session(self) -> None:
        """Ask what to start; the selected session's folder is the first guess."""
        selected = self.table.selected
        await self._operations.ask_what_to_start(selected.cwd if selected else str(Path.cwd()))

    @work
    async def action_new_like(self) -> None:
        """Ask what to start, filled in like the selected session."""
        if (session := self.table.selected) is not None:
            await self._operations.ask_what_to_start(session.cwd, session)

    async def action_mouse(self) -> None:
        """Mouse on or off."""
        await self.app.run_action("app.mouse")

    async def action_theme(self) -> None:
        """The next theme."""
        await self.app.run_action("app.theme")

    @work
    async def action_stop(self) -> None:
        """Stop the selected session after a question."""
        if (session := self.table.selected) is not None:
            await self._operations.stop(session)

    @work
    async def action_kill(self) -> None:
        """Stop the selected session at once."""
        if (session := self.table.selected) is not None:
            await self._operations.stop(session, now=True)

    @work
    async def action_delete(self) -> None:
        """Move the selected session to the trash after a question."""
        if (session := self.table.selected) is not None:
            await self._operations.delete(session)

    @work
    async def action_archive(self) -> None:
        """Put the selected session out of the way."""
        if (session := self.table.selected) is not None:
            await self._operations.archive(session)

    @work
    async def action_undo(self) -> None:
        """Bring back what was deleted or archived last."""
        await self._operations.undo()

    @work
    async def action_processes(self) -> None:
        """Show what the selected session runs, and what that costs."""
        if (session := self.table.selected) is not None:
            self.app.push_screen(ProcessesScreen(sayings.title(session), self._operations.processes_of(session)))

    @work
    async def action_retry(self) -> None:
        """Send the last prompt of the selected session again."""
        if (session := self.table.selected) is not None and await self._operations.retry(session):
            self.detail.steps.following = True

    @work
    async def _learn_default(self) -> None:
        await self._operations.learn_default()
        self._show_words()

    @work(exclusive=True, group="history")
    async def _learn_history(self) -> None:
        self.detail.prompt.input.recall.learn(await self._operations.earlier_prompts())

    def _uncover(self) -> None:
        """Bring the detail pane to the front where only one pane has room."""
        self.add_class("-detail")

    def _look(self, *, reading: bool) -> None:
        """Somebody reads the selected session: it needs no attention any more."""
        session = self.table.selected
        if reading and session is not None and session.attention:
            self.run_worker(self._operations.seen(session))

    def _show_words(self) -> None:
        """Counts, headline, the prompt's label and the valid keys, as they are now."""
        session = self.table.selected
        self.status.show(self._tally, self._where)
        asked = self._operations
        target = sayings.target(session, asked.default_agent, str(Path.cwd()), installed=asked.default_installed)
        self.detail.say(session, target)
        writing = isinstance(self.focused, PromptInput)
        shown = WRITING if writing else footer(session, self.size.width)
        pairs = [Content.assemble((key, "bold $foreground"), f" {label}") for key, label in shown]
        self.keys.say(Content("   ").join(pairs))
