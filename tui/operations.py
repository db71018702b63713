"""What a key asks of the manager: question, call in a thread, toast or receipt.

Errors never end the dashboard, and nothing here waits in the event loop.
"""

import asyncio
from pathlib import Path
from typing import Any

from textual.app import App

from ..sessions.manager import SessionManager
from ..sessions.model import Receipt, Session
from ..widgets.words import place
from . import sayings
from .requests import Requests
from .screens.confirm import ConfirmScreen
from .screens.new_session import NewSessionScreen, SpawnRequest
from .screens.receipt import ReceiptScreen


class Operations:
    """Starts, prompts, stops and deletes sessions for the main screen."""

    def __init__(self, app: App[Any], manager: SessionManager, requests: Requests) -> None:
        self._app = app
        self._manager = manager
        self._requests = requests
        self.default_agent = ""
        """The agent that is started when none is named; empty until it is known."""
        self.awaited: str | None = None
        """A session that was just started and is to be selected as soon as it is in the table."""

    async def learn_default(self) -> None:
        """Ask the settings which agent is the usual one."""
        self.default_agent = await self._requests.ask(self._manager.default_agent) or ""

    async def ask_what_to_start(self, cwd: str) -> None:
        """Open the dialog."""
        agents = await self._requests.ask(self._manager.agents)
        if agents is not None:
            # A command has no prompt: `agentdash run` starts it.
            known = [agent for agent in agents if agent.name != "command"]
            self._app.push_screen(NewSessionScreen(known, self.default_agent, place(cwd), self.spawn))

    async def spawn(self, request: SpawnRequest) -> str | None:
        """Start a session; the reason where that was not possible."""
        cwd = _expanded(request.cwd)
        call = asyncio.to_thread(self._manager.spawn, request.prompt, agent=request.agent, model=request.model, cwd=cwd)
        session, reason = await self._requests.outcome(call)
        if session is not None:
            self.awaited = session.id
        return reason

    async def send(self, session: Session | None, text: str, cwd: str) -> bool:
        """A prompt to a session, or to a new one; whether it is on its way."""
        if session is not None:
            return await self._requests.ask(self._manager.inject, session.id, text) is not None
        reason = await self.spawn(SpawnRequest(prompt=text, agent=None, cwd=cwd, model=None))
        if reason is not None:
            self._requests.complain(reason)
        return reason is None

    async def retry(self, session: Session) -> bool:
        """The last prompt once more; whether it is on its way."""
        return await self._requests.ask(self._manager.retry, session.id) is not None

    async def stop(self, session: Session, *, now: bool = False) -> None:
        """Stop after a question, or at once without one."""
        if now or await self._confirmed("Stop", session, sayings.LADDER):
            self._requests.tell(f'Stopping "{sayings.title(session)}"…')
            self._show(await self._requests.ask(self._manager.stop, session.id, now=now), session)

    async def delete(self, session: Session) -> None:
        """Delete after a question."""
        if await self._confirmed("Delete", session, sayings.TRASH):
            self._show(await self._requests.ask(self._manager.delete, session.id), session)

    async def seen(self, session: Session) -> None:
        """Somebody looked at it."""
        await self._requests.ask(self._manager.mark_seen, session.id)

    async def _confirmed(self, verb: str, session: Session, consequence: str) -> bool:
        processes = await self._requests.ask(self._manager.processes, session.id)
        if processes is None:
            return False
        question = f'{verb} "{sayings.title(session)}"?'
        details = [*sayings.process_lines(session, processes), consequence]
        return await self._app.push_screen_wait(ConfirmScreen(question, details, verb.lower()))

    def _show(self, receipt: Receipt | None, session: Session) -> None:
        if receipt is not None:
            self._app.push_screen(ReceiptScreen(receipt, session.title or session.task))


def _expanded(folder: str) -> str:
    return str(Path(folder or ".").expanduser())
