"""Detect a file's format from its first lines: the agent that wrote it, and whether it is a stream or a transcript."""

from collections.abc import Iterable
from typing import Any

from .base import Agent, TranscriptFormat
from .parsing.json_repair import parsed
from .parsing.line_parts import each_part
from .registry import PLAIN_COMMAND, agent_named, agent_names, transcript_formats

LOOKED_AT = 50
"""Lines to check; a warning may come before the first event."""


def guess_format(lines: Iterable[bytes]) -> str | None:
    """Return the name of the format; None if no line identifies it."""
    for event in map(_event, each_part(lines)):
        if name := _first(transcript_formats(), event) or _agent(event):
            return name
    return None


def guess_document(beginning: bytes) -> str | None:
    """Return the name of the format of a file that is one JSON object of many lines; None if it is none."""
    return next((one.name for one in transcript_formats() if one.begins_document(beginning)), None)


def guess_agent(lines: Iterable[bytes]) -> str:
    """Return the name of the agent that printed these lines; ``command`` if no line identifies it."""
    return next(filter(None, map(_agent, map(_event, each_part(lines)))), PLAIN_COMMAND)


def guess_transport(agent: Agent, lines: Iterable[bytes]) -> str:
    """Return the transport of the process that printed these lines; empty for a process of one turn."""
    live = agent.live
    return live.transport if live is not None and any(map(live.prints, map(_event, each_part(lines)))) else ""


def _agent(event: dict[str, Any]) -> str | None:
    return _first(map(agent_named, agent_names(demo=True)), event)


def _first(candidates: Iterable[Agent | TranscriptFormat], event: dict[str, Any]) -> str | None:
    """Return the name of the first candidate that recognizes an event; None for an empty event."""
    kind = event.get("type")
    kind = kind if isinstance(kind, str) else None
    return next((one.name for one in candidates if one.recognizes(kind, event)), None) if event else None


def _event(line: bytes) -> dict[str, Any]:
    try:
        event = parsed(line)
    except (ValueError, RecursionError):
        return {}
    return event if isinstance(event, dict) else {}
