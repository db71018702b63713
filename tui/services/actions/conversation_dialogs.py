"""The dialogs of the changes of a conversation: their facts, and what they do."""

import asyncio
from collections.abc import Callable
from functools import partial

from agentdash.sessions.model.session import Session, Step
from agentdash.sessions.service.prompts.conversations import SessionConversations
from agentdash.sessions.service.prompts.effects import Effect
from agentdash.sessions.storage.prompts.drafts import FORK
from agentdash.sessions.transcript.session_steps import Growth
from agentdash.sessions.transcript.visible.going_back import Here, NoPlaceError, place_of
from agentdash.tui.dialogs.asking.conversation import Box, ConversationScreen
from agentdash.tui.services.desk import Actions, Desk
from agentdash.tui.texts import act_texts
from agentdash.tui.texts import conversation_texts as words


class RefusedError(Exception):
    """A change that is not possible at this step; its text is the reason."""


class ConversationDialogs(Actions):
    """Makes the dialogs for one session.

    Args:
        growth: all its steps.
        undo_key: the key that takes a change back.
    """

    def __init__(self, desk: Desk, session: Session, growth: Growth, undo_key: str) -> None:
        super().__init__(desk)
        self._drafts = desk.drafts
        self._session = session
        self._view = growth.view
        self._turns = [turn.n for turn in growth.turns]
        self._shown = growth.shown
        self._undo_key = undo_key

    async def screen(self, verb: str, item: int) -> ConversationScreen:
        """Return the dialog of a verb for the step ``item``.

        Raises:
            RefusedError: it is not possible at this step.
        """
        match verb:
            case "undo":
                return await self._undo()
            case "compact":
                return self._compact()
        try:
            here = await asyncio.to_thread(place_of, self._view, item, self._turns, self._shown)
        except (NoPlaceError, OSError) as error:
            raise RefusedError(str(error)) from None
        return await self._fork(here) if verb == "fork" else await self._rewind(here)

    async def _fork(self, here: Here) -> ConversationScreen:
        if here.turn is None:
            raise RefusedError(words.NOTHING_BEFORE)
        session, turn, step = self._session, here.turn, here.step
        effect = await self._expected(lambda: self._conversation("fork").preview_fork(session.id, turn, step))
        first = self._drafts.get(FORK) or here.prompt or ""

        def keep(text: str) -> None:
            if text != first:
                self._drafts.put(FORK, text)

        async def fork(text: str) -> str | None:
            made, reason = await self._requests.outcome(
                lambda: self._conversation("fork").fork(session.id, turn, step, text)
            )
            if made is not None:
                self._drafts.put(FORK, "")
                self.desk.began(made, partial(act_texts.forked, session, made))
            return reason

        facts = [words.kept(here, self._last(here)), words.goes_on(session, effect.how), words.folder(session)]
        box = Box("prompt", first, placeholder=words.FORK_HINT, keep=keep)
        return ConversationScreen(words.fork_title(session, here), facts, "fork", fork, box=box)

    async def _rewind(self, here: Here) -> ConversationScreen:
        session, turn, step = self._session, here.turn, here.step
        effect = await self._expected(lambda: self._conversation("rewind").rewind(session.id, turn, step, dry_run=True))

        async def rewind(_text: str) -> str | None:
            done, reason = await self._requests.outcome(
                lambda: self._conversation("rewind").rewind(session.id, turn, step)
            )
            if done is not None:
                if here.prompt and not self._drafts.get(session.id):
                    self._drafts.put(session.id, here.prompt)
                hidden = words.amount(done.hidden)
                self._requests.show_message(act_texts.went_back(session, done.place, hidden, self._undo_key))
            return reason

        facts = [
            words.kept(here, self._last(here)),
            words.hides(effect.hidden, self._undo_key),
            words.goes_on(session, effect.how),
            words.stays(effect.hidden, effect.waiting),
            *words.asked_again(here, self._drafts.get(session.id)),
        ]
        return ConversationScreen(words.rewind_title(session, here), facts, "go back", rewind)

    async def _undo(self) -> ConversationScreen:
        session, mark = self._session, self._shown.undoable if self._shown is not None else None
        if mark is None:
            raise RefusedError(words.NOTHING_TO_TAKE_BACK)
        effect = await self._expected(lambda: self._conversation("undo").undo(session.id, mark.id, dry_run=True))

        async def undo(_text: str) -> str | None:
            _, reason = await self._requests.outcome(lambda: self._conversation("undo").undo(session.id, mark.id))
            if reason is None:
                self._requests.show_message(act_texts.took_back(session, mark))
            return reason

        facts = [*words.taken_back(mark, effect), words.goes_on(session, effect.how)]
        return ConversationScreen(words.undo_title(mark), facts, "take it back", undo)

    def _compact(self) -> ConversationScreen:
        session = self._session
        turns = len(self._shown.kept if self._shown is not None else self._turns)

        async def compact(text: str) -> str | None:
            done, reason = await self._requests.outcome(
                lambda: self._access.manager("compact").compacting.compact(session.id, text.strip())
            )
            if done is not None:
                self._requests.show_message(act_texts.compacting(done))
            return reason

        facts = words.summarized(turns, self._undo_key)
        box = Box("wishes", placeholder=words.COMPACT_HINT, needed=False)
        return ConversationScreen(words.compact_title(session), facts, "compact", compact, box=box)

    def _last(self, here: Here) -> Step | None:
        """Return the last step that stays."""
        return self._view.step(here.item) if here.item is not None else None

    def _conversation(self, verb: str) -> SessionConversations:
        return self._access.manager(verb).conversation

    async def _expected(self, preview: Callable[[], Effect]) -> Effect:
        """Return the effect that a change would have.

        Raises:
            RefusedError: it cannot be made.
        """
        effect, reason = await self._requests.outcome(preview)
        if effect is None:
            raise RefusedError(reason or "")
        return effect
