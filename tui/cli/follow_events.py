"""Print the events of the sessions as JSON lines: the output of `events`."""

import asyncio
from collections.abc import Callable, Iterable
from contextlib import aclosing
from typing import TYPE_CHECKING

from agentdash.sessions.model.clock import monotonic, now_ms
from agentdash.sessions.model.errors import AgentdashError
from agentdash.sessions.model.session import Session
from agentdash.sessions.rules.json_schema import dump, step_json
from agentdash.sessions.service.events.feed import EventFeed
from agentdash.sessions.service.events.model import Begin, Event, EventKind, StepEvent, event_json
from agentdash.sessions.service.watch import changes
from agentdash.sessions.transcript.tail import StepTail, TailedStep
from agentdash.tui.cli.follow_lines import check_reader

if TYPE_CHECKING:
    from agentdash.sessions.service.manager import SessionManager
    from agentdash.sessions.service.reader import SessionReader

LEAST_SECONDS = 0.1
"""Shortest interval between two checks: many agents at work make many commits."""


class StepLines:
    """The steps of the sessions that are at work, each once."""

    def __init__(self, reader: "SessionReader") -> None:
        self._reader = reader
        self._tails: dict[str, StepTail] = {}

    def begin(self, sessions: Iterable[Session]) -> None:
        """Follow sessions from their newest step on."""
        for session in sessions:
            self._open(session.id, last=0)

    def read(self, at_work: Iterable[Session]) -> list[tuple[str, TailedStep]]:
        """Return the steps since the last call; a session that was not at work before is read from its first step."""
        new_steps = []
        for session_id in {session.id for session in at_work} - self._tails.keys():
            new_steps += [(session_id, one) for one in self._open(session_id, last=None)]
        for session_id, tail in self._tails.items():
            new_steps += [(session_id, one) for one in _whole(tail)]
        return new_steps

    def keep(self, at_work: Iterable[Session]) -> None:
        """Follow no session that has ended."""
        for session_id in self._tails.keys() - {session.id for session in at_work}:
            self._tails.pop(session_id).close()

    def close(self) -> None:
        """Close the files."""
        self.keep(())

    def _open(self, session_id: str, last: int | None) -> list[TailedStep]:
        try:
            tail = StepTail(self._reader.steps.open_trajectory(session_id))
            self._tails[session_id] = tail
            return tail.begin(last)
        except AgentdashError:
            return []  # it was deleted, or its folder was


def _whole(tail: StepTail) -> list[TailedStep]:
    new_steps = []
    try:
        new_steps += tail.more()
        while tail.behind:
            new_steps += tail.more()
    except AgentdashError:
        pass  # its folder is gone; its status says the rest
    return new_steps


class EventPrinter:
    """Prints what a feed has, and the steps if they are wanted."""

    def __init__(self, feed: EventFeed, write: Callable[[bytes], None], steps: StepLines | None = None) -> None:
        self._feed = feed
        self._write = write
        self._steps = steps

    def begin(self) -> None:
        """Print the first line and the events behind it.

        Raises:
            UsageError: the feed has not reached its beginning.
            StoreError: the database cannot be read.
        """
        self._print(self._feed.begin())
        if self._steps is not None:
            self._steps.begin(self._feed.at_work)

    def more(self) -> None:
        """Print what has happened since; the steps of a turn come before its end.

        Raises:
            StoreError: the database cannot be read.
        """
        seq, events = self._feed.seq, self._feed.more()
        if self._steps is not None:
            started = [e.session for e in events if isinstance(e, Event) and e.session and e.event is EventKind.STARTED]
            new_steps = self._steps.read([*self._feed.at_work, *started])
            self._print(
                StepEvent(seq=seq, at=one.step.at or now_ms(), id=session_id, step=step_json(one.step))
                for session_id, one in new_steps
            )
            self._steps.keep(self._feed.at_work)
        self._print(events)

    def _print(self, lines: Iterable[Begin | Event | StepEvent]) -> None:
        data = b"".join(dump(event_json(line) if isinstance(line, Event) else line) for line in lines)
        if data:
            self._write(data)


async def follow_events(
    manager: "SessionManager", printer: EventPrinter, is_over: Callable[[], bool], *, steps: bool
) -> None:
    """Print events as they come, until ``is_over``.

    Raises:
        StoreError: the state folder is gone, or cannot be read.
        BrokenPipeError: the reader of the output is gone.
    """
    printer.begin()
    checked_at = 0.0
    async with aclosing(changes(manager.reader.home, manager.reader.live_dir)) as looks:
        async for change in looks:
            check_reader()
            if change.sweep and not manager.reader.read_only:
                manager.housekeeping.settle()
            if not (change.database or change.sweep or (steps and bool(change.turn_files))):
                continue
            if (wait := checked_at + LEAST_SECONDS - monotonic()) > 0:
                await asyncio.sleep(wait)
            checked_at = monotonic()
            printer.more()
            if is_over():
                return
