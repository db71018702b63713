"""JSON lines of an agent, whatever they hold: numbers, free-form values and kinds that cannot hurt a reader.

An agent prints what a model, a server or a file gave it.  What leaves this module can always be encoded again:
no lone surrogates, no numbers beyond 64 bits, no nesting that a later reader's stack could not take.
"""

from typing import Annotated, Any

import msgspec
from msgspec import Meta, Raw, Struct

from .json_repair import DEEPEST, parsed, repaired

UNREADABLE = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)
"""What decoding a line can raise."""

Count = Annotated[int, Meta(ge=0, le=2**40)]
"""A number of tokens or tries; bounded, so that sums of them fit into the store."""

Dollars = Annotated[float, Meta(ge=0, le=1e9)]
"""What something cost; bounded for the same reason."""

NULL = Raw(b"null")

Words = Annotated[str, Meta(extra={"words": True})]
"""Text for people: a lenient reader takes the JSON text of a value of another type (:mod:`.tolerant_decoder`)."""

CountedWords = Annotated[str, Meta(extra={"words": True, "counted": True})]
"""The same, where every version so far prints text: another type is counted among what could not be read."""

NOT_JSON = "not JSON"
"""The kind of a line that is no JSON at all."""

KIND_LENGTH = 80
"""Characters of the name that an unknown event gives itself."""


class Part(Struct):
    """One piece of what a tool answered; what is not text is only named."""

    type: str = ""
    text: Words | None = None


def joined(parts: list[Part]) -> str:
    """The pieces as one text."""
    return "\n".join(part.text if part.text is not None else f"({part.type})" for part in parts)


def value_of(raw: Raw) -> Any:
    """A free-form value; its JSON text, or that of a member, where it cannot be passed on as it is."""
    found, value = _plain(bytes(raw))
    if found:
        return value
    data = repaired(bytes(raw))
    try:
        members = msgspec.json.decode(data, type=dict[str, Raw])
    except UNREADABLE:
        return _value_or_text(data)
    return {name: _value_or_text(bytes(member)) for name, member in members.items()}


def _value_or_text(data: bytes) -> Any:
    found, value = _plain(data)
    return value if found else data.decode()


def _plain(data: bytes) -> tuple[bool, Any]:
    """Whether a value can be read and passed on, and the value."""
    try:
        value = msgspec.json.decode(data)
    except UNREADABLE:
        return False, None
    return _is_plain(value), value


def text_of(raw: Raw) -> str:
    """The JSON text of a value."""
    return bytes(raw).decode("utf-8", "replace")


def declared_type(line: bytes) -> str:
    """The types that a line which no rule knows names itself, outermost first."""
    try:
        return declared_type_of_value(parsed(line))
    except RecursionError:
        return "nested too deeply"
    except ValueError:
        return NOT_JSON


def declared_type_of_value(data: Any) -> str:
    """The types that a value names itself, outermost first."""
    if not isinstance(data, dict):
        return f"JSON {type(data).__name__}"
    item = data.get("item")
    names = (data.get("type"), data.get("subtype"), item.get("type") if isinstance(item, dict) else None)
    return " ".join(name for name in names if isinstance(name, str))[:KIND_LENGTH] or "JSON without a type"


def _is_plain(value: Any) -> bool:
    """Level by level, because a walk that calls itself is what the depth limit is there to prevent."""
    level = [value]
    for _ in range(DEEPEST):
        if any(isinstance(found, int) and not -(2**63) <= found < 2**63 for found in level):
            return False
        below = [
            found.values() if isinstance(found, dict) else found for found in level if isinstance(found, dict | list)
        ]
        level = [inner for container in below for inner in container]
        if not level:
            return True
    return False
