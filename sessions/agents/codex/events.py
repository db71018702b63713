"""The events of ``codex exec --json``: one JSON object a line (codex-cli 0.169.0).

Every field but ``type`` is optional, because other versions leave some out (docs/protocols/codex.md, "Stream").
"""

from msgspec import Struct, field

from agentdash.sessions.agents.codex.items import AnyItem, Failure
from agentdash.sessions.agents.parsing.json_lines import Count, Words


class Usage(Struct):
    """Tokens of the whole thread so far, not of the turn."""

    input_tokens: Count | None = None
    cached_input_tokens: Count | None = None
    cache_write_input_tokens: Count | None = None
    output_tokens: Count | None = None
    reasoning_output_tokens: Count | None = None


class ThreadStarted(Struct, tag_field="type", tag="thread.started"):
    """The first line: the conversation's id, which stays the same at a resume."""

    thread_id: str | None = None


class TurnStarted(Struct, tag_field="type", tag="turn.started"):
    """The turn begins."""


class TurnCompleted(Struct, tag_field="type", tag="turn.completed"):
    """The proper end of a good turn."""

    usage: Usage | None = None


class TurnFailed(Struct, tag_field="type", tag="turn.failed"):
    """The proper end of a failed turn; it has no usage."""

    error: Failure | Words = field(default_factory=Failure)


class TopError(Struct, tag_field="type", tag="error"):
    """An error, or a notice such as ``Reconnecting... 1/2``: it never ends a turn on its own."""

    message: Words = ""


class ItemStarted(Struct, tag_field="type", tag="item.started"):
    """An item begins."""

    item: AnyItem


class ItemUpdated(Struct, tag_field="type", tag="item.updated"):
    """An item changed (only todo lists)."""

    item: AnyItem


class ItemCompleted(Struct, tag_field="type", tag="item.completed"):
    """An item ended."""

    item: AnyItem


Event = ThreadStarted | TurnStarted | TurnCompleted | TurnFailed | TopError | ItemStarted | ItemUpdated | ItemCompleted
