"""One prompt to several sessions, after one question: as it was written, or from a template."""

import asyncio
import uuid
from collections.abc import Callable, Sequence

from agentdash.sessions.model.errors import AgentdashError
from agentdash.sessions.model.session import Session
from agentdash.sessions.service.prompts.filling import Delivery, broadcast
from agentdash.sessions.service.prompts.prompter import PromptOptions
from agentdash.sessions.text import units
from agentdash.sessions.text.sanitize import clean
from agentdash.tui.keys.availability import can_prompt
from agentdash.tui.services.actions.bulk_actions import BulkActions
from agentdash.tui.services.desk import Actions, Desk
from agentdash.tui.texts import prompt_texts
from agentdash.tui.texts import screen_texts as texts

TextFor = Callable[[Session], str]
"""Makes the prompt for a session; it may block, and raises an error for a session that it has no text for."""

NAMED_FAILURES = 5
"""Maximum number of sessions that a message names."""


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
        first, reason = await self._requests.outcome(asyncio.to_thread(_first_text, able, text_for))
        if reason is not None:
            self._requests.show_error(reason)
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
        reached = [one for one in outcomes if one.error is None]
        refused = [
            f'"{texts.title(one.session, 24)}": {clean(self._requests.worded(one.error))}'
            for one in outcomes
            if one.error is not None
        ]
        self._unfinished = (what, key) if refused else ("", "")
        self._requests.show_message(f"Sent to {units.count(len(reached), 'session')}.")
        if refused:
            self._requests.show_error("\n".join([f"{len(refused)} failed:", *refused[:NAMED_FAILURES]]))
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
