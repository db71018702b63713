"""The lines of claude's own transcripts, ``$CLAUDE_CONFIG_DIR/projects/<folder>/<session>.jsonl``.

Seen with Claude Code 2.1.197 and 2.1.330, which also name the kinds that other versions and the full screen write.  The
blocks of a message are those of the stream (:mod:`..events`).  Every field is optional
(docs/protocols/claude.md, "Transcripts").
"""

from typing import get_args

from msgspec import Raw, Struct, field

from agentdash.sessions.agents.claude.events import ApiUsage, Block, Origin
from agentdash.sessions.agents.parsing.json_lines import NULL, Count, Dollars


class ForkedFrom(Struct, rename="camel"):
    """The line of another session that this line copies."""

    session_id: str | None = None


class Compaction(Struct, rename="camel"):
    """The context that a ``compact_boundary`` replaced."""

    trigger: str | None = None
    pre_tokens: Count | None = None


class Line(Struct, rename="camel"):
    """Any line; ``type`` and ``subtype`` decide which fields are present."""

    type: str = ""
    subtype: str = ""
    timestamp: str | None = None
    session_id: str | None = None
    uuid: str | None = None
    parent_uuid: str | None = None
    is_sidechain: bool | None = None
    """True if a sub-agent speaks."""
    agent_id: str | None = None
    cwd: str | None = None
    git_branch: str | None = None
    permission_mode: str | None = None
    mode: str | None = None
    is_meta: bool | None = None
    is_compact_summary: bool | None = None
    is_api_error_message: bool | None = None
    """In text that no model wrote: True for an error of the API."""
    origin: Origin | None = None
    forked_from: ForkedFrom | None = None
    continued_in_session_id: str | None = None
    message: Raw = NULL
    tool_use_result: Raw = NULL
    attachment: Raw = NULL
    data: Raw = NULL
    parent_tool_use_id: str | None = field(default=None, name="parentToolUseID")
    operation: str | None = None
    content: Raw = NULL
    summary: str | None = None
    custom_title: str | None = None
    ai_title: str | None = None
    agent_name: str | None = None
    tag: str | None = None
    pr_url: str | None = None
    relocated_cwd: str | None = None
    compact_metadata: Compaction | None = None
    retry_attempt: Count | None = None
    max_retries: Count | None = None
    duration_ms: Count | None = None
    total_cost_usd: Dollars | None = field(default=None, name="totalCostUSD")
    """The cost of the session so far (2.1.330); a resumed session continues from it."""


class Message(Struct):
    """A message of the API: each line holds one block, and the usage of the whole message."""

    id: str | None = None
    model: str | None = None
    content: str | list[Raw] = field(default_factory=list)
    usage: ApiUsage | None = None


class Attachment(Struct, rename="camel"):
    """Content that claude adds for the model; ``queued_command`` is a prompt sent while claude worked."""

    type: str = ""
    prompt: Raw = NULL
    command_mode: str | None = None
    content: Raw = NULL
    filename: str | None = None
    hook_name: str | None = None
    message: Raw = NULL
    stdout: str | None = None
    stderr: str | None = None
    text: str | None = None


class Progress(Struct, rename="camel"):
    """The ``data`` of a ``progress`` line; an ``agent_progress`` holds a sub-agent's message."""

    type: str = ""
    message: Line | None = None


class AnyResult(Struct):
    """The answer of one of the API's own tools or of an MCP connector's tool."""

    tool_use_id: str = ""
    content: Raw = NULL
    is_error: bool | None = None


BLOCKS: dict[str, type[Struct]] = {str(kind.__struct_config__.tag): kind for kind in get_args(Block)}
"""The blocks of a message, by their types."""


class AnyCall(Struct):
    """A call of one of the API's own tools or of an MCP connector's tool."""

    id: str = ""
    name: str = ""
    server_name: str | None = None
    input: Raw = NULL


SYSTEM_NOTES = frozenset(
    {
        "agents_killed", "api_error", "away_summary", "bridge_state", "bridge_status", "compact_boundary",
        "file_snapshot", "informational", "local_command", "memory_recall", "memory_saved", "microcompact_boundary",
        "mirror_error", "model_consent_fallback", "model_fallback", "model_refusal_fallback",
        "model_refusal_no_fallback", "notification", "permission_denied", "permission_retry", "post_turn_summary",
        "scheduled_task_fire", "stop_hook_summary", "task_notification", "task_summary", "turn_duration",
        "worker_shutting_down",
    }
)  # fmt: skip
"""The known subtypes of ``system`` that are written to disk."""

TOLD_ELSEWHERE = frozenset(
    {
        "agent-color", "agent-setting", "api-request", "api-request-blob", "api-request-resumed",
        "api-request-shape", "artifact-autoreact-ledger", "artifact-comment-monitor", "atis-latch",
        "attribution-snapshot", "bridge-session", "content-replacement", "data-flow-incomplete",
        "data-flow-records", "derived-from", "dev-mods", "ended-by-model", "file-history-delta",
        "file-history-snapshot", "fork-context-ref", "frame-link", "history-suppression",
        "hybrid-organization", "isolation-latch", "last-prompt", "marble-origami-commit",
        "marble-origami-reset", "marble-origami-snapshot", "memory-mode", "observer-ref", "repl-mode",
        "resume-head-vouch", "saved_hook_context", "session-owner", "speculation-accept", "tools-used",
        "worktree-state",
    }
)  # fmt: skip
"""Kinds of lines that add nothing to other lines: claude's own bookkeeping."""
