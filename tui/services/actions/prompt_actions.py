"""Prompts: send, retry, interrupt, change those that wait; and one prompt to several sessions, after one question."""

import uuid
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from agentdash.sessions.agents.registry import takes_prompts
from agentdash.sessions.model.errors import AgentdashError
from agentdash.sessions.model.session import Receipt, Session, Status
from agentdash.sessions.service.prompts.filling import Delivery, broadcast
from agentdash.sessions.service.prompts.prompter import PromptOptions, Sent
from agentdash.sessions.service.prompts.queue import SessionQueue
from agentdash.sessions.storage.prompts.queued_prompt import QueuedPrompt
from agentdash.sessions.text.sanitize import clean
from agentdash.tui.dialogs.asking.confirm import Answer, ConfirmScreen
from agentdash.tui.keys.availability import can_prompt, can_retry
from agentdash.tui.services.actions.bulk_actions import BulkActions
from agentdash.tui.services.desk import Actions, Desk
from agentdash.tui.texts import act_texts, prompt_texts
from agentdash.tui.texts import screen_texts as texts

if TYPE_CHECKING:
    from agentdash.tui.dialogs.queue import QueueNow


class PromptActions(Actions):
    """Sends the prompts of one session; an error is shown, and the caller keeps the text."""

    def __init__(self, desk: Desk, bulk: BulkActions) -> None:
        super().__init__(desk)
        self._bulk = bulk

    async def send(self, session: Session, text: str, options: PromptOptions | None = None) -> bool:
        """Send a prompt to a session, show its place, and return whether it was accepted."""
        sent = await self._requests.ask(
            lambda: self._access.manager("inject").prompts.inject(session.id, text, options)
        )
        if sent is not None:
            self._requests.show_message(act_texts.sent(sent))
            if session.status.ended:
                self.desk.did("write_prompt")
        return sent is not None

    async def waiting(self, session_id: str) -> list[QueuedPrompt]:
        """Return the prompts of a session that wait."""
        return await self._requests.outcome_of(self._reader.queued, session_id) or []

    async def queue_now(self, session_id: str) -> "QueueNow | None":
        """Return the queue of a session with its unconfirmed prompts; None if the session was deleted."""
        from agentdash.tui.dialogs.queue import QueueNow

        def read() -> QueueNow:
            session = self._reader.get(session_id)
            unconfirmed = tuple(self._reader.unconfirmed(session_id)) if session.unconfirmed else ()
            return QueueNow(session, unconfirmed, tuple(self._reader.queued(session_id)))

        with self._app.keys_held():  # a key acts on the prompts that are shown
            return await self._requests.outcome_of(read)

    async def usual_options(self, session_id: str) -> dict[str, object]:
        """Return the options that the session's start requested beyond the settings."""
        return await self._requests.outcome_of(self._reader.options, session_id) or {}

    async def change(self, verb: str, session: Session, act: Callable[[SessionQueue], object]) -> bool:
        """Change the queue of a session; return whether that was possible, else the reason is shown."""
        done = await self._requests.done(lambda: act(self._access.manager(verb).queue))
        if done:
            self._requests.show_message(act_texts.queue_changed(verb, session))
        return done

    async def edit(self, prompt: QueuedPrompt, text: str) -> bool:
        """Replace the text of a queued prompt; return False if it was too late."""
        sent = await self._requests.ask(lambda: self._access.manager("edit").queue.edit(prompt, text))
        if sent is not None:
            self._requests.show_message(act_texts.changed_prompt(sent))
        return sent is not None

    async def retry_chosen(self, sessions: Sequence[Session], current: Session | None) -> bool:
        """Send the sessions their last prompt again; return whether any session got it.

        It asks first, unless the current session is the only one and no permission was denied.
        """
        if sessions != [current]:
            return await self._bulk.retry(sessions)
        session, allow = sessions[0], False
        if session.denied:
            choice = await self._with_what_was_denied(session)
            if choice is None:
                return False
            allow = choice
        sent = await self._requests.ask(
            lambda: self._access.manager("retry").prompts.retry(session.id, allow_denied=allow)
        )
        if sent is not None:
            afresh = session.status is Status.FAILED and takes_prompts(session.agent)
            self._requests.show_message(act_texts.retried(sent, afresh=afresh))
        return sent is not None

    async def _with_what_was_denied(self, session: Session) -> bool | None:
        """Return whether to allow what the turn was denied; None to send nothing."""
        from agentdash.tui.dialogs.table.pick import PickScreen

        with self._app.keys_held():
            allowance, reason = await self._requests.outcome(
                lambda: self._access.manager("retry").prompts.allowance(session)
            )
            if reason is not None:
                self._requests.show_error(reason)
                return None
            if allowance is None:
                if can_retry(session):
                    return False
                self._requests.show_refusal(prompt_texts.NOTHING_ALLOWS)
                return None
            offers = prompt_texts.retry_offers(allowance.text, unchanged=can_retry(session))
            answer = self._app.push_screen(PickScreen("Retry", offers), wait_for_dismiss=True)
        picked = await answer
        return None if picked is None else picked == 0

    async def interrupt(self, session: Session) -> None:
        """End the running turn of a session after a question; its queue is held."""
        with self._app.keys_held():
            screen = ConfirmScreen(
                f'Interrupt "{texts.title(session)}"?',
                texts.listing([session]),
                prompt_texts.interrupt_effect(session),
                "interrupt",
            )
            answer = self._app.push_screen(screen, wait_for_dismiss=True)
        if await answer is Answer.YES:
            await self.say_instead(session, None)

    async def say_instead(self, session: Session, text: str | None, options: PromptOptions | None = None) -> bool:
        """End the running turn of a session, and send a prompt in its place, if any; return whether that worked."""

        def interrupt() -> tuple[Receipt, Sent | None]:
            return self._access.manager("interrupt").prompts.interrupt(session.id, text, options)

        self._requests.show_message(act_texts.interrupting(session))
        done = await self._requests.ask(interrupt)
        if done is not None:
            self._requests.show_message(act_texts.interrupted(session, *done))
        return done is not None


TextFor = Callable[[Session], str]
"""Makes the prompt for a session; it may block, and raises an error for a session that it has no text for."""


class Broadcasts(Actions):
    """Sends prompts to several sessions; a session that refuses one is named, and the others get it."""

    def __init__(self, desk: Desk, bulk: BulkActions) -> None:
        super().__init__(desk)
        self._bulk = bulk
        self._unfinished = ("", "")
        """The prompt that not all sessions took, and its key: sent again, it reaches only those without it."""

    async def send(self, sessions: Sequence[Session], text: str) -> bool:
        """Send a prompt to each session that can take one, after a question; return whether any session got it."""
        able = [session for session in sessions if can_prompt(session)]
        effect = prompt_texts.broadcast_effect(text, len(sessions) - len(able))
        return await self._send(sessions, able, effect, text, lambda _: text)

    async def send_template(self, sessions: Sequence[Session], name: str, text_for: TextFor) -> bool:
        """Send a template's prompt to each session, filled in; the question shows the first one that can be filled."""
        able = [session for session in sessions if can_prompt(session)]
        first = await self._requests.ask(_first_text, able, text_for)
        if able and first is None:
            return False
        effect = prompt_texts.broadcast_effect(first or "", len(sessions) - len(able), template=name)
        return await self._send(sessions, able, effect, f"template {name}", text_for)

    async def _send(
        self, sessions: Sequence[Session], able: Sequence[Session], effect: str, what: str, text_for: TextFor
    ) -> bool:
        if not able:
            self._requests.show_refusal(texts.none_of(sessions, "write_prompt"))
            return False
        if not await self._bulk.confirmed("Send to", able, effect):
            return False
        again, key = self._unfinished
        options = PromptOptions(key=key if what == again else str(uuid.uuid4()))
        with self._bulk.showing("Sent to", len(able)) as show:

            def send() -> list[Delivery]:
                return broadcast(self._access.manager("inject").prompts, able, text_for, options, each=show)

            outcomes = await self._requests.ask(send)
        if outcomes is None:
            return False
        return self._report(outcomes, what, options.key)

    def _report(self, outcomes: Sequence[Delivery], what: str, key: str) -> bool:
        reached = [one.session for one in outcomes if one.error is None]
        refused = [
            f'"{texts.title(one.session)}": {clean(self._requests.worded(one.error))}'
            for one in outcomes
            if one.error is not None
        ]
        self._unfinished = (what, key) if refused else ("", "")
        self._requests.show_message(act_texts.did("Sent to", reached))
        marks = self._bulk.marks_left(one.session.id for one in outcomes if one.error is not None)
        if refused:
            self._requests.show_error("\n".join([f"{len(refused)} failed:{marks}", *refused]))
        return bool(reached)


def _first_text(sessions: Sequence[Session], text_for: TextFor) -> str | None:
    """Return the text of the first session that has one.

    Raises:
        AgentdashError: there is none; the error of the first session.
    """
    failure = None
    for session in sessions:
        try:
            return text_for(session)
        except AgentdashError as error:
            failure = failure or error
    if failure is not None:
        raise failure
    return None
