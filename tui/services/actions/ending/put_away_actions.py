"""The way of sessions to the archive and the trash, and back."""

from collections.abc import Awaitable, Callable, Sequence

from agentdash.sessions.model.session import Session
from agentdash.sessions.service.lifecycle.session_ref import held_elsewhere
from agentdash.tui.dialogs.asking.confirm import Answer
from agentdash.tui.services.actions.bulk_actions import BulkActions
from agentdash.tui.services.actions.ending.stop_actions import StopActions
from agentdash.tui.services.desk import Actions, Desk
from agentdash.tui.texts import screen_texts as texts
from agentdash.tui.texts.takeover_texts import archived_of, put_away_warning

Undo = Callable[[], Awaitable[object]]
"""Undoes what a key did."""


class PutAwayActions(Actions):
    """Deletes, archives and restores sessions, and undoes what this dashboard put away."""

    def __init__(self, desk: Desk, bulk: BulkActions, stopping: StopActions) -> None:
        super().__init__(desk)
        self._bulk = bulk
        self._stopping = stopping
        self._undoable: list[list[str] | Undo] = []
        """The sessions that each key put away, or what undoes its act in another way; the newest key last."""

    async def delete_chosen(self, sessions: Sequence[Session]) -> None:
        """Delete one session with its own dialogs, several with one question."""
        if len(sessions) == 1:
            await self.delete(sessions[0])
        elif sessions:
            self._remember(await self._bulk.delete(sessions, undo_key=self.desk.keymap.name("undo")))

    async def archive_chosen(self, sessions: Sequence[Session], current: Session | None) -> None:
        """Archive sessions; only the current session is archived without a question."""
        if sessions == [current]:
            await self.archive(sessions[0])
        elif sessions:
            self._remember(await self._bulk.archive(sessions, undo_key=self.desk.keymap.name("undo")))

    async def delete(self, session: Session) -> None:
        """Delete a session after a question; a running one is stopped first, with a receipt."""
        if self._refused_by_hand("delete", session):
            return
        consequence = f"{texts.trash([session])} {self._undo_hint(session)}"
        if warning := put_away_warning([session]):
            consequence = f"{warning}\n{consequence}"
        preview, answer = await self._stopping.confirmed("Delete", session, lambda _: consequence)
        if answer is Answer.NO:
            return
        if session.has_process and await self._stopping.end(session, preview) is None:
            return
        async with self._bulk.moving:
            deleted = await self._requests.done(lambda: self._access.manager("delete").delete(session.id))
            self._remember([session.id] if deleted else [])
        if deleted:
            self._requests.show_message(f'Deleted "{texts.title(session)}". {self._undo_hint(session)}')

    async def archive(self, session: Session) -> None:
        """Archive a session."""
        if self._refused_by_hand("archive", session):
            return
        async with self._bulk.moving:
            if any(session.id in batch for batch in self._undoable if isinstance(batch, list)):
                return  # a second press, before the row is gone
            archived = await self._requests.done(
                lambda: self._access.manager("archive").housekeeping.archive(session.id)
            )
            self._remember([session.id] if archived else [])
        if archived:
            message = f'Archived "{texts.title(session)}". {self._undo_hint(session)} {archived_of(session)}'
            self._requests.show_message(message.rstrip())

    def _refused_by_hand(self, action: str, session: Session) -> bool:
        """Return whether a user of this machine has the session by hand, and name that user."""
        refused = session.taken_by is not None and held_elsewhere(session) is None
        if refused:
            self._requests.show_refusal(texts.why_not(action, session, read_only=False))
        return refused

    async def undo(self) -> None:
        """Restore the sessions that this dashboard last deleted or archived; wait if that is still in progress."""
        if self._bulk.moving.locked():
            self._requests.show_message("Busy: undo runs next.")
            async with self._bulk.moving:
                pass
        if not self._undoable:
            self._requests.show_refusal("Nothing to undo.")
            return
        last = self._undoable[-1]
        if isinstance(last, list):
            await self.restore(last)
        else:
            self._undoable.pop()
            await last()

    async def restore(self, session_ids: Sequence[str]) -> None:
        """Restore sessions from the archive or the trash."""
        ids = list(session_ids)
        back = await self._bulk.restore(ids)
        returned = {session.id for session in back}
        known = [
            [key for key in batch if key not in returned] if isinstance(batch, list) else batch
            for batch in self._undoable
        ]
        self._undoable = [batch for batch in known if batch]
        if back:
            self.desk.select(back[0])

    def is_own(self, session_id: str) -> bool:
        """Return whether this dashboard put the session away, or may be doing it now."""
        batches = (batch for batch in self._undoable if isinstance(batch, list))
        return self._bulk.moving.locked() or any(session_id in batch for batch in batches)

    def remember(self, undo: "Undo") -> None:
        """Record what undoes an act of one key that put nothing away."""
        self._undoable.append(undo)

    def _undo_hint(self, session: Session) -> str:
        return texts.undoable([session], self.desk.keymap.name("undo"))

    def _remember(self, session_ids: list[str]) -> None:
        """Record sessions that one key put away, so that one undo restores them."""
        if session_ids:
            self._undoable.append(session_ids)
