"""Actions on sessions: ask the user, call the manager in a thread, show a message or a receipt.

Errors never end the dashboard, and nothing here blocks the event loop.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from ....sessions.lifecycle.process_list import ProcessInfo
from ....sessions.model import Session
from ....sessions.reader import SessionReader
from ....sessions.text import units
from ....widgets.drawing.short_forms import place
from ....widgets.inputs.history import History
from ...keys.key_queue import KeysInOrder
from ...keys.keymap import DEFAULT, Keymap
from ...messages import SessionAwaited
from ...texts import screen_texts as texts
from ..background import Requests
from ..drafts import Drafts
from ..own_interface import OwnInterfaces
from ..write_access import WriteAccess
from .adjust_actions import AdjustActions
from .ask_actions import AskActions
from .broadcasts import Broadcasts
from .bulk_actions import BulkActions
from .chain_actions import ChainActions
from .conversation_actions import ConversationActions
from .ending.put_away_actions import PutAwayActions
from .ending.stop_actions import StopActions
from .prompt_actions import PromptActions
from .prompt_tools import PromptWriting
from .starting.continue_actions import ContinueActions
from .starting.project_actions import ProjectActions
from .starting.start_actions import StartActions


class SessionActions:
    """The actions of the user on sessions, those of one kind together in an attribute."""

    def __init__(
        self,
        app: KeysInOrder[Any],
        reader: SessionReader,
        access: WriteAccess,
        requests: Requests,
        *,
        drafts: Drafts,
        asks: AskActions,
        keymap: Keymap = DEFAULT,
    ) -> None:
        self.app = app
        self.asks = asks
        """The questions of live agents."""
        self.drafts = drafts
        """Unsent prompts."""
        self.keymap = keymap
        self.stay_in_prompt = False
        """True if the prompt keeps the keys after it was sent."""
        self.read_only = access.read_only
        """True if every change is refused."""
        self._reader = reader
        self._access = access
        self._requests = requests
        self.bulk = BulkActions(app, reader, access, requests)
        """The same actions for several sessions at once."""
        self.broadcasts = Broadcasts(self.bulk, access, requests)
        """One prompt to several sessions."""
        self.writing = PromptWriting(app, reader, requests)
        """Tools for writing a prompt."""
        self.prompts = PromptActions(app, reader, access, requests, self.bulk)
        """Prompts to sessions, and their queues."""
        self.continuing = ContinueActions(app, reader, access, requests, self._await)
        """Conversations that go on in a new session."""
        self.adjust = AdjustActions(app, reader, access, requests)
        """The model and the mode of sessions."""
        self.chains = ChainActions(app, reader, access, requests)
        """The sessions that wait for the end of others."""
        self.starting = StartActions(
            app,
            reader,
            access,
            requests,
            drafts=drafts,
            projects=ProjectActions(app, reader, access, requests),
            writing=self.writing,
            keymap=lambda: self.keymap,
            begun=self._await,
        )
        """New sessions."""
        self.stopping = StopActions(app, reader, access, requests, self.bulk)
        """The end of sessions."""
        self.putting_away = PutAwayActions(access, requests, self.bulk, self.stopping, lambda: self.keymap, self._await)
        """The archive and the trash."""
        self.interfaces = OwnInterfaces(app, access, requests)
        """The agents' own interfaces."""
        self.conversation = ConversationActions(app, access, requests, drafts, self._await)
        """Forks, steps back and summaries of conversations."""
        self.command_history = History()
        """The history of the command line."""
        self.awaited: str | None = None
        """A session that was just started or restored; it is selected as soon as it is in the table."""

    def _await(self, session: Session) -> None:
        """Have the table select a session; its row can be there already, or still to come."""
        self.awaited = session.id
        for screen in self.app.screen_stack:
            screen.post_message(SessionAwaited())

    def refuse(self, reason: str) -> None:
        """Show why a request changed nothing."""
        self._requests.show_refusal(reason)

    def ask_for_title(self, session: Session) -> None:
        """Open the dialog with the session's title."""

        def rename_to(title: str) -> Session:
            return self._access.manager("rename").housekeeping.rename(session.id, title)

        async def rename(title: str) -> str | None:
            return (await self._requests.outcome(asyncio.to_thread(rename_to, title)))[1]

        from ...dialogs.asking.rename import RenameScreen

        self.app.push_screen(RenameScreen(session.label, rename))

    async def pin_chosen(self, sessions: Sequence[Session]) -> None:
        """Pin the sessions; unpin them if all are pinned."""
        pinned = not all(session.pinned_at for session in sessions)
        if len(sessions) > 1:
            went = await self.bulk.pin(sessions, pinned, undo_key=self.keymap.name("undo"))
            if went:
                self.putting_away.remember(lambda: self.bulk.pin_again(went, not pinned))
        elif sessions:
            call = partial(self._access.manager("pin").housekeeping.pin, sessions[0].id, pinned)
            if await self._requests.done(call):
                self._requests.show_message(f'{"Pinned" if pinned else "Unpinned"} "{texts.title(sessions[0])}".')

    async def mark_chosen(self, sessions: Sequence[Session]) -> None:
        """Mark the sessions read; mark them unread if all are read."""
        seen = not all(session.all_seen for session in sessions)
        changing = [session for session in sessions if (not session.all_seen if seen else session.status.ended)]
        if len(changing) > 1:
            went = await self.bulk.mark(changing, seen, undo_key=self.keymap.name("undo"))
            if went:
                self.putting_away.remember(lambda: self.bulk.recall_seen(went))
        elif changing:
            call = partial(self._access.manager("mark read").housekeeping.mark_all_seen, [changing[0].id], seen=seen)
            if await self._requests.done(call):
                self._requests.show_message(f'Marked "{texts.title(changing[0])}" {"read" if seen else "unread"}.')

    async def save(self, session_id: str, path: str, replace: bool) -> tuple[bool, str | None]:
        """Write a session to a file; return whether the file exists already, and the reason if it was not written."""
        # Only saving needs the writers.
        from ....sessions.export.formats import format_of
        from ....sessions.export.saving import ExistsError, save

        def write() -> tuple[Path, int]:
            target = Path(path).expanduser().absolute()
            steps = self._reader.steps.each_step(session_id)
            pieces = format_of(target).write(
                self._reader.get(session_id), steps, self._reader.turns(session_id),
                self._reader.steps.shown(session_id).has_cut,
            )  # fmt: skip
            return target, save(target, pieces, force=replace)

        try:
            written, reason = await self._requests.outcome(asyncio.to_thread(write), passing=ExistsError)
        except ExistsError as error:
            return True, str(error)
        if written is not None:
            self._requests.show_message(f"Wrote {place(str(written[0]))}, {units.size(written[1])}.")
        return False, reason

    def processes_of(self, session: Session) -> Callable[[], Awaitable[list[ProcessInfo] | None]]:
        """Return a function that reads the session's processes at each call."""
        return lambda: self._requests.ask(self._reader.processes, session.id)

    async def seen(self, session: Session) -> None:
        """Mark the session seen as of this snapshot; later steps stay unread."""
        if not self.read_only:
            await self._requests.ask(
                lambda: self._access.manager("mark seen").housekeeping.mark_seen(session.id, session.steps)
            )
