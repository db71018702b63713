"""All actions of the user on sessions, and those that a key runs on the sessions it acts on."""

from collections.abc import Callable, Coroutine, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from agentdash.sessions.model.session import Session
from agentdash.sessions.text import units
from agentdash.tui.keys.availability import ActionTarget
from agentdash.tui.services.actions.adjust_actions import AdjustActions, ChainActions
from agentdash.tui.services.actions.ask_actions import AskActions
from agentdash.tui.services.actions.bulk_actions import BulkActions
from agentdash.tui.services.actions.conversation_actions import ConversationActions
from agentdash.tui.services.actions.ending.stop_actions import PutAwayActions, StopActions
from agentdash.tui.services.actions.prompt_actions import Broadcasts, PromptActions
from agentdash.tui.services.actions.prompt_tools import PromptWriting
from agentdash.tui.services.actions.starting.start_actions import ContinueActions, StartActions
from agentdash.tui.services.desk import Actions, Desk
from agentdash.tui.services.own_interface import OwnInterfaces
from agentdash.tui.texts import act_texts
from agentdash.tui.texts import screen_texts as texts
from agentdash.widgets.drawing.short_forms import place
from agentdash.widgets.inputs.history import History


class SessionActions(Actions):
    """The actions of the user on sessions, those of one kind together in an attribute."""

    def __init__(self, desk: Desk, *, stay_in_prompt: bool = False) -> None:
        super().__init__(desk)
        self.desk = desk
        self.stay_in_prompt = stay_in_prompt
        """True if the prompt keeps the keys after it was sent."""
        self.read_only = desk.access.read_only
        """True if every change is refused."""
        self.asks = AskActions(desk)
        """The questions of live agents."""
        self.bulk = BulkActions(desk)
        """The same actions for several sessions at once."""
        self.broadcasts = Broadcasts(desk, self.bulk)
        """One prompt to several sessions."""
        self.writing = PromptWriting(desk)
        """Tools for writing a prompt."""
        self.prompts = PromptActions(desk, self.bulk)
        """Prompts to sessions, and their queues."""
        self.continuing = ContinueActions(desk)
        """Conversations that go on in a new session."""
        self.adjust = AdjustActions(desk)
        """The model and the mode of sessions."""
        self.chains = ChainActions(desk)
        """The sessions that wait for the end of others."""
        self.starting = StartActions(desk, self.writing)
        """New sessions."""
        self.stopping = StopActions(desk, self.bulk)
        """The end of sessions."""
        self.putting_away = PutAwayActions(desk, self.bulk, self.stopping)
        """The archive and the trash."""
        self.interfaces = OwnInterfaces(desk)
        """The agents' own interfaces."""
        self.conversation = ConversationActions(desk)
        """Forks, steps back and summaries of conversations."""
        self.command_history = History()
        """The history of the command line."""

    def ask_for_title(self, session: Session) -> None:
        """Open the dialog with the session's title."""

        def rename_to(title: str) -> Session:
            return self._access.manager("rename").housekeeping.rename(session.id, title)

        async def rename(title: str) -> str | None:
            after, reason = await self._requests.outcome(rename_to, title)
            if after is not None:
                self._requests.show_message(act_texts.renamed(session, after))
            return reason

        from agentdash.tui.dialogs.asking.naming import RenameScreen

        self._app.push_screen(RenameScreen(session.label, rename))

    async def pin_chosen(self, sessions: Sequence[Session]) -> None:
        """Pin the sessions; unpin them if all are pinned."""
        pinned = not all(session.pinned_at for session in sessions)
        if len(sessions) > 1:
            went = await self.bulk.pin(sessions, pinned, undo_key=self.desk.keymap.name("undo"))
            if went:
                self.putting_away.remember(lambda: self.bulk.pin_again(went, not pinned))
        elif sessions:
            call = partial(self._access.manager("pin").housekeeping.pin, sessions[0].id, pinned)
            if await self._requests.done(call):
                self._requests.show_message(act_texts.did("Pinned" if pinned else "Unpinned", sessions[0]))

    async def mark_chosen(self, sessions: Sequence[Session]) -> None:
        """Mark the sessions read; mark them unread if all are read."""
        seen = not all(session.all_seen for session in sessions)
        changing = [session for session in sessions if (not session.all_seen if seen else session.status.ended)]
        if len(changing) > 1:
            went = await self.bulk.mark(changing, seen, undo_key=self.desk.keymap.name("undo"))
            if went:
                self.putting_away.remember(lambda: self.bulk.recall_seen(went))
        elif changing:
            call = partial(self._access.manager("mark read").housekeeping.mark_all_seen, [changing[0].id], seen=seen)
            if await self._requests.done(call):
                how = " read" if seen else " unread"
                self._requests.show_message(act_texts.did("Marked", changing[0], how=how))

    async def save(self, session_id: str, path: str, replace: bool) -> tuple[bool, str | None]:
        """Write a session to a file; return whether the file exists already, and the reason if it was not written."""
        # Only saving needs the writers.
        from agentdash.sessions.transcript.export.formats import format_of
        from agentdash.sessions.transcript.export.saving import ExistsError, save

        def write() -> tuple[Session, Path, int]:
            target, session = Path(path).expanduser().absolute(), self._reader.get(session_id)
            steps, has_cut = self._reader.steps.each_step(session_id), self._reader.steps.shown(session_id).has_cut
            pieces = format_of(target).write(session, steps, self._reader.turns(session_id), has_cut)
            return session, target, save(target, pieces, force=replace)

        try:
            written, reason = await self._requests.outcome(write, passing=ExistsError)
        except ExistsError as error:
            return True, str(error)
        if written is not None:
            session, target, size = written
            self._requests.show_message(act_texts.exported(session, place(str(target)), units.size(size)))
        return False, reason

    def show_processes(self, session: Session) -> None:
        """Open the dialog with the session's processes."""
        from agentdash.tui.dialogs.processes import ProcessesScreen

        read = partial(self._requests.ask, self._reader.processes, session.id)
        self._app.push_screen(ProcessesScreen(texts.title(session), read))

    async def seen(self, session: Session) -> None:
        """Mark the session seen as of this snapshot; later steps stay unread."""
        if not self.read_only:
            await self._requests.ask(
                lambda: self._access.manager("mark seen").housekeeping.mark_seen(session.id, session.steps)
            )


Act = Callable[[SessionActions, ActionTarget], Coroutine[Any, Any, None] | None]
"""Begins an action; returns the rest of it, if it goes on in a worker."""


def _on_current(act: Callable[[SessionActions, Session], Coroutine[Any, Any, None] | None]) -> Act:
    """Return the action that acts on the session under the cursor, and does nothing without one."""
    return lambda operations, target: act(operations, target.current) if target.current is not None else None


TARGET_ACTIONS: Mapping[str, Act] = {
    "new_session": lambda operations, target: operations.starting.ask_what_to_start(
        target.current.cwd if target.current is not None else str(Path.cwd())
    ),
    "new_like": _on_current(lambda operations, session: operations.starting.ask_what_to_start(session.cwd, session)),
    "new_after": _on_current(
        lambda operations, session: operations.starting.ask_what_to_start(session.cwd, after=session)
    ),
    "start_waiting": _on_current(lambda operations, session: operations.chains.start(session)),
    "wait_for": _on_current(lambda operations, session: operations.chains.choose(session)),
    "continue": _on_current(lambda operations, session: operations.continuing.ask(session)),
    "stop": lambda operations, target: operations.stopping.stop_chosen(target.chosen),
    "kill": lambda operations, target: operations.stopping.kill_chosen(target.chosen, target.current),
    "interrupt_turn": _on_current(lambda operations, session: operations.prompts.interrupt(session)),
    "mode": _on_current(lambda operations, session: operations.adjust.choose_mode(session)),
    "take_over": _on_current(lambda operations, session: operations.interfaces.take_over(session)),
    "delete": lambda operations, target: operations.putting_away.delete_chosen(target.chosen),
    "archive": lambda operations, target: operations.putting_away.archive_chosen(target.chosen, target.current),
    "rename": _on_current(SessionActions.ask_for_title),
    "trust": lambda operations, target: operations.starting.review_project(
        target.current.cwd if target.current else ""
    ),
    "processes": _on_current(SessionActions.show_processes),
}
"""The actions by their ids in the registry."""
