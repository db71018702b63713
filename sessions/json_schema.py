"""What ``--json`` prints: one schema for every verb.  Unknown is null, never 0."""

import json
import re
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import to_builtins

from .clock import now_ms
from .model import Prompt, Receipt, Session, Step, StepKind, Turn
from .rules.attention import attention
from .text.sanitize import UNSAFE

if TYPE_CHECKING:
    from .digest.collect import Digest

_SESSION_KEYS = (
    "id", "agent", "title", "task", "status", "reason", "cwd", "model", "turn", "parent", "usage", "cost_usd",
    "exit_code", "signal", "created_at", "updated_at",
    "started_at", "ended_at", "last_event_at", "last_message", "agent_session", "steps", "unknown", "left",
    "left_note", "stopping", "source", "archived_at", "pinned_at", "denied", "deleted_at",
)  # fmt: skip


def session_json(session: Session, now: int | None = None) -> dict[str, Any]:
    """A session; the keys stand in the documented order.

    ``attention`` is why somebody should look, null where nobody need; silence is counted up to ``now`` (UTC ms).
    """
    data: dict[str, Any] = to_builtins(session)
    return {key: data[key] for key in _SESSION_KEYS} | {
        "attention": to_builtins(attention(session, now_ms() if now is None else now)),
        "unread": session.unread,
    }


_COMMON = ("turn", "index", "kind", "text", "status", "at", "ended_at")
_TOOL = ("server", "tool", "arguments", "output")
_OWN: dict[StepKind, tuple[str, ...]] = {
    StepKind.START: ("agent_session", "model"),
    StepKind.COMMAND: ("command", "exit_code", "output"),
    StepKind.TOOL_CALL: _TOOL,
    StepKind.WEB_SEARCH: _TOOL,
    StepKind.SUBAGENT: _TOOL,
    StepKind.FILE_CHANGE: ("tool", "changes", "output"),
    StepKind.PLAN: ("items",),
    StepKind.ERROR: ("fatal", "command", "exit_code", "output"),
    StepKind.NOTICE: ("event",),
    StepKind.USAGE: ("usage", "whole_thread", "turn_usage", "cost_usd"),
    StepKind.UNKNOWN: ("event",),
}


def step_json(step: Step) -> dict[str, Any]:
    """The step as ``trajectory --json`` prints it: the common fields and those of its kind."""
    data: dict[str, Any] = to_builtins(step)
    for change, plain in zip(step.changes, data["changes"], strict=True):
        plain["added"], plain["removed"] = change.lines or (None, None)
    keys = _COMMON + _OWN.get(step.kind, ()) + (("parent",) if step.parent else ())
    return {key: data[key] for key in keys}


def turn_json(turn: Turn) -> dict[str, Any]:
    """A turn: the recorded facts."""
    data: dict[str, Any] = to_builtins(turn)
    return data


def prompt_json(prompt: Prompt) -> dict[str, Any]:
    """A prompt and how far it got."""
    data: dict[str, Any] = to_builtins(prompt)
    return data


def receipt_json(receipt: Receipt) -> dict[str, Any]:
    """What a stop ended, and what it could not end."""
    data: dict[str, Any] = to_builtins(receipt)
    return data


def digest_json(digest: "Digest") -> dict[str, Any]:
    """What happened, in facts."""
    data: dict[str, Any] = to_builtins(digest)
    return data


def dump(value: Any) -> bytes:
    """A value as one line of UTF-8 JSON; what no terminal should get is escaped, which leaves the value as it is."""
    try:
        data = msgspec.json.encode(value)
    except (UnicodeEncodeError, OverflowError):
        # A path that is no UTF-8, or an agent's number beyond 64 bits: plain ASCII can carry both.
        data = json.dumps(value).encode()
    if data.isascii() and b"\x7f" not in data:
        return data + b"\n"
    return UNSAFE.sub(_escaped, data.decode()).encode() + b"\n"


def _escaped(character: re.Match[str]) -> str:
    """As ``\\uXXXX``, or as a pair of them."""
    units = character[0].encode("utf-16-be")
    return "".join(f"\\u{units[at]:02x}{units[at + 1]:02x}" for at in range(0, len(units), 2))
