"""JSON lines of an agent, whatever they hold: numbers, free-form values and kinds that cannot hurt a reader.

An agent prints what a model, a server or a file gave it.  What leaves this module can always be encoded again:
no lone surrogates, no numbers beyond 64 bits, no nesting that a later reader's stack could not take.
"""

from typing import Annotated, Any

import msgspec
from msgspec import Meta, Raw, Struct

UNREADABLE = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)
"""What decoding a line can raise."""

Count = Annotated[int, Meta(ge=0, le=2**40)]
"""A number of tokens or tries; bounded, so that sums of them fit into the store."""

NULL = Raw(b"null")

_DEEPEST = 64
KIND_LENGTH = 80
"""Characters of the name that an unknown event gives itself."""


class Part(Struct):
    """One piece of what a tool answered; what is not text is only named."""

    type: str = ""
    text: str | None = None


def joined(parts: list[Part]) -> str:
    """The pieces as one text."""
    return "\n".join(part.text if part.text is not None else f"({part.type})" for part in parts)


def value_of(raw: Raw) -> Any:
    """A free-form value; its JSON text where it cannot be passed on as it is."""
    try:
        value = msgspec.json.decode(raw)
    except UNREADABLE:
        return text_of(raw)
    return value if _is_plain(value) else text_of(raw)


def text_of(raw: Raw) -> str:
    """The JSON text of a value."""
    return bytes(raw).decode("utf-8", "replace")


def kind_of(line: bytes) -> str:
    """What a line that no rule knows says it is: its types, outermost first."""
    try:
        data: Any = msgspec.json.decode(line)
    except RecursionError:
        return "nested too deeply"
    except UNREADABLE:
        return "not JSON"
    if not isinstance(data, dict):
        return f"JSON {type(data).__name__}"
    item = data.get("item")
    names = (data.get("type"), data.get("subtype"), item.get("type") if isinstance(item, dict) else None)
    return " ".join(name for name in names if isinstance(name, str))[:KIND_LENGTH] or "JSON without a type"


def _is_plain(value: Any) -> bool:
    """Level by level, because a walk that calls itself is what the depth limit is there to prevent."""
    level = [value]
    for _ in range(_DEEPEST):
        if any(isinstance(found, int) and not -(2**63) <= found < 2**63 for found in level):
            return False
        below = [
            found.values() if isinstance(found, dict) else found for found in level if isinstance(found, dict | list)
        ]
        level = [inner for container in below for inner in container]
        if not level:
            return True
    return False
