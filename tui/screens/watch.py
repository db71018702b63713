"""One to four sessions on a screen of their own: ``agentdash watch``, and ``|`` in the dashboard."""

from collections.abc import Callable, Iterable, Sequence

from textual import on, work
from textual.app import ComposeResult
from textual.containers import Container
from textual.widget import Widget

from agentdash.sessions.model.session import Session
from agentdash.sessions.service.reader import SessionReader
from agentdash.tui.dialogs.gone import GoneScreen
from agentdash.tui.keys.actions import watch_bindings
from agentdash.tui.keys.availability import ActionTarget
from agentdash.tui.messages import SessionsChanged
from agentdash.tui.panes.session_pane import SessionPane
from agentdash.tui.screens.session_screen import SessionScreen
from agentdash.tui.services.actions.session_actions import SessionActions
from agentdash.tui.services.background import Requests
from agentdash.widgets.drawing.text_lines import MessageLine
from agentdash.widgets.inputs.prompt_box import PromptInput

MOST = 4
"""Sessions that fit side by side."""


class WatchScreen(SessionScreen):
    """The steps of some sessions, each with its own position, filter and search; a key moves only one of them."""

    BINDINGS = watch_bindings()
    AUTO_FOCUS = "Trajectory"

    def __init__(
        self,
        reader: SessionReader,
        requests: Requests,
        operations: SessionActions,
        sessions: Sequence[Session],
        *,
        clock: Callable[[], int],
    ) -> None:
        super().__init__(reader, requests, operations, clock=clock)
        self._sessions = list(sessions)
        self._gone: set[str] = set()
        """Ids of the sessions that no longer exist, which was said."""
        self.details = [
            SessionPane(reader, requests, self._programs, operations.desk.drafts, clock=clock, id=f"pane-{number}")
            for number in range(len(sessions))
        ]
        self.set_class(len(self.details) > 1, "-several")
        self.set_class(len(self.details) > 2, "-many")

    def compose(self) -> ComposeResult:
        """Yield the panes, and the keys that are valid now."""
        with Container(id="panes"):
            yield from self.details
        yield self.foot
        yield self.too_small
        yield MessageLine()

    def on_mount(self) -> None:
        """Open each session in its pane."""
        for pane, session in zip(self.details, self._sessions, strict=True):
            pane.open(session)
            self.mark_seen(session)
        self.show_words()

    @property
    def current(self) -> Session | None:
        """The session of the focused pane."""
        return self._sessions[self.details.index(self.detail)]

    def reachable(self) -> Iterable[Session]:
        """Return the sessions of the panes."""
        return self._sessions

    def pane_for(self, session: Session) -> SessionPane | None:
        """Give the keys to the pane of a session."""
        number = next(at for at, one in enumerate(self._sessions) if one.id == session.id)
        self.set_focus(self.details[number].steps)
        return self.details[number]

    @property
    def reading(self) -> frozenset[str]:
        """Ids of all sessions: they are side by side."""
        return frozenset(session.id for session in self._sessions)

    def make_room(self, widget: Widget) -> None:
        """Show a prompt while it has the keys; a draft stays in its prompt."""
        for pane in self.details:
            pane.set_class(pane is self.detail and isinstance(widget, PromptInput), "-writing")

    def show_words(self) -> None:
        """Update headlines, labels and valid keys."""
        for pane, session in zip(self.details, self._sessions, strict=True):
            self.show_texts(pane, session, ActionTarget(session, [session]))
        super().show_words()

    @on(SessionsChanged)
    @work(exclusive=True, group="sessions")
    async def _look_again(self) -> None:
        """Update the shown sessions from the store."""
        for number, session in enumerate(self._sessions):
            newest, reason = await self.requests.outcome(self._reader.get, session.id)
            if reason is not None and session.id not in self._gone:
                self._gone.add(session.id)
                self.app.push_screen(GoneScreen(session, self._reader.get, drafted=False))
            if newest is not None and (newest.queued or newest != session):
                self.details[number].read_queue(newest)
            if newest is not None and newest != session:
                self._sessions[number] = newest
                self.details[number].viewer.read_on()
                self.mark_seen(newest)
        self.answers.changed()
        self.show_words()

    async def action_back(self) -> None:
        """Leave a pane or a search, one at a time; else go back to the previous screen."""
        if self.detail.viewer.step_back():
            return
        if len(self.app.screen_stack) > 1:
            self.dismiss()

    def action_quit(self) -> None:
        """Leave the screen; the sessions keep running."""
        if len(self.app.screen_stack) > 1:
            self.dismiss()
        else:
            self.app.exit()

    def action_next_pane(self, direction: int) -> None:
        """Give the keys to the next pane in this direction."""
        number = (self.details.index(self.detail) + direction) % len(self.details)
        self.set_focus(self.details[number].steps)
