"""The events of the demo agent: one JSON object a line, the same structs for who writes and who reads them."""

from typing import Annotated, Any

from msgspec import Meta, Struct

from ..json_lines import Count


class Event(Struct, tag_field="type", kw_only=True, omit_defaults=True):
    """One thing that happened."""


class Started(Event, tag="started"):
    """The conversation's id, the same again at a follow-up."""

    conversation: str
    model: str


class Reasoning(Event, tag="reasoning"):
    """What the agent thinks."""

    text: str


class Message(Event, tag="message"):
    """Words for the user."""

    text: str


class Plan(Event, tag="plan"):
    """The todo list, whole: (text, status) each."""

    items: list[tuple[str, str]]


class CommandStarted(Event, tag="command.started"):
    """A shell command begins."""

    id: str
    command: str


class CommandEnded(Event, tag="command.ended"):
    """It is over."""

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
    """Why it was not written; None if it was."""


class Helper(Event, tag="helper"):
    """A sub-agent did something."""

    task: str
    result: str


class Trouble(Event, tag="trouble"):
    """An error that ends nothing."""

    message: str


class Retry(Event, tag="retry"):
    """The agent tries again."""

    message: str


class Ended(Event, tag="ended"):
    """The proper end of a turn."""

    ok: bool = False
    """Only true is a good end."""
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
