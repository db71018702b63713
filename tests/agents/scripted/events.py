"""The events of the scripted agent: one JSON object a line; the player and the parser share these structs."""

from typing import Annotated, Any

from msgspec import Meta, Struct

from agentdash.sessions.agents.parsing.json_lines import Count


class Event(Struct, tag_field="type", kw_only=True, omit_defaults=True):
    """One event."""


class Started(Event, tag="started"):
    """The conversation's id, which stays the same at a follow-up."""

    conversation: str
    model: str


class Reasoning(Event, tag="reasoning"):
    """The agent's reasoning."""

    text: str


class Message(Event, tag="message"):
    """Text for the user."""

    text: str


class Plan(Event, tag="plan"):
    """The whole todo list, as pairs of (text, status)."""

    items: list[tuple[str, str]]


class CommandStarted(Event, tag="command.started"):
    """A shell command begins."""

    id: str
    command: str
    ask: str | None = None
    """The ask that allowed it."""


class CommandEnded(Event, tag="command.ended"):
    """A shell command ended."""

    id: str
    exit_code: Annotated[int, Meta(ge=-(2**31), le=2**32)]
    output: str


class ToolCall(Event, tag="tool"):
    """A tool of an MCP server was called."""

    server: str
    tool: str
    arguments: Any
    result: str
    failed: bool = False
    ask: str | None = None
    """The ask that allowed it."""


class Search(Event, tag="search"):
    """The web was searched."""

    query: str
    result: str


class FileChange(Event, tag="file"):
    """A file was written."""

    path: str
    kind: str
    diff: str
    error: str | None = None
    """The reason why the file was not written; None if it was."""
    ask: str | None = None
    """The ask that allowed it."""


class Helper(Event, tag="helper"):
    """A sub-agent did something."""

    task: str
    result: str


class Trouble(Event, tag="trouble"):
    """An error that does not end the turn."""

    message: str


class Retry(Event, tag="retry"):
    """The agent tries again."""

    message: str


class Ended(Event, tag="ended"):
    """The proper end of a turn."""

    ok: bool = False
    """True only if the turn ended well."""
    input_tokens: Count | None = None
    cached_input_tokens: Count | None = None
    output_tokens: Count | None = None
    reasoning_output_tokens: Count | None = None
    cost_usd: float | None = None
    error: str | None = None


AnyEvent = (
    Started
    | Reasoning
    | Message
    | Plan
    | CommandStarted
    | CommandEnded
    | ToolCall
    | Search
    | FileChange
    | Helper
    | Trouble
    | Retry
    | Ended
)
