"""The formats that agentdash reads: the turn files of its agents, and the CLIs' own transcripts.

A file's format is known from its first lines, if it is not named: the agent that wrote it, and whether it is a stream
or a transcript.
"""

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from agentdash.sessions.agents.base import Agent, TranscriptFormat
from agentdash.sessions.agents.parsing.json_repair import parsed_object
from agentdash.sessions.agents.parsing.line_parts import each_part
from agentdash.sessions.agents.parsing.parser import TurnParser
from agentdash.sessions.agents.registry import PLAIN_COMMAND, agent_named, agent_names, is_agent, transcript_formats
from agentdash.sessions.model.errors import UsageError


class TransportReader(NamedTuple):
    """The reader of the output of an agent's processes with one :attr:`..rules.launch.Launch.transport`."""

    agent: Agent
    transport: str

    def parser(self, turn: int = 1) -> TurnParser:
        """Return a new parser for one turn."""
        return self.agent.parser(turn, self.transport)


Reader = Agent | TranscriptFormat | TransportReader
"""The reader of files of one format: its ``parser`` returns a new one that begins with a turn."""


def format_names() -> tuple[str, ...]:
    """Return the names of the formats that a user meets; an agent's name is the format of its turn files."""
    return (*agent_names(), *_streams(), *(one.name for one in transcript_formats()))


def _streams() -> dict[str, TransportReader]:
    """Return the readers of the live processes that have a format of their own, by the format's name."""
    agents = [agent_named(name) for name in agent_names()]
    live = ((agent, agent.live) for agent in agents if agent.live is not None and agent.live.format)
    return {of.format: TransportReader(agent, of.transport) for agent, of in live}


def reader_named(name: str) -> Reader:
    """Return the reader of the format with this name.

    Raises:
        UsageError: no format has this name; the message lists the known formats.
    """
    if is_agent(name):
        return agent_named(name)
    if (stream := _streams().get(name)) is not None:
        return stream
    for one in transcript_formats():
        if one.name == name:
            return one
    raise UsageError(f"Unknown format {name!r}. Known formats: {', '.join(format_names())}.")


LOOKED_AT = 50
"""Lines to check; a warning may come before the first event."""


def guess_format(lines: Iterable[bytes]) -> str | None:
    """Return the name of the format; None if no line identifies it."""
    for event in _events(lines):
        if name := _first(transcript_formats(), event) or _agent(event):
            return name
    return None


def guess_document(beginning: bytes) -> str | None:
    """Return the name of the format of a file that is one JSON object of many lines; None if it is none."""
    return next((one.name for one in transcript_formats() if one.begins_document(beginning)), None)


def guess_agent(lines: Iterable[bytes]) -> str:
    """Return the name of the agent that printed these lines; ``command`` if no line identifies it."""
    return next(filter(None, map(_agent, _events(lines))), PLAIN_COMMAND)


def guess_transport(agent: Agent, lines: Iterable[bytes]) -> str:
    """Return the transport of the process that printed these lines; empty for a process of one turn."""
    live = agent.live
    return live.transport if live is not None and any(map(live.prints, _events(lines))) else ""


def _agent(event: dict[str, Any]) -> str | None:
    return _first(map(agent_named, agent_names()), event)


def _first(candidates: Iterable[Agent | TranscriptFormat], event: dict[str, Any]) -> str | None:
    """Return the name of the first candidate that recognizes an event; None for an empty event."""
    kind = event.get("type")
    kind = kind if isinstance(kind, str) else None
    return next((one.name for one in candidates if one.recognizes(kind, event)), None) if event else None


def _events(lines: Iterable[bytes]) -> Iterator[dict[str, Any]]:
    return (parsed_object(part) or {} for part in each_part(lines))
