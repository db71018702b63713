"""The output of ``--json``: one schema for every command.  Unknown is null, never 0."""

import json
import re
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct, structs, to_builtins

from agentdash.sessions.model.adjustments import Adjustment
from agentdash.sessions.model.clock import now_ms
from agentdash.sessions.model.session import MESSAGE_CHARACTERS, Prompt, Receipt, Session, Step, StepKind, Turn
from agentdash.sessions.rules.asks.model import Ask
from agentdash.sessions.rules.asks.recorded import RecordedAsk
from agentdash.sessions.rules.attention import attention
from agentdash.sessions.text.sanitize import UNSAFE, shorten
from agentdash.sessions.text.units import dollars, share_percent

if TYPE_CHECKING:
    from agentdash.sessions.rules.conversation.marks import Mark
    from agentdash.sessions.rules.conversation.shown import Shown
    from agentdash.sessions.rules.digest.collect import Digest

NOT_PRINTED: dict[type[Struct], frozenset[str]] = {
    Session: frozenset({
        "host", "seen_at", "seen_steps", "stuck", "stuck_at", "denied_names", "stopped_by", "steers", "reported_turn",
        "woken_turn", "led", "escalated", "handled_at",
    }),
    Step: frozenset({"call_id", "cut"}),
    Ask: frozenset({"key", "unplaced", "each_time", "for_user"}),
    RecordedAsk: frozenset({"ask", "stream", "overdue"}),
}  # fmt: skip
"""The fields that only the program itself uses; all others are printed."""


def printed(kind: type[Struct]) -> list[str]:
    """Return the names of the fields of a type that are printed, in their order."""
    return [field.name for field in structs.fields(kind) if field.name not in NOT_PRINTED.get(kind, ())]


_SESSION_KEYS = printed(Session)
_SESSION_MONEY = [key for key in _SESSION_KEYS if key.endswith("_usd")]
_ASK_KEYS, _RECORDED_KEYS = printed(Ask), printed(RecordedAsk)


def session_json(session: Session, now: int | None = None) -> dict[str, Any]:
    """Return a session with the fields that are printed.

    ``attention`` is the reason why the session needs the user, null if it does not; silence is counted up to ``now``
    (UTC ms).  ``context_percent`` is the part of the model's context in use, as the table shows it; null if it is not
    known.
    """
    data = to_builtins(session)
    # rounded() goes through all keys of a record, which takes a fifth of the time of a long list.
    for key in _SESSION_MONEY:
        data[key] = dollars(data[key])
    data["task"] = shorten(session.task, MESSAGE_CHARACTERS)
    data["budget"] = data["budget"] and rounded(data["budget"])
    return {key: data[key] for key in _SESSION_KEYS} | {
        "context_percent": share_percent(session.context_tokens, session.context_window),
        "attention": to_builtins(attention(session, now_ms() if now is None else now)),
        "unread": session.unread,
    }


STEP_KEYS = ("turn", "index", "kind", "text", "status", "at", "ended_at")
_DECIDED = ("asked_at", "decided_at")
_TOOL = ("server", "tool", "arguments", "output", *_DECIDED)
OWN_STEP_KEYS: dict[StepKind, tuple[str, ...]] = {
    StepKind.PROMPT: ("from",),
    StepKind.START: ("agent_session", "model"),
    StepKind.REASONING: ("about_tokens",),
    StepKind.COMMAND: ("command", "exit_code", "output", *_DECIDED),
    StepKind.TOOL_CALL: _TOOL,
    StepKind.WEB_SEARCH: _TOOL,
    StepKind.SUBAGENT: _TOOL,
    StepKind.FILE_CHANGE: ("tool", "changes", "output", *_DECIDED),
    StepKind.PLAN: ("items",),
    StepKind.ERROR: ("fatal", "command", "exit_code", "output"),
    StepKind.NOTICE: ("event",),
    StepKind.USAGE: ("usage", "whole_thread", "turn_usage", "cost_usd"),
    StepKind.UNKNOWN: ("event",),
}


def step_json(step: Step, *, cut: bool = False) -> dict[str, Any]:
    """Return the step as ``trajectory --json`` prints it: the common fields and those of its kind.

    One that was ``cut`` by going back has ``cut``, which is true; other steps lack it.
    """
    data: dict[str, Any] = to_builtins(step)
    for change, plain in zip(step.changes, data["changes"], strict=True):
        plain["added"], plain["removed"] = change.lines or (None, None)
    keys = STEP_KEYS + OWN_STEP_KEYS.get(step.kind, ()) + (("parent",) if step.parent else ())
    return {key: data[key] for key in keys} | ({"cut": True} if cut else {})


def record_json(record: "Turn | Prompt | Adjustment | Receipt | Digest") -> dict[str, Any]:
    """Return a record with all of its fields; money is rounded to a millionth of a dollar."""
    return rounded(to_builtins(record))


def mode_json(turn: Turn) -> dict[str, Any]:
    """Return the number of a turn, and the settings with which it ran; null if they were not recorded."""
    return {"turn": turn.n, "mode": to_builtins(turn.mode)}


def ask_json(recorded: RecordedAsk) -> dict[str, Any]:
    """Return an ask with the decisions that it takes, its place and its fate.

    The agent's own key and the values of secret questions are left out.
    """
    from agentdash.sessions.rules.asks.answers import taken  # only the verbs of asks need it

    ask: dict[str, Any] = to_builtins(recorded.ask) | {"verdicts": list(taken(recorded.ask))}
    place: dict[str, Any] = to_builtins(recorded)
    return {key: place[key] for key in _RECORDED_KEYS} | {key: ask[key] for key in _ASK_KEYS}


def mark_json(mark: "Mark", shown: "Shown") -> dict[str, Any]:
    """Return a mark, if it has an effect, and if it is the one that an undo takes back next."""
    data: dict[str, Any] = to_builtins(mark)
    undoable = shown.undoable is not None and shown.undoable.id == mark.id
    return data | {"has_effect": mark.id not in shown.ignored, "undoable": undoable}


def rounded(data: dict[str, Any]) -> dict[str, Any]:
    """Return a record whose money, also in the records inside it, is rounded to a millionth of a dollar."""
    return {
        key: rounded(value) if isinstance(value, dict) else dollars(value) if key.endswith("_usd") else value
        for key, value in data.items()
    }


def dump(value: Any) -> bytes:
    """Return a value as one line of UTF-8 JSON; characters unsafe for a terminal are escaped, which keeps the value."""
    try:
        data = msgspec.json.encode(value)
    except (UnicodeEncodeError, OverflowError):
        # A path that is not UTF-8, or an agent's number beyond 64 bits: plain ASCII can carry both.
        data = json.dumps(value).encode()
    if data.isascii() and b"\x7f" not in data:
        return data + b"\n"
    return UNSAFE.sub(_escaped, data.decode()).encode() + b"\n"


def _escaped(character: re.Match[str]) -> str:
    """Return it as ``\\uXXXX``, or as a pair of them."""
    units = character[0].encode("utf-16-be")
    return "".join(f"\\u{units[at]:02x}{units[at + 1]:02x}" for at in range(0, len(units), 2))
