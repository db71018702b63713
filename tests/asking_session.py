"""A live session whose agent asks, for the tests that answer it."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Self, TypeVar

from agentdash.sessions.model.session import Session, Status
from agentdash.sessions.rules.asks.recorded import RecordedAsk
from agentdash.sessions.rules.launch import Start
from agentdash.sessions.service.manager import SessionManager

T = TypeVar("T")


class AskingSession:
    """A session of a live agent, and the facts that a test waits for."""

    def __init__(self, agent: str, manager: SessionManager, project: Path, wait_until: Callable[..., Any]) -> None:
        self.agent, self.manager, self.project, self._wait = agent, manager, project, wait_until
        self.id = ""

    def spawn(self, prompt: str, options: Mapping[str, Any]) -> Self:
        """Start it live."""
        chosen = {"live": True} | dict(options)
        self.id = self.manager.spawn(Start(prompt, agent=self.agent, cwd=str(self.project), options=chosen)).id
        return self

    def prompt(self, text: str) -> None:
        """Send a prompt."""
        self.manager.prompts.inject(self.id, text)

    def until(self, condition: Callable[[], T], what: str) -> T:
        """Wait for a condition; what it gave."""

        def found() -> T:
            self.manager.housekeeping.settle()
            return condition()

        there: T = self._wait(found, timeout=120, what=what)
        return there

    @property
    def session(self) -> Session:
        """The session as it is."""
        return self.manager.reader.get(self.id)

    @property
    def asks(self) -> list[RecordedAsk]:
        """Its asks, oldest first."""
        return self.manager.store.asks.of_session(self.id)

    def ended(self, status: Status, turn: int = 1) -> Session:
        """Wait for the end of a turn; no ask is open then."""
        self.until(lambda: self.session.turn == turn and self.session.status.ended, f"the end of turn {turn}")
        session = self.session
        assert (session.status, session.asking, self.manager.reader.asks(self.id)) == (status, 0, [])
        return session
