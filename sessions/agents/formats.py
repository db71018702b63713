"""The formats that agentdash reads: the turn files of its agents, and the transcripts that agents keep for themselves.

A transcript has a reader and no agent: it is found by its content or asked for by its name, and starts nothing.
"""

from functools import cache
from importlib import import_module
from typing import Protocol

from ..errors import UsageError
from .base import TurnParser
from .registry import AGENTS, agent_named

TRANSCRIPTS: dict[str, str] = {
    "codex-rollout": "codex.rollout:CodexRolloutParser",
    "claude-project": "claude.project:ClaudeProjectParser",
    "gemini-session": "gemini.session:GeminiSessionParser",
}
"""Name -> ``module:class`` below this package."""

FORMATS = (*AGENTS, *TRANSCRIPTS)
"""The names of all formats."""


class Reader(Protocol):
    """What can read a file of one format."""

    def parser(self, turn: int = 1) -> TurnParser:
        """A fresh parser, beginning with this turn."""


class _TranscriptReader:
    def __init__(self, kind: type[TurnParser]) -> None:
        self._kind = kind

    def parser(self, turn: int = 1) -> TurnParser:
        """A fresh parser, beginning with this turn."""
        return self._kind(turn)


@cache
def reader_named(name: str) -> Reader:
    """The reader of the format with this name.

    Raises:
        UsageError: there is none; the message lists the known ones.
    """
    if name in AGENTS:
        return agent_named(name)
    try:
        module, _, kind = TRANSCRIPTS[name].partition(":")
    except KeyError:
        raise UsageError(f"Unknown format {name!r}. Known formats: {', '.join(FORMATS)}.") from None
    return _TranscriptReader(getattr(import_module(f".{module}", __package__), kind))
