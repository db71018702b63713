"""The events of ``claude -p --output-format stream-json --verbose`` (Claude Code 2.1.197 to 2.1.330).

Every field but ``type`` is optional, because other versions leave some out (docs/protocols/claude.md, "Stream").
"""

from msgspec import Raw, Struct, field

from agentdash.sessions.agents.parsing.json_lines import NULL, Count, CountedWords, Dollars, Part, Words
from agentdash.sessions.model.session import Usage, exact_sum


class Request(Struct):
    """A request on the control channel that waits for an answer: ``can_use_tool`` or ``elicitation``.

    Seen with ``--permission-prompt-tool stdio`` (docs/protocols/claude.md, "Approvals").
    """

    subtype: str = ""
    tool_name: Words = ""
    tool_use_id: Words = ""
    agent_id: Words | None = None
    """The sub-agent that asks, which may work in a worktree of its own (2.1.332)."""
    input: Raw = NULL
    """The arguments of the call; an answer that allows it repeats them."""
    description: Words | None = None
    decision_reason: Words | None = None
    """Why claude does not decide by itself."""
    permission_suggestions: Raw = NULL
    """Changes of the permissions by which claude would not ask again; an empty list if it has none."""
    mcp_server_name: Words = ""
    message: Words = ""
    """The words of an MCP server's form."""
    requested_schema: Raw = NULL
    """The JSON schema of its values."""
    url: Words = ""
    """The page that the user should open instead."""


class Decision(Struct, rename="camel"):
    """The user's answer, or claude's own answer to a request."""

    behavior: str | None = None
    """``allow`` or ``deny``."""
    message: Words = ""
    interrupt: bool | None = None
    updated_input: Raw = NULL
    """The arguments with which the call is allowed; the answers to questions are among them."""
    updated_permissions: Raw = NULL
    action: str | None = None
    """``accept``, ``decline`` or ``cancel``: the answer to an elicitation."""
    cancelled: bool | None = None
    """True if a prompt was taken back."""


class Response(Struct):
    """The answer to a request; claude prints each answer that it got once."""

    subtype: str = ""
    """``success`` or ``error``."""
    request_id: Words = ""
    response: Decision | None = None
    error: Words = ""


SYNTHETIC = "<synthetic>"
"""The "model" of messages that claude makes up: errors of the API, and answers to its own commands (``/context``)."""

FILLER = frozenset({"(no content)", "No response requested."})
"""Texts in the model's name that fill the place of an answer (2.1.330 marks them; earlier versions do not)."""

LOCAL_COMMAND = "<local-command-"
"""The beginning of a repeated line that is not a prompt: claude's own answer to a command such as ``/compact``."""

COMMAND = "<command-"
"""The beginning of a repeated prompt that is a command: claude puts its name and its arguments into tags."""


class CacheWrites(Struct):
    """The tokens written to the cache, by the time that they stay there."""

    ephemeral_1h_input_tokens: Count | None = None


class ApiUsage(Struct):
    """Tokens of one model call, or of the turns that a ``result`` ends; cached tokens are counted separately."""

    input_tokens: Count | None = None
    cache_creation_input_tokens: Count | None = None
    cache_read_input_tokens: Count | None = None
    output_tokens: Count | None = None
    cache_creation: CacheWrites | None = None

    def counted(self) -> Usage:
        """Return the usage as agentdash counts it: ``input_tokens`` includes tokens read from and written to caches."""
        read, written = self.cache_read_input_tokens, self.cache_creation_input_tokens
        total = None if self.input_tokens is None else self.input_tokens + (read or 0) + (written or 0)
        return Usage.of(total, read, self.output_tokens, written=written)

    @property
    def written_1h(self) -> int | None:
        """The part of the tokens written to the cache that stays for an hour."""
        return self.cache_creation.ephemeral_1h_input_tokens if self.cache_creation is not None else None


class Text(Struct, tag_field="type", tag="text"):
    """Text for the user."""

    text: Words = ""


class Thinking(Struct, tag_field="type", tag="thinking"):
    """The model's reasoning."""

    thinking: Words = ""


class RedactedThinking(Struct, tag_field="type", tag="redacted_thinking"):
    """Reasoning that is not shown."""


class ToolUse(Struct, tag_field="type", tag="tool_use"):
    """A tool call; it stays open until the result with the same id."""

    id: Words = ""
    name: str = ""
    input: Raw = NULL


class ToolResult(Struct, tag_field="type", tag="tool_result"):
    """The answer of a tool."""

    tool_use_id: Words = ""
    content: Words | list[Part] | None = None
    is_error: bool | None = None


class Image(Struct, tag_field="type", tag="image"):
    """A picture."""


class Document(Struct, tag_field="type", tag="document"):
    """A file that was read for the model."""


Block = Text | Thinking | RedactedThinking | ToolUse | ToolResult | Image | Document
"""One content block; an ``assistant`` line holds exactly one."""


class Message(Struct):
    """One message of the API; the blocks of one model call share the id and repeat its starting usage."""

    id: str | None = None
    model: str | None = None
    content: Words | list[Block] = field(default_factory=list)
    usage: ApiUsage | None = None


class Line(Struct, tag_field="type", kw_only=True):
    """The fields that most lines have."""

    session_id: str | None = None
    parent_tool_use_id: str | None = None
    """The tool call of the sub-agent that speaks; None for the main agent."""


class CompactMetadata(Struct):
    """The context that a ``compact_boundary`` replaced."""

    trigger: str | None = None
    """``manual`` or ``auto``."""
    pre_tokens: Count | None = None
    post_tokens: Count | None = None


class System(Line, tag="system"):
    """An event outside the conversation; ``subtype`` names its kind and decides which fields are present."""

    subtype: str = ""
    model: str | None = None
    claude_code_version: str | None = None
    cwd: Words = ""
    attempt: Count | None = None
    max_retries: Count | None = None
    error_status: Count | None = None
    error: Raw = NULL
    estimated_tokens: Count | None = None
    status: str | None = None
    permission_mode: str | None = field(default=None, name="permissionMode")
    summary: Words | None = None
    description: Words | None = None
    content: Words | None = None
    text: Words | None = None
    reason: Words | None = None
    state: str | None = None
    title: Words | None = None
    kind: str | None = None
    error_code: str | None = None
    """For ``session_writes_lost``: ``ENOSPC`` or ``EDQUOT`` (2.1.330)."""
    hook_name: str | None = None
    tool_name: str | None = None
    tool_use_id: str | None = None
    """For ``task_started`` and ``task_notification``: the call that began the task."""
    is_backgrounded: bool | None = None
    output_file: Words | None = None
    """For ``task_notification``: the output of a task in the background; empty for one that its call waited for."""
    outcome: str | None = None
    """For ``peer_message_hold``: what became of the message."""
    compact_result: str | None = None
    """``success`` or ``failed``, in a ``status`` at the end of a compaction."""
    compact_error: Words | None = None
    compact_metadata: CompactMetadata | None = None


class Assistant(Line, tag="assistant"):
    """The model speaks, thinks or calls a tool."""

    message: Message
    error: Words | None = None
    """The kind of an error of the API, of which the message has the text; only with :data:`SYNTHETIC`."""


class Origin(Struct):
    """The way by which text in the user's name came."""

    kind: str | None = None
    """``peer``: another process wrote it to claude's inbox socket (2.1.330, 2.1.332)."""


class User(Line, tag="user"):
    """Results of tools, and text in the user's name."""

    message: Message
    tool_use_result: Raw = NULL
    """The result again, in the tool's own shape (see :class:`FileResult` and the classes after it)."""
    is_replay: bool | None = field(default=None, name="isReplay")
    """The line repeats a prompt from stdin."""
    origin: Origin | None = None
    timestamp: str | None = None
    """Missing if the prompt was sent a second time, or begins a turn together with others (2.1.197, 2.1.330)."""


class Denial(Struct):
    """A tool that needed a permission, with no user to grant it."""

    tool_name: str = "a tool"
    tool_use_id: Words = ""
    tool_input: Raw = NULL


class ModelUsage(Struct, rename="camel"):
    """Tokens of one model, as the running total of a ``result`` counts them."""

    input_tokens: Count | None = 0
    cache_creation_input_tokens: Count | None = 0
    cache_read_input_tokens: Count | None = 0
    output_tokens: Count | None = 0
    written_1h: Count | None = field(default=None, name="cacheCreationEphemeral1hInputTokens")
    """The part of the tokens written to the cache that stays for an hour (2.1.330)."""
    cost_usd: Dollars | None = field(default=None, name="costUSD")
    context_window: Count = 0
    """The greatest number of tokens that the model takes; 0 if it is not known."""

    @property
    def tokens(self) -> int | None:
        """All tokens; None if one of the numbers cannot be read."""
        return self.counted().total_tokens

    def counted(self) -> Usage:
        """Return the usage as agentdash counts it."""
        read, written = self.cache_read_input_tokens, self.cache_creation_input_tokens
        return Usage.of(exact_sum(self.input_tokens, read, written), read, self.output_tokens, written=written)


class Result(Line, tag="result"):
    """The end of a turn.

    ``usage`` covers the time since the previous result.  ``total_cost_usd`` and ``modelUsage`` are running totals: of
    the process (2.1.197), or of the conversation, whose total a resumed process continues (2.1.330).

    If the model's API failed, ``subtype`` is still ``success``, but ``is_error`` is true.  An answer that was cut in
    mid-stream has no such sign; it only lacks ``stop_reason``.  So does a command of claude itself, of which no model
    was asked: it has 0 ``num_turns`` and no ``terminal_reason``.
    """

    subtype: str = ""
    is_error: bool | None = None
    result: CountedWords | None = None
    errors: list[Words] = field(default_factory=list)
    stop_reason: str | None = None
    num_turns: Count | None = None
    """Model calls; 0 if the prompt was a command of claude itself."""
    terminal_reason: str | None = None
    total_cost_usd: Dollars | None = None
    usage: ApiUsage | None = None
    permission_denials: list[Denial] = field(default_factory=list)
    model_usage: dict[str, ModelUsage] | None = field(default=None, name="modelUsage")


class StreamEvent(Line, tag="stream_event"):
    """A piece of a message whose whole line follows (``--include-partial-messages``)."""


class ToolProgress(Line, tag="tool_progress"):
    """A started tool is still running."""


class KeepAlive(Line, tag="keep_alive"):
    """A keep-alive without content."""


class RateLimitInfo(Struct):
    """The used part of a subscription's allowance."""

    status: str | None = None
    """``allowed``, ``allowed_warning`` or ``rejected``."""
    limit: str | None = field(default=None, name="rateLimitType")
    """For example ``five_hour``."""


class RateLimitEvent(Line, tag="rate_limit_event"):
    """The state of a subscription's allowance changed."""

    rate_limit_info: RateLimitInfo = field(default_factory=RateLimitInfo)


class AuthStatus(Line, tag="auth_status"):
    """A login, or the reason why it failed."""

    output: list[str] = field(default_factory=list)
    error: str | None = None


class ToolUseSummary(Line, tag="tool_use_summary"):
    """A summary of the preceding calls in one sentence."""

    summary: Words = ""


class PromptSuggestion(Line, tag="prompt_suggestion"):
    """A suggestion for the user's next prompt."""

    suggestion: Words = ""


class CommandLifecycle(Line, tag="command_lifecycle"):
    """The progress of a prompt from stdin; only with ``--input-format stream-json`` (2.1.330)."""

    state: str | None = None
    """``queued``, ``started``, ``completed`` or ``cancelled``."""


class ConversationReset(Line, tag="conversation_reset"):
    """The earlier conversation is discarded (2.1.330)."""

    trigger: str | None = None
    """For example ``clear``."""


class ControlResponse(Line, tag="control_response"):
    """The answer to a request, of either side."""

    response: Response = field(default_factory=Response)


class ControlRequest(Line, tag="control_request"):
    """A request of claude."""

    request_id: Words = ""
    request: Request = field(default_factory=Request)


class ControlCancelRequest(Line, tag="control_cancel_request"):
    """claude no longer waits for the answer to a request: the turn was interrupted."""

    request_id: Words = ""


Silent = StreamEvent | ToolProgress | KeepAlive
Remark = RateLimitEvent | AuthStatus | ToolUseSummary | PromptSuggestion | CommandLifecycle | ConversationReset
Control = ControlResponse | ControlRequest | ControlCancelRequest
Event = System | Assistant | User | Result | Silent | Remark | Control


class Hunk(Struct, rename="camel"):
    """One piece of a diff; ``lines`` begin with a blank, ``+`` or ``-``."""

    old_start: Count = 0
    old_lines: Count = 0
    new_start: Count = 0
    new_lines: Count = 0
    lines: list[str] = field(default_factory=list)


class FileResult(Struct, rename="camel"):
    """The ``tool_use_result`` of Write, Edit, MultiEdit and NotebookEdit."""

    type: str | None = None
    """``create`` or ``update`` (Write); absent otherwise."""
    file_path: str | None = None
    content: Words | None = None
    structured_patch: list[Hunk] = field(default_factory=list)


class BashResult(Struct):
    """The ``tool_use_result`` of a Bash call that did not fail."""

    interrupted: bool = False


class Task(Struct):
    """A task of the todo list."""

    id: str | None = None
    """For example ``1``; TaskUpdate names the task by it."""
    subject: Words = ""
    status: str | None = None


class TaskResult(Struct):
    """The ``tool_use_result`` of TaskCreate (``task``), TaskUpdate (``success``) and TaskList (``tasks``)."""

    task: Task = field(default_factory=Task)
    success: bool | None = None
    """False, without an error, if there is no such task (2.1.330)."""
    tasks: list[Task] | None = None
