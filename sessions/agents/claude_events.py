"""The events of ``claude -p --output-format stream-json --verbose`` (Claude Code 2.1.197, protocols 3.2).

Every field but ``type`` is optional, because other versions leave some out.
"""

from typing import Any

from msgspec import Struct, field


class ApiUsage(Struct):
    """Tokens of one model call, or of a whole process in a ``result``; cached ones are counted apart."""

    input_tokens: int | None = None
    cache_creation_input_tokens: int | None = None
    cache_read_input_tokens: int | None = None
    output_tokens: int | None = None


class Block(Struct, tag_field="type"):
    """One content block; an ``assistant`` line holds exactly one."""


class Text(Block, tag="text"):
    """Words for the user."""

    text: str = ""


class Thinking(Block, tag="thinking"):
    """The model's reasoning."""

    thinking: str = ""


class RedactedThinking(Block, tag="redacted_thinking"):
    """Reasoning that is not shown."""


class ToolUse(Block, tag="tool_use"):
    """A tool is called; open until the result with the same id comes."""

    id: str = ""
    name: str = ""
    input: Any = None


class ServerToolUse(Block, tag="server_tool_use"):
    """A tool that runs at the model's provider."""

    id: str = ""
    name: str = ""
    input: Any = None


class ToolResult(Block, tag="tool_result"):
    """What a tool answered; ``content`` is text or a list of blocks."""

    tool_use_id: str = ""
    content: Any = None
    is_error: bool | None = None


class Image(Block, tag="image"):
    """A picture."""


class Message(Struct):
    """One message of the API; the blocks of one model call share the id and repeat its starting usage."""

    id: str | None = None
    model: str | None = None
    content: str | list[Text | Thinking | RedactedThinking | ToolUse | ServerToolUse | ToolResult | Image] = field(
        default_factory=list
    )
    stop_reason: str | None = None
    usage: ApiUsage | None = None


class Line(Struct, tag_field="type", kw_only=True):
    """What most lines carry."""

    session_id: str | None = None
    parent_tool_use_id: str | None = None
    """The tool call of the sub-agent that speaks; None for the main agent."""


class System(Line, tag="system"):
    """Everything around the conversation; ``subtype`` tells what."""

    subtype: str = ""
    model: str | None = None
    attempt: int | None = None
    max_retries: int | None = None
    error_status: int | None = None
    error: Any = None
    status: str | None = None
    permission_mode: str | None = field(default=None, name="permissionMode")
    description: str | None = None
    summary: str | None = None
    last_tool_name: str | None = None
    estimated_tokens: int | None = None
    patch: Any = None


class Assistant(Line, tag="assistant"):
    """The model speaks, thinks or calls a tool."""

    message: Message


class User(Line, tag="user"):
    """Results of tools, and words put in the user's mouth."""

    message: Message
    tool_use_result: Any = None
    is_replay: bool | None = field(default=None, name="isReplay")


class Denial(Struct):
    """A tool that needed a permission nobody could give."""

    tool_name: str = ""
    tool_input: Any = None


class Result(Line, tag="result"):
    """The end of a turn.

    ``subtype`` is ``success`` even when the model's API failed; then ``is_error`` is true.  An answer cut in mid
    stream has neither, only a ``stop_reason`` of null.
    """

    subtype: str = ""
    is_error: bool = False
    result: str | None = None
    errors: Any = None
    stop_reason: str | None = None
    total_cost_usd: float | None = None
    usage: ApiUsage | None = None
    permission_denials: list[Denial] = field(default_factory=list)


class StreamEvent(Line, tag="stream_event"):
    """A piece of a message whose whole line follows (``--include-partial-messages``)."""


class ControlResponse(Line, tag="control_response"):
    """The answer to something we asked over stdin."""

    response: Any = None


class ControlRequest(Line, tag="control_request"):
    """Something claude asks of us over stdout."""

    request: Any = None


Event = System | Assistant | User | Result | StreamEvent | ControlResponse | ControlRequest
