"""The end of sessions at the user's request: the question, the progress of the stop, and the receipt."""

from collections.abc import Callable, Sequence
from functools import partial

from msgspec import structs

from agentdash.sessions.model.errors import AgentdashError
from agentdash.sessions.model.session import Receipt, Session, Status
from agentdash.sessions.rules.launch import Ladder
from agentdash.sessions.service.lifecycle.stop_family import StopHow, StopPreview, merged
from agentdash.tui.dialogs.asking.confirm import Answer, ConfirmScreen
from agentdash.tui.services.actions.bulk_actions import BulkActions, stopped
from agentdash.tui.services.desk import Actions, Desk
from agentdash.tui.texts import family_texts
from agentdash.tui.texts import screen_texts as texts


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
        screen = StoppingScreen(texts.title(session), preview.ladder, hurry, workers=workers)
        self._app.push_screen(screen)
        receipt = await ask(stop, now)
        if receipt is None:
            if screen.is_active:
                screen.dismiss(None)
        elif not receipt.ended and not receipt.left:
            if screen in self._app.screen_stack:
                screen.dismiss(None)
            if receipt.note:
                self._requests.show_message(receipt.note)
        elif screen.is_attached and screen in self._app.screen_stack:
            screen.show_receipt(receipt)
        else:
            self._requests.show_message(f'"{texts.title(session)}": {receipt.summary()}')
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
                texts.process_lines(session, preview.processes) or [texts.listed(session)],
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
