"""The items of ``codex app-server``: what the agent does (codex-cli 0.169.0, and its own schema).

They have unique ids and times, and file changes have diffs (docs/protocols/codex.md, "App-server").
"""

from typing import Annotated

from msgspec import Meta, Raw, Struct, field

from ...parsing.json_lines import NULL, Part, Words
from ..events import Failure

Moment = Annotated[int, Meta(ge=0, le=2**42)]
"""A time in UTC ms; bounded, so that it is a date."""


class Item(Struct, tag_field="type", kw_only=True, rename="camel"):
    """One action of the agent; its beginning and its end share the id."""

    id: Words = ""
    started_at_ms: Moment | None = None
    completed_at_ms: Moment | None = None


class Fragment(Struct):
    """One piece of the user's input; only text is shown."""

    type: str = ""
    text: Words | None = None


class UserMessage(Item, tag="userMessage"):
    """A prompt that has become part of the conversation."""

    client_id: str | None = None
    content: list[Fragment] = field(default_factory=list)


class HookPrompt(Item, tag="hookPrompt"):
    """Text that a hook added to the conversation."""

    fragments: list[Fragment] = field(default_factory=list)


class AgentMessage(Item, tag="agentMessage"):
    """Text for the user."""

    text: Words = ""


class Plan(Item, tag="plan"):
    """A proposed plan, in plan mode."""

    text: Words = ""


class Reasoning(Item, tag="reasoning"):
    """The model's reasoning: its summary, or its text if the model shows that."""

    summary: list[Words] = field(default_factory=list)
    content: list[Words] = field(default_factory=list)


class CommandExecution(Item, tag="commandExecution"):
    """A shell command; it may outlive its turn."""

    command: Words = ""
    status: str = ""
    aggregated_output: Words | None = None
    exit_code: Annotated[int, Meta(ge=-(2**31), le=2**32)] | None = None


class PatchKind(Struct, rename={"kind": "type"}):
    """The kind of a change, and the new path of a file that is moved."""

    kind: str = "update"
    move_path: str | None = None


class FileUpdate(Struct):
    """One file of a patch; ``diff`` is the whole text of a file that is added or deleted."""

    path: str = ""
    kind: PatchKind = field(default_factory=PatchKind)
    diff: Words = ""


class FileChange(Item, tag="fileChange"):
    """A patch; its beginning has the diffs already."""

    changes: list[FileUpdate] = field(default_factory=list)
    status: str = ""


class ToolAnswer(Struct, rename="camel"):
    """The result of an MCP tool."""

    content: list[Part] = field(default_factory=list)
    structured_content: Raw = NULL


class McpToolCall(Item, tag="mcpToolCall"):
    """A call of an MCP server's tool."""

    server: str | None = None
    tool: str | None = None
    arguments: Raw = NULL
    result: ToolAnswer | None = None
    error: Failure | Words | None = None
    status: str = ""


class DynamicToolCall(Item, tag="dynamicToolCall"):
    """A call of a tool that the client offers."""

    tool: str | None = None
    arguments: Raw = NULL
    content_items: list[Part] | None = None
    status: str = ""


class CollabAgentToolCall(Item, tag="collabAgentToolCall"):
    """An action on sub-agents."""

    tool: str | None = None
    receiver_thread_ids: list[str] = field(default_factory=list)
    prompt: Words | None = None
    agents_states: Raw = NULL
    status: str = ""


class WebSearch(Item, tag="webSearch"):
    """A web search."""

    query: Words = ""
    action: Raw = NULL


class FunctionCallOutput(Item, tag="functionCallOutput"):
    """The output of a call that has no item of its own."""

    name: Words = ""
    output: Raw = NULL


class SubAgentActivity(Item, tag="subAgentActivity"):
    """A sub-agent began, was sent a message, or ended."""

    kind: Words = ""
    agent_path: Words = ""


class ImageView(Item, tag="imageView"):
    """The agent opened an image."""

    path: Words = ""


class ImageGeneration(Item, tag="imageGeneration"):
    """The agent made an image."""


class Sleep(Item, tag="sleep"):
    """The agent waits."""


class EnteredReviewMode(Item, tag="enteredReviewMode"):
    """A review begins."""

    review: Words = ""


class ExitedReviewMode(Item, tag="exitedReviewMode"):
    """A review ended."""

    review: Words = ""


class ContextCompaction(Item, tag="contextCompaction"):
    """The conversation was summarized, because its context was full."""


AnyItem = (
    UserMessage
    | HookPrompt
    | AgentMessage
    | Plan
    | Reasoning
    | CommandExecution
    | FileChange
    | McpToolCall
    | DynamicToolCall
    | CollabAgentToolCall
    | WebSearch
    | FunctionCallOutput
    | SubAgentActivity
    | ImageView
    | ImageGeneration
    | Sleep
    | EnteredReviewMode
    | ExitedReviewMode
    | ContextCompaction
)
