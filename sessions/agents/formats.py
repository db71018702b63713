"""The formats that agentdash reads: the turn files of its agents, and the CLIs' own transcripts."""

from typing import Protocol

from ..errors import UsageError
from .base import Agent
from .parsing.parser import TurnParser
from .registry import agent_named, agent_names, is_agent, transcript_formats


class Reader(Protocol):
    """A reader of files of one format."""

    def parser(self, turn: int = 1) -> TurnParser:
        """Return a new parser that begins with this turn."""


class TransportReader:
    """The reader of the output of an agent's processes with one :attr:`..launch.Launch.transport`."""

    def __init__(self, agent: Agent, transport: str) -> None:
        self._agent = agent
        self._transport = transport

    def parser(self, turn: int = 1) -> TurnParser:
        """Return a new parser for one turn."""
        return self._agent.parser(turn, self._transport)


def format_names() -> tuple[str, ...]:
    """Return the names of the formats that a user meets; an agent's name is the format of its turn files."""
    return (*agent_names(demo=False), *_streams(), *(one.name for one in transcript_formats()))


def _streams() -> dict[str, TransportReader]:
    """Return the readers of the live processes that have a format of their own, by the format's name."""
    agents = [agent_named(name) for name in agent_names(demo=False)]
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
