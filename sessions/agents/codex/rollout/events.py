"""The lines of codex's own transcripts, ``$CODEX_HOME/sessions/…/rollout-*.jsonl``.

Seen with codex-cli 0.169.0; kinds that only other versions write are included as far as they are known.  A line holds
``timestamp``, ``type`` and ``payload``.  The ``response_item`` lines hold the model's input and output, the
``event_msg`` lines codex's reports on them: most things are in both (docs/protocols/codex.md, "Rollouts").  Every field
is optional.
"""

from typing import Annotated

from msgspec import Meta, Raw, Struct, field

from agentdash.sessions.agents.codex.items import ShellAction, Tokens
from agentdash.sessions.agents.parsing.json_lines import NULL, Count

Millis = Annotated[int, Meta(ge=0, le=2**53)]
"""A time, UTC milliseconds."""


class Line(Struct):
    """Any line.  The first versions of codex wrote bare items, without ``payload``."""

    timestamp: str | None = None
    type: str = ""
    payload: Raw = NULL
    record_type: str | None = None
    instructions: Raw = NULL


class SessionMeta(Struct):
    """``session_meta``: the first line of a thread; a fork also holds its origin's."""

    id: str | None = None
    cwd: str | None = None
    cli_version: str | None = None
    forked_from_id: str | None = None
    parent_thread_id: str | None = None
    agent_nickname: str | None = None
    agent_path: str | None = None
    source: Raw = NULL
    """The program that began the thread; of a sub-agent, an object (:class:`Source`)."""


class Spawn(Struct):
    """The origin of a sub-agent's thread, as versions before 0.169 write it."""

    parent_thread_id: str | None = None
    agent_nickname: str | None = None


class SubAgent(Struct):
    """The sub-agent of a ``source``."""

    thread_spawn: Spawn = field(default_factory=Spawn)


class Source(Struct):
    """The ``source`` of a sub-agent's thread."""

    subagent: SubAgent = field(default_factory=SubAgent)


class SandboxPolicy(Struct):
    """codex's sandbox policy."""

    type: str | None = None
    mode: str | None = None


class TurnContext(Struct):
    """``turn_context``, and the settings of ``thread_settings_applied``."""

    cwd: str | None = None
    model: str | None = None
    approval_policy: Raw = NULL
    sandbox_policy: Raw = NULL
    effort: str | None = None
    reasoning_effort: str | None = None


class Compacted(Struct):
    """``compacted``: a summary replaced the conversation so far."""

    message: str = ""


# The model's input and output: ``response_item``.


class Content(Struct):
    """One piece of a message; a piece that is not text is only named."""

    type: str = ""
    text: str | None = None
    encrypted_content: str | None = None


class Passthrough(Struct):
    """The origins of a message's pieces: ``user.text``, ``permissions.instructions``."""

    content_item_kinds: list[str] = field(default_factory=list)


class Message(Struct):
    """``message``: from the user, from the harness in the user's or developer's name, or from the model."""

    id: str | None = None
    role: str = ""
    content: list[Content] = field(default_factory=list)
    internal_chat_message_metadata_passthrough: Passthrough | None = None


class AgentLetter(Struct):
    """``agent_message``: a message from one agent of a team to another."""

    author: str = ""
    recipient: str = ""
    content: list[Content] = field(default_factory=list)


class ReasoningItem(Struct):
    """``reasoning``: its summary, its text, or only its encrypted content."""

    id: str | None = None
    summary: list[Content] = field(default_factory=list)
    content: list[Content] | None = None
    encrypted_content: str | None = None


class FunctionCall(Struct):
    """``function_call``, ``custom_tool_call`` and ``tool_search_call``."""

    id: str | None = None
    call_id: str | None = None
    name: str = ""
    namespace: str | None = None
    arguments: Raw = NULL
    """JSON in a string; the JSON itself in some items."""
    input: str | None = None
    """The text input of a custom tool, instead of arguments."""


class CallOutput(Struct):
    """``function_call_output``, ``custom_tool_call_output`` and ``local_shell_call_output``."""

    call_id: str | None = None
    output: Raw = NULL
    tools: Raw = NULL


class LocalShellCall(Struct):
    """``local_shell_call``."""

    id: str | None = None
    call_id: str | None = None
    action: ShellAction = field(default_factory=ShellAction)


class SearchAction(Struct):
    """The action of a web search: ``search``, ``open_page`` or ``find_in_page``."""

    type: str = ""
    query: str | None = None
    queries: list[str] | None = None
    url: str | None = None
    pattern: str | None = None


class WebSearch(Struct):
    """``web_search_call``, ``web_search_end`` and the item ``WebSearch``."""

    id: str | None = None
    call_id: str | None = None
    query: str | None = None
    action: SearchAction | None = None


class Picture(Struct):
    """A picture that was made or viewed."""

    id: str | None = None
    call_id: str | None = None
    path: str | None = None
    revised_prompt: str | None = None
    saved_path: str | None = None


# codex's reports: ``event_msg``.


class Failure(Struct):
    """The reason of a failed turn."""

    message: str = ""


class TaskComplete(Struct):
    """``task_complete`` (``turn_complete``): the end of a turn, failed if it holds an ``error``."""

    last_agent_message: str | None = None
    duration_ms: Count | None = None
    error: Failure | None = None


class TurnAborted(Struct):
    """``turn_aborted``."""

    reason: str | None = None


class Words(Struct):
    """``user_message``, ``agent_message``, ``agent_reasoning``, ``agent_reasoning_raw_content``."""

    message: str | None = None
    text: str | None = None
    images: list[str] | None = None
    local_images: list[str] | None = None


class Place(Struct):
    """The lines of a file that a finding of a review is about."""

    start: int | None = None
    end: int | None = None


class CodeLocation(Struct):
    """The place of a finding."""

    absolute_file_path: str = ""
    line_range: Place = field(default_factory=Place)


class Finding(Struct):
    """One finding of a review."""

    title: str = ""
    body: str = ""
    code_location: CodeLocation = field(default_factory=CodeLocation)


class Findings(Struct):
    """The result of a review."""

    findings: list[Finding] = field(default_factory=list)
    overall_explanation: str = ""


class Reviewed(Struct):
    """``exited_review_mode`` and the item ``ExitedReviewMode``: the end of a review."""

    review_output: Findings | None = None


class TokenUsage(Tokens):
    """Tokens of the thread, or of one call."""

    cached_input_tokens: Count | None = 0
    cache_write_input_tokens: Count | None = 0


class TokenInfo(Struct):
    """The tokens of the thread so far, and those of the last model call."""

    total_token_usage: TokenUsage | None = None
    last_token_usage: TokenUsage | None = None


class TokenCount(Struct):
    """``token_count``: written after each model call, and again when only the rate limits change."""

    info: TokenInfo | None = None


class TokenRecord(Struct):
    """``token_usage_record``: the tokens of one model call."""

    usage: TokenUsage | None = None
    thread_token_usage: TokenUsage | None = None
    thread_id: str | None = None


class Changed(Struct):
    """A patch's change of one file; ``type`` decides which fields are present."""

    type: str = ""
    content: str | None = None
    unified_diff: str | None = None
    move_path: str | None = None


class Patch(Struct):
    """``patch_apply_begin``, ``patch_apply_end`` and the item ``FileChange``."""

    id: str | None = None
    call_id: str | None = None
    changes: dict[str, Changed] = field(default_factory=dict)
    status: str | None = None
    success: bool | None = None
    stdout: str | None = None
    stderr: str | None = None


class Execution(Struct):
    """``exec_command_begin``, ``exec_command_end`` and the item ``CommandExecution``."""

    id: str | None = None
    call_id: str | None = None
    command: list[str] | str = ""
    source: str | None = None
    status: str | None = None
    aggregated_output: str | None = None
    stdout: str | None = None
    stderr: str | None = None
    exit_code: int | None = None


class Invocation(Struct):
    """The called tool of an MCP server."""

    server: str | None = None
    tool: str | None = None
    arguments: Raw = NULL


class McpCall(Struct):
    """``mcp_tool_call_begin``, ``mcp_tool_call_end``, and the items ``McpToolCall`` and ``DynamicToolCall``."""

    id: str | None = None
    call_id: str | None = None
    invocation: Invocation | None = None
    server: str | None = None
    tool: str | None = None
    arguments: Raw = NULL
    result: Raw = NULL
    error: Raw = NULL
    content_items: Raw = NULL
    status: str | None = None
    success: bool | None = None


class CollabCall(Struct):
    """The events ``collab_…`` and the item ``CollabAgentToolCall``: an action on a sub-agent."""

    id: str | None = None
    call_id: str | None = None
    tool: str | None = None
    prompt: str | None = None
    status: Raw = NULL
    receiver_thread_id: str | None = None
    new_thread_id: str | None = None


class PlanStep(Struct):
    """One line of the plan."""

    step: str = ""
    status: str = ""


class PlanUpdate(Struct):
    """``plan_update``, and the arguments of the tool ``update_plan``."""

    plan: list[PlanStep] = field(default_factory=list)


class EventFields(Struct):
    """The readable fields of other events."""

    message: str | None = None
    reason: str | None = None
    summary: str | None = None
    details: str | None = None
    text: str | None = None
    thread_name: str | None = None
    num_turns: Count | None = None
    from_model: str | None = None
    to_model: str | None = None
    user_facing_hint: str | None = None
    command: list[str] | str | None = None
    review: str | None = None
    kind: str | None = None


class ThreadSettings(Struct):
    """``thread_settings_applied``."""

    thread_settings: TurnContext = field(default_factory=TurnContext)


class ItemEvent(Struct):
    """``item_started`` and ``item_completed``."""

    item: Raw = NULL
    started_at_ms: Millis | None = None
    completed_at_ms: Millis | None = None


class Spoken(Struct):
    """The items ``UserMessage``, ``AgentMessage``, ``Plan`` and ``Reasoning``."""

    id: str | None = None
    content: list[Content] = field(default_factory=list)
    text: str | None = None
    summary_text: list[str] = field(default_factory=list)
    raw_content: list[str] = field(default_factory=list)
