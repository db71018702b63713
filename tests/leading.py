"""A lead outside any session with recorded workers: rows and turn files, and no process."""

import threading
from typing import Any

import msgspec
from recorded_sessions import lines, record, said

from agentdash.sessions.mcp.clients import Client
from agentdash.sessions.mcp.orchestration.calls import Calls
from agentdash.sessions.mcp.orchestration.registry import TOOLS
from agentdash.sessions.model.errors import RefusalError
from agentdash.sessions.model.session import Session, Status
from agentdash.sessions.runner.caller import Caller
from agentdash.sessions.runner.processes import runner_lock
from agentdash.sessions.service.manager import SessionManager

LEAD = "mcp:0123456789"
BY_NAME = {tool.name: tool for tool in TOOLS}


class Leading:
    """A lead that calls the tools by name, with arguments as a client sends them."""

    def __init__(self, manager: SessionManager, wait_seconds: float = 20.0) -> None:
        self.manager = manager
        self.wait_seconds = wait_seconds
        """The time that the client waits."""
        self.cancelled = threading.Event()
        self.progress: list[str] = []
        self._locks: list[Any] = []

    @property
    def client(self) -> Client:
        """The program that calls the tools."""
        return Client(wait_seconds=self.wait_seconds)

    def call(self, name: str, /, **arguments: Any) -> Any:
        """Call a tool; a struct comes back as a client reads it."""
        tool = BY_NAME[name]
        given = msgspec.convert(arguments, tool.arguments)
        calls = Calls(self.manager, self.client, self.cancelled, self.progress.append)
        try:
            result = tool.call(calls, given)
        except RefusalError:
            calls.reading.written(refused=True)
            raise
        calls.reading.written()
        if isinstance(result, str):
            assert tool.result is None
            return result
        assert tool.result is not None and isinstance(result, tool.result)
        return msgspec.json.decode(msgspec.json.encode(result))

    def worker(self, answer: str = "all done", *events: Any, prompt: str = "work", **facts: Any) -> Session:
        """Record a worker that has ended with this answer."""
        usual: dict[str, Any] = {"lead": LEAD, "steps": len(events) + 1, "lifecycle": "linked"}
        if "parent" in facts:
            usual.pop("lead")
        return record(self.manager, [(prompt, lines(*events, said(answer, 999)))], **(usual | facts))

    def at_work(self, *events: Any, **facts: Any) -> Session:
        """Record a worker that is at work: its runner's lock is held here."""
        session = self.worker("going on", *events, last=facts.pop("status", Status.RUNNING), **facts)
        self._locks.append(runner_lock.hold(self.manager.layout.session(session.id).lock))
        return session

    def ends(self, session: Session, status: Status = Status.DONE) -> None:
        """Let a worker that is at work end."""
        with self.manager.store.database.transaction() as db:
            db.execute("UPDATE turns SET status = ?, ended_at = 9 WHERE session = ?", (status, session.id))
            db.execute("UPDATE sessions SET status = ?, ended_at = 9 WHERE id = ?", (status, session.id))

    def close(self) -> None:
        """Release the locks."""
        for lock in self._locks:
            lock.release()


def lead_of(session: str | None = None) -> Caller:
    """The caller: the lead, or a session."""
    return Caller(session=session) if session else Caller(lead=LEAD, evidence="client")
