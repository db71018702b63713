"""Ends of sessions: stop them with their processes, archive and delete them, and take that back."""

from collections.abc import Awaitable, Callable, Sequence
from functools import partial

from msgspec import structs

from agentdash.sessions.model.errors import AgentdashError
from agentdash.sessions.model.session import Receipt, Session, Status
from agentdash.sessions.rules.launch import Ladder
from agentdash.sessions.service.lifecycle.session_ref import held_elsewhere
from agentdash.sessions.service.lifecycle.stop_family import StopHow, StopPreview, merged
from agentdash.tui.dialogs.asking.confirm import Answer, ConfirmScreen
from agentdash.tui.services.actions.bulk_actions import BulkActions, stopped
from agentdash.tui.services.desk import Actions, Desk
from agentdash.tui.texts import act_texts, family_texts
from agentdash.tui.texts import screen_texts as texts
from agentdash.tui.texts.takeover_texts import archived_of, put_away_warning


class StopActions(Actions):
    """Stops sessions, alone or with the sessions that they started."""

    def __init__(self, desk: Desk, bulk: BulkActions) -> None:
        super().__init__(desk)
        self._bulk = bulk

    async def stop_chosen(self, sessions: Sequence[Session]) -> None:
        """Stop one session with its own dialogs, several with one question."""
        if len(sessions) == 1:
            await self.stop(sessions[0])
        elif sessions:
            await self._bulk.stop(sessions)

    async def kill_chosen(self, sessions: Sequence[Session], current: Session | None) -> None:
        """Stop sessions without a grace period; only the current session is stopped without a question."""
        if sessions == [current]:
            await self.stop(sessions[0], now=True)
        elif sessions:
            await self._bulk.kill(sessions)

    async def stop(self, session: Session, *, now: bool = False) -> None:
        """Stop a session after a question (``now``: at once, without one), and show the receipt."""
        if now:
            preview = await self._requests.ask(self._reader.stop_preview, session.id) or StopPreview()
            await self.end(session, structs.replace(preview, ladder=Ladder(interrupt=0, terminate=0)), now=True)
            return
        preview, answer = await self.confirmed(
            "Stop", session, lambda ladder: texts.stop_effect([session], texts.ladder_words(ladder)), more=True
        )
        if answer is not Answer.NO:
            await self.end(session, preview, family=answer is Answer.ALL)

    async def end(
        self, session: Session, preview: StopPreview, *, now: bool = False, family: bool = False
    ) -> Receipt | None:
        """Stop a session and show the progress; if the user left that dialog, show the receipt as one line.

        ``family`` also stops all sessions that it started; there is one receipt for all of them.
        """

        def stop(at_once: bool) -> Receipt:
            how = StopHow(now=at_once)
            if family:
                return one_receipt(session, self._access.manager("stop family").stop_family([session.id], how))
            return self._access.manager("stop").stop(session.id, how)

        ask = self._requests.ask
        from agentdash.tui.dialogs.asking.stopping import StoppingScreen

        workers = len(preview.ending) + len(preview.going_on) * family
        hurry = partial(ask, stop, True)
        heading = f'{act_texts.stop_heading(session)}"{texts.title(session)}"'
        screen = StoppingScreen(texts.title(session), preview.ladder, hurry, workers=workers, done=heading)
        self._app.push_screen(screen)
        receipt = await ask(stop, now)
        if receipt is not None and not session.status.ended:
            self.desk.did("stop")
        if receipt is None:
            if screen.is_active:
                screen.dismiss(None)
        elif not receipt.ended and not receipt.left:
            if screen in self._app.screen_stack:
                screen.dismiss(None)
            self._requests.show_message(act_texts.stopped(session, receipt))
        elif screen.is_attached and screen in self._app.screen_stack:
            screen.show_receipt(receipt)
            self._requests.log.add(act_texts.stopped(session, receipt))
        else:
            self._requests.show_message(act_texts.stopped(session, receipt))
        return receipt

    async def confirmed(
        self, verb: str, session: Session, words_of: Callable[[Ladder], str], *, more: bool = False
    ) -> tuple[StopPreview, Answer]:
        """List the processes that will be ended, and ask; return what was shown and the answer.

        ``more`` also offers to end the sessions that this one started.
        """
        with self._app.keys_held():
            preview = await self._requests.ask(self._reader.stop_preview, session.id)
            if preview is None:
                return StopPreview(), Answer.NO
            screen = ConfirmScreen(
                f'{verb} "{texts.title(session)}"?',
                texts.process_lines(session, preview.processes) or texts.listing([session]),
                "\n".join(filter(None, (words_of(preview.ladder), family_texts.stop_effect(preview)))),
                verb.lower(),
                more=f"{verb.lower()} these too" if preview.going_on and more else None,
            )
            answer = self._app.push_screen(screen, wait_for_dismiss=True)
        return preview, await answer


def one_receipt(lead: Session, outcomes: Sequence[tuple[Session, Receipt | AgentdashError]]) -> Receipt:
    """Return the lead's receipt with the processes of all; its note has the number of sessions, and each failure."""
    receipts = {one.session: one for _, one in outcomes if isinstance(one, Receipt)}
    own = receipts.pop(lead.id, None) or Receipt(session=lead.id, status=Status.STOPPED)
    return structs.replace(merged(own, list(receipts.values())), note=stopped([one for _, one in outcomes]))


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
            self._requests.show_message(act_texts.did("Deleted", session, self._undo_hint(session)))

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
            hint = f"{self._undo_hint(session)} {archived_of(session)}".rstrip()
            self._requests.show_message(act_texts.did("Archived", session, hint))

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
