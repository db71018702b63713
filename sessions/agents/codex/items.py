"""The items of codex, what the agent does, and the events of ``codex exec --json``, one JSON object a line.

Seen with codex-cli 0.169.0, and in its own schema of ``codex app-server``.

``codex exec`` names them in snake case, and ``codex app-server`` most of them in camel case (:func:`in_camel_case`).
Every field is optional, because other versions leave some out (docs/protocols/codex.md, "Stream", "App-server").
"""

from typing import Annotated, TypeVar, cast

from msgspec import NODEFAULT, Meta, Raw, Struct, defstruct, field, structs

from agentdash.sessions.agents.parsing.json_lines import NULL, Count, Part, Words
from agentdash.sessions.model.session import Usage

Moment = Annotated[int, Meta(ge=0, le=2**42)]
"""A time in UTC ms; bounded, so that it is a date."""

_Item = TypeVar("_Item", bound=Struct)


class Failure(Struct):
    """An error message; often the raw text of the server."""

    message: Words = ""


class FileChange(Struct):
    """One file of a ``file_change``; the stream has no diff."""

    path: str = ""
    kind: str = "update"


class TodoItem(Struct):
    """One line of the todo list; "in progress" is flattened to not completed."""

    text: Words = ""
    completed: bool = False


class ToolAnswer(Struct):
    """The result of an MCP tool."""

    content: list[Part] = field(default_factory=list)
    structured_content: Raw = NULL
    structured_in_camel_case: Raw = field(default=NULL, name="structuredContent")
    """The same of the app-server."""


class Item(Struct, tag_field="type", kw_only=True):
    """One action of the agent; its beginning, its changes and its end share the id."""

    id: Words = ""
    started_at_ms: Moment | None = None
    """Only the app-server has times."""
    completed_at_ms: Moment | None = None


class AgentMessage(Item, tag="agent_message"):
    """Text for the user; ``codex exec`` prints it only when complete."""

    text: Words = ""


class Reasoning(Item, tag="reasoning"):
    """The model's reasoning: its summary, or its text if the model shows that."""

    text: Words = ""
    """The summary of ``codex exec``; the app-server has the other two."""
    summary: list[Words] = field(default_factory=list)
    content: list[Words] = field(default_factory=list)


class CommandExecution(Item, tag="command_execution"):
    """A shell command, which may outlive its turn; its end has its whole output, cut to 1 MiB."""

    command: Words = ""
    aggregated_output: Words | None = None
    exit_code: Annotated[int, Meta(ge=-(2**31), le=2**32)] | None = None
    status: str = ""


class FileChanges(Item, tag="file_change"):
    """A patch."""

    changes: list[FileChange] = field(default_factory=list)
    status: str = ""


class McpToolCall(Item, tag="mcp_tool_call"):
    """A call of an MCP server's tool."""

    server: str | None = None
    tool: str | None = None
    arguments: Raw = NULL
    result: ToolAnswer | None = None
    error: Failure | Words | None = None
    status: str = ""


class CollabToolCall(Item, tag="collab_tool_call"):
    """An action on sub-agents."""

    tool: str | None = None
    receiver_thread_ids: list[str] = field(default_factory=list)
    prompt: Words | None = None
    agents_states: Raw = NULL
    status: str = ""


class WebSearch(Item, tag="web_search"):
    """A web search."""

    query: Words = ""
    action: Raw = NULL


class TodoList(Item, tag="todo_list"):
    """The agent's plan."""

    items: list[TodoItem] = field(default_factory=list)


class Warned(Item, tag="error"):
    """A warning, which does not end the turn."""

    message: Words = ""


class Call(Item):
    """A tool call as the model wrote it."""

    call_id: str | None = None
    name: str = ""
    namespace: str | None = None
    arguments: Raw = NULL
    """JSON in a string."""
    input: str | None = None
    """The text input of a custom tool, instead of arguments."""


class FunctionCall(Call, tag="function_call"):
    """A call with JSON arguments."""


class CustomToolCall(Call, tag="custom_tool_call"):
    """A call with text input."""


class ShellAction(Struct):
    """The command of a ``local_shell_call``."""

    command: list[str] = field(default_factory=list)


class LocalShellCall(Call, tag="local_shell_call"):
    """A command."""

    action: ShellAction = field(default_factory=ShellAction)


class CallOutput(Item):
    """The output of a tool call."""

    call_id: str | None = None
    output: Raw = NULL


class FunctionCallOutput(CallOutput, tag="function_call_output"):
    """The answer to a call with JSON arguments."""


class CustomToolCallOutput(CallOutput, tag="custom_tool_call_output"):
    """The answer to a call with text input."""


class LocalShellCallOutput(CallOutput, tag="local_shell_call_output"):
    """The output of a command."""


AnyItem = (
    AgentMessage | Reasoning | CommandExecution | FileChanges | McpToolCall | CollabToolCall | WebSearch | TodoList
    | Warned | FunctionCall | CustomToolCall | LocalShellCall | FunctionCallOutput | CustomToolCallOutput
    | LocalShellCallOutput
)  # fmt: skip


def in_camel_case(kind: type[_Item], tag: str) -> type[_Item]:
    """Return an item as the app-server spells it: a subclass, of which all else is the same."""
    given = ((one, one.default_factory() if one.default is NODEFAULT else one.default) for one in structs.fields(kind))
    fields = [(one.name, one.type, value) for one, value in given]
    made = defstruct(kind.__name__, fields, bases=(kind,), kw_only=True, rename="camel", tag=tag)
    return cast("type[_Item]", made)


class Tokens(Struct):
    """Tokens as codex counts them; ``input_tokens`` includes tokens read from and written to caches.

    They are those of the whole thread so far, or of one call; None for a number that cannot be read.
    """

    input_tokens: Count | None = None
    cached_input_tokens: Count | None = None
    cache_write_input_tokens: Count | None = None
    output_tokens: Count | None = None
    reasoning_output_tokens: Count | None = None

    def counted(self) -> Usage:
        """Return the numbers as agentdash counts them."""
        cached, written = self.cached_input_tokens, self.cache_write_input_tokens
        return Usage.of(self.input_tokens, cached, self.output_tokens, self.reasoning_output_tokens, written)


class ThreadStarted(Struct, tag_field="type", tag="thread.started"):
    """The first line: the conversation's id, which stays the same at a resume."""

    thread_id: str | None = None


class TurnStarted(Struct, tag_field="type", tag="turn.started"):
    """The turn begins."""


class TurnCompleted(Struct, tag_field="type", tag="turn.completed"):
    """The proper end of a good turn."""

    usage: Tokens | None = None


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
