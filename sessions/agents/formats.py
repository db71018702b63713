"""The formats that agentdash reads: the turn files of its agents, and the transcripts that CLIs keep for themselves."""

from typing import Protocol

from ..errors import UsageError
from .base import TurnParser
from .registry import agent_named, agent_names, is_agent, transcript_formats


class Reader(Protocol):
    """A reader of files of one format."""

    def parser(self, turn: int = 1) -> TurnParser:
        """A fresh parser, beginning with this turn."""


def format_names() -> tuple[str, ...]:
    """The names of all formats: that of an agent is its turn files' format."""
    return (*agent_names(demo=True), *(one.name for one in transcript_formats()))


def reader_named(name: str) -> Reader:
    """The reader of the format with this name.

    Raises:
        UsageError: there is none; the message lists the known ones.
    """
    if is_agent(name):
        return agent_named(name)
    for one in transcript_formats():
        if one.name == name:
            return one
    raise UsageError(f"Unknown format {name!r}. Known formats: {', '.join(format_names())}.")
