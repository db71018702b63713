"""The common parts of the messages of ``codex app-server`` (codex-cli 0.169.0, its own schema)."""

from msgspec import Raw, Struct

ABSENT = Raw(b"")
"""The id of a message without one."""


class Params(Struct, kw_only=True, rename="camel"):
    """The thread and the turn, which most messages name."""

    thread_id: str | None = None
    turn_id: str | None = None


class Message(Struct, tag_field="method", kw_only=True):
    """A line with a method; ``id`` is there if codex waits for an answer."""

    id: Raw = ABSENT
