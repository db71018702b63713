"""Prompts on their way to sessions: sent one at a time, and given back if a session does not accept its prompt."""

import asyncio
from pathlib import Path
from typing import Any

from textual.screen import Screen

from ...widgets.inputs.prompt_box import PromptBox
from .. import texts
from ..keys.action_target import ActionTarget
from ..keys.actions import can_prompt
from ..services.session_actions import SessionActions
from .session_pane import SessionPane


class PromptSender:
    """Sends the texts of prompt boxes, and last prompts again.

    Args:
        owner: the screen that owns the workers.
        operations: asks and calls the manager.
    """

    def __init__(self, owner: Screen[Any], operations: SessionActions) -> None:
        self._owner = owner
        self._operations = operations
        self._sending = asyncio.Lock()

    def effect(self, target: ActionTarget) -> str:
        """Return what sending a prompt will do."""
        chosen, operations = target.chosen, self._operations
        if len(chosen) > 1:
            return texts.target_of_several(chosen, sum(map(can_prompt, chosen)), marked=target.marked)
        if operations.read_only:
            return "read-only: prompts cannot be sent"
        session = chosen[0] if chosen else None
        return texts.target(session, operations.default_agent, str(Path.cwd()), missing=operations.missing)

    def send(self, text: str, target: ActionTarget, pane: SessionPane) -> None:
        """Send a text to the chosen sessions, or to a new one; ``pane`` shows the current one."""
        self._owner.run_worker(self._send(text, target, pane), group="send")

    async def _send(self, text: str, target: ActionTarget, pane: SessionPane) -> None:
        chosen, current = target.chosen, target.current
        async with self._sending:  # one at a time: the second text may be for the session that the first one starts
            if len(chosen) > 1:
                sent = await self._operations.bulk.send(chosen, text)
            else:
                sent = await self._operations.send(chosen[0] if chosen else current, text, str(Path.cwd()))
        if sent:
            pane.prompt.accepted(text)
            if current is None or pane.viewer.session_id in (None, current.id):  # the user may have gone on meanwhile
                pane.steps.following = True
        else:
            pane.prompt.give_back(current.id if current is not None else None, text)

    def retry(self, target: ActionTarget, pane: SessionPane) -> None:
        """Send the last prompt of the chosen sessions again, and follow the answer."""
        self._owner.run_worker(self._retry(target, pane))

    async def _retry(self, target: ActionTarget, pane: SessionPane) -> None:
        if await self._operations.retry_chosen(target.chosen, target.current):
            pane.steps.following = True

    def offer_earlier(self, box: PromptBox) -> None:
        """Let the user go through the recent prompts in a box."""
        self._owner.run_worker(self._offer_earlier(box), exclusive=True, group="history")

    async def _offer_earlier(self, box: PromptBox) -> None:
        box.input.earlier.learn(await self._operations.earlier_prompts())
