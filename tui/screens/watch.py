"""One to four sessions on a screen of their own: ``agentdash watch``, and ``|`` in the dashboard."""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from itertools import zip_longest

from textual import on, work
from textual.app import ComposeResult
from textual.containers import Container
from textual.widget import Widget

from agentdash.sessions.model.session import Session
from agentdash.sessions.service.reader import SessionReader
from agentdash.sessions.service.selected import Followed, Follower
from agentdash.tui.dialogs.gone import GoneScreen
from agentdash.tui.keys.actions import watch_bindings
from agentdash.tui.keys.availability import ActionTarget
from agentdash.tui.messages import SelectionChanged, SessionsChanged
from agentdash.tui.panes.session_pane import SessionPane
from agentdash.tui.screens.session_screen import SessionScreen
from agentdash.tui.services.actions.session_actions import SessionActions
from agentdash.tui.services.background import Requests
from agentdash.widgets.drawing.text_lines import MessageLine
from agentdash.widgets.inputs.prompt_box import PromptInput

MOST = 4
"""Sessions that fit side by side."""

NOTHING_SELECTED = "No session is selected in the table."


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
            for number in range(max(1, len(sessions)))
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
        for pane, session in zip(self.details, self._sessions, strict=False):
            pane.open(session)
            self.mark_seen(session)
        self.show_words()

    @property
    def current(self) -> Session | None:
        """The session of the focused pane; None if it waits for one."""
        number = self.details.index(self.detail)
        return self._sessions[number] if number < len(self._sessions) else None

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
        for pane, session in zip_longest(self.details, self._sessions):
            self.show_texts(pane, session, ActionTarget(session, [session] if session is not None else []))
        super().show_words()

    @on(SessionsChanged)
    @work(exclusive=True, group="sessions")
    async def _look_again(self) -> None:
        """Update the shown sessions from the store."""
        for number, session in enumerate(self._sessions):
            newest, reason = await self.requests.outcome(self._reader.get, session.id)
            if reason is not None and session.id not in self._gone:
                self._gone.add(session.id)
                self.say_gone(session)
            if self._sessions[number : number + 1] != [session]:
                continue  # the pane shows another one by now
            if newest is not None and (newest.queued or newest != session):
                self.details[number].read_queue(newest)
            if newest is not None and newest != session:
                self._sessions[number] = newest
                self.details[number].viewer.read_on()
                self.mark_seen(newest)
        self.answers.changed()
        self.show_words()

    def say_gone(self, session: Session) -> None:
        """Say that a session of a pane no longer exists."""
        self.app.push_screen(GoneScreen(session, self._reader.get, drafted=False))

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


class FollowScreen(WatchScreen):
    """The session that is selected in a table of the same tmux window, or in the one with a name."""

    def __init__(
        self,
        reader: SessionReader,
        requests: Requests,
        operations: SessionActions,
        follower: Follower,
        *,
        clock: Callable[[], int],
    ) -> None:
        super().__init__(reader, requests, operations, [], clock=clock)
        self._follower = follower
        self._shown = Followed(table=True)
        """The selection that the screen shows."""

    def on_mount(self) -> None:
        """Show the selected session, and mark it seen once the user has read its end."""
        self.set_interval(1.0, self._tick)
        self.selection_changed()

    @on(SelectionChanged)
    def selection_changed(self) -> None:
        """Read what is selected in the table now."""
        self._follow()

    @work(exclusive=True, group="follow")
    async def _follow(self) -> None:
        """Show the session that is selected now, unless the user writes to the one that is shown."""
        followed = await self.requests.expect(asyncio.to_thread(self._follower.read))
        if followed is None or followed == self._shown or isinstance(self.focused, PromptInput):
            return
        session = None
        if followed.session is not None:
            session, _ = await self.requests.outcome(self._reader.get, followed.session)
        self._shown = followed
        self._open(session, NOTHING_SELECTED if followed.table else self._follower.missing)

    def _open(self, session: Session | None, missing: str) -> None:
        """Show a session, or why there is none."""
        self._sessions = [session] if session is not None else []
        self.detail.viewer.step_back()
        self.detail.show_when_empty([missing])
        self.detail.open(session)
        self.show_words()

    def on_descendant_focus(self) -> None:
        """Follow the table again after a prompt was left."""
        self.selection_changed()

    def mark_seen(self, session: Session) -> None:
        """Leave the session unread: the user may only pass by in the table."""

    def _tick(self) -> None:
        steps, session = self.detail.steps, self.current
        at_end = self.is_current and self.app.app_focus and steps.is_vertical_scroll_end
        if self.operations.desk.app.presence.has_seen(session if at_end else None) and session is not None:
            super().mark_seen(session)

    def say_gone(self, session: Session) -> None:
        """Do nothing: the table says it, and selects another one."""
