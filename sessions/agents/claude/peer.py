"""Prompts of other programs: what claude's inbox socket delivers (2.1.330, 2.1.332).  Pure."""

from .events import Block, Text, User

_BEGIN, _END = "Another Claude session sent a message:\n", "\n\nThis came from another Claude session"
"""The words in which claude wraps such a message."""


def is_from_peer(event: User) -> bool:
    """Return whether another program sent the text."""
    return event.origin is not None and event.origin.kind == "peer"


def peer_text(content: "str | list[Block]") -> str:
    """Return the words of the other program; the whole text if claude wraps them in other words."""
    text = content if isinstance(content, str) else "\n".join(one.text for one in content if isinstance(one, Text))
    inner, found, _ = text.removeprefix(_BEGIN).rpartition(_END)
    return inner if found and text.startswith(_BEGIN) else text
