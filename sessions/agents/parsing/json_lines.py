"""Safe reading of an agent's JSON lines: numbers, free-form values and kinds that cannot harm a reader.

An agent prints text from models, servers and files.  Values from this module can always be encoded again: they hold
no lone surrogates, no numbers beyond 64 bits, and no nesting that is too deep for a later reader's stack.
"""

from datetime import datetime
from typing import Annotated, Any, TypeVar

import msgspec
from msgspec import Meta, Raw, Struct

from agentdash.sessions.agents.parsing.json_repair import DEEPEST, parsed, repaired
from agentdash.sessions.model import typed

T = TypeVar("T")

UNREADABLE = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)
"""The errors that decoding a line can raise."""

Count = Annotated[int, Meta(ge=0, le=2**40)]
"""A number of tokens or tries; bounded, so that sums of them fit in the store."""

Dollars = Annotated[float, Meta(ge=0, le=1e9)]
"""A cost in US dollars; bounded for the same reason."""

NULL = Raw(b"null")

Words = Annotated[str, Meta(extra={"words": True})]
"""Text for people; a value of another type is read as its JSON text (:mod:`.tolerant_decoder`)."""

CountedWords = Annotated[str, Meta(extra={"words": True, "counted": True})]
"""The same for a field that is text in every version so far: another type also counts as unreadable."""

NOT_JSON = "not JSON"
"""The kind of a line that is not JSON."""

_NAMES = {type(None): "null", bool: "boolean", list: "array", dict: "object", str: "string"}
"""JSON's names of its types."""

KIND_LENGTH = 80
"""Characters kept of an unknown event's own name."""


class Kind(Struct):
    """The type of an event, an item or a block, whose other fields depend on it."""

    type: str = ""


class Part(Struct):
    """One piece of a tool's answer, or of the user's input; a piece that is not text is only named."""

    type: str = ""
    text: Words | None = None


def joined(parts: list[Part]) -> str:
    """Join the pieces into one text."""
    return "\n".join(part.text if part.text is not None else f"({part.type})" for part in parts)


def value_of(raw: Raw) -> Any:
    """Return a free-form value; if it or a member cannot be passed on as it is, its JSON text replaces it."""
    is_plain, value = _plain(bytes(raw))
    if is_plain:
        return value
    data = repaired(bytes(raw))
    try:
        members = typed.decode(data, dict[str, Raw])
    except UNREADABLE:
        return _value_or_text(data)
    return {name: _value_or_text(bytes(member)) for name, member in members.items()}


def _value_or_text(data: bytes) -> Any:
    is_plain, value = _plain(data)
    return value if is_plain else data.decode()


def _plain(data: bytes) -> tuple[bool, Any]:
    """Return whether a value can be read and passed on, and the value."""
    try:
        value = typed.decode(data)
    except UNREADABLE:
        return False, None
    return _is_plain(value), value


def decoded(data: bytes | str | Raw, kind: type[T]) -> T | None:
    """Decode JSON strictly as a value of a type; None if it is not one."""
    try:
        return typed.decode(data, kind)
    except UNREADABLE:
        return None


def text_of(raw: Raw) -> str:
    """Return the JSON text of a value."""
    return bytes(raw).decode("utf-8", "replace")


def text_in(value: Any) -> str:
    """Return a value that should be text; empty if it is not."""
    return value if isinstance(value, str) else ""


def milliseconds(stamp: str | None) -> int | None:
    """Return a time such as ``2026-11-20T23:49:30.653Z`` as UTC milliseconds; None if it is not a time."""
    try:
        return round(datetime.fromisoformat(stamp).timestamp() * 1000) if stamp else None
    except (ValueError, OverflowError, OSError):
        return None


def declared_type(line: bytes) -> str:
    """Return the types that an unrecognized line gives itself, outermost first."""
    try:
        return declared_type_of_value(parsed(line))
    except RecursionError:
        return "nested too deeply"
    except ValueError:
        return NOT_JSON


def declared_type_of_value(data: Any) -> str:
    """Return the types that a value gives itself, outermost first."""
    if not isinstance(data, dict):
        return f"JSON {_NAMES.get(type(data), 'number')}"
    params = data.get("params")
    item = (params if isinstance(params, dict) else data).get("item")
    kind = item.get("type") if isinstance(item, dict) else None
    names = (data.get("method"), data.get("type"), data.get("subtype"), kind)
    return " ".join(name for name in names if isinstance(name, str))[:KIND_LENGTH] or "JSON without a type"


def _is_plain(value: Any) -> bool:
    """Return whether a value can be encoded again; level by level, because recursion could overflow the stack."""
    level = [value]
    for _ in range(DEEPEST):
        if any(isinstance(item, int) and not -(2**63) <= item < 2**63 for item in level):
            return False
        below = [item.values() if isinstance(item, dict) else item for item in level if isinstance(item, dict | list)]
        level = [inner for container in below for inner in container]
        if not level:
            return True
    return False
