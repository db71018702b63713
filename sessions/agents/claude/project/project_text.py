"""The text of claude's transcripts that is neither the user's nor the model's: remarks, notices and attachments.

Claude Code 2.1.197 and 2.1.330 name the kinds of ``attachment`` lines, which are for the model; a kind that another
version adds is unknown.
"""

from typing import Any

from msgspec import Raw

from agentdash.sessions.agents.claude.project.project_events import Attachment, Line
from agentdash.sessions.agents.parsing.json_lines import NULL, value_of
from agentdash.sessions.agents.parsing.transcript_parser import is_wrapped

_REMARKS = frozenset({
    "bash-stderr", "bash-stdout", "channel", "cross-session-message", "fork-boilerplate", "local-command-caveat",
    "local-command-stderr", "local-command-stdout", "new-diagnostics", "system-reminder", "task-notification",
    "teammate-message", "tick", "user-memory-input",
})  # fmt: skip
_TRAILED = frozenset({"task-notification"})
_COMMAND_PARTS = frozenset({"command-args", "command-contents", "command-message", "command-name"})
_INTERRUPTED = frozenset({"[Request interrupted by user]", "[Request interrupted by user for tool use]"})


def is_remark(text: str) -> bool:
    """Return whether claude wrote this text in the user's name."""
    return is_wrapped(text, _REMARKS, _TRAILED)


def is_interruption(text: str) -> bool:
    """Return whether claude wrote this text in place of an answer that the user interrupted."""
    return text.strip() in _INTERRUPTED


def prompt_text(text: str) -> str:
    """Return a prompt as the user wrote it, without claude's wrapper of its own commands."""
    shell = text.strip()
    if shell.startswith("<bash-input>") and shell.endswith("</bash-input>"):
        return f"! {shell.removeprefix('<bash-input>').removesuffix('</bash-input>').strip()}"
    name = _element(text, "command-name") if is_wrapped(text, _COMMAND_PARTS) else None
    if name is None:
        return text
    return f"{name} {_element(text, 'command-args') or ''}".strip()


def _element(text: str, tag: str) -> str | None:
    """Return the text between the first pair of tags; None if there is none.

    No regular expression: it would search for the end again from each beginning.
    """
    _, opened, behind = text.partition(f"<{tag}>")
    inside, closed, _ = behind.partition(f"</{tag}>")
    return inside.strip() if opened and closed else None


def readable(content: Any) -> str:
    """Return a text, or the joined texts of blocks; a block that is not text is only named."""
    if isinstance(content, str):
        return content
    if isinstance(content, Raw):
        return readable(value_of(content))
    if isinstance(content, list):
        return "\n".join(readable(block) for block in content)
    if isinstance(content, dict):
        text = content.get("text")
        return text if isinstance(text, str) else f"({content.get('type')})"
    return ""


def system_text(line: Line) -> str:
    """Return the text of one of claude's own notices."""
    name = line.subtype.replace("_", " ")
    if line.subtype == "compact_boundary":
        how = line.compact_metadata
        facts = (how.trigger, f"{how.pre_tokens:,} tokens before" if how.pre_tokens else None) if how else ()
        more = ", ".join(filter(None, facts))
        return f"context compacted ({more})" if more else "context compacted"
    if line.subtype == "api_error" and line.retry_attempt is not None:
        return f"api error: retry {line.retry_attempt} of {line.max_retries}"
    if line.subtype == "turn_duration" and line.duration_ms is not None:
        return f"turn took {line.duration_ms / 1000:.1f} s"
    text = readable(line.content)
    return f"{name}: {text}" if text else name


FOR_CLAUDE_ALONE = frozenset(
    {
        "advisor_stripped", "auto_mode", "auto_mode_exit", "batching_reminder_sent", "credential_org", "date",
        "date_change", "deferred_tools_record", "model", "prefix_delta", "prompt_render_point",
        "prompt_snapshot", "remote_session_change", "secondary_reminder_sent", "session_cron_carry",
        "thinking_drop", "thinking_stripped", "tool_offer_record", "tool_results_cut",
        "whole_texts_withdrawn",
    }
)  # fmt: skip
"""Kinds without content for a reader: the frame of each request, and the data to rebuild it in a resumed session."""

_TOLD = frozenset(
    {
        "account_memory_recall", "advisor_tool", "agent_ask_notice", "agent_listing_delta", "agent_mention",
        "already_read_file", "artifact_opening_prefetch", "async_hook_response", "async_hook_response_batch",
        "at_mention_reference", "attention_budget", "bash_output_audience_note", "batching_reminder",
        "budget_usd", "claude_app_notice", "command_permissions", "compact_file_reference",
        "context_efficiency", "context_sections", "context_tip", "coordinator_context",
        "cowork_memory_context", "critical_system_reminder", "deferred_tools_delta", "diagnostics",
        "dir_sync_notice", "directory", "dynamic_skill", "edited_image_file", "edited_text_file",
        "elapsed_time_reminder", "environment", "file", "first_week", "fork_briefing", "goal_status", "goals",
        "hook_additional_context", "hook_blocking_error", "hook_cancelled", "hook_deferred_tool",
        "hook_error_during_execution", "hook_non_blocking_error", "hook_permission_decision",
        "hook_plugin_listing", "hook_stopped_continuation", "hook_success", "hook_system_message",
        "inlined_image_paths", "instruction_files_not_loaded", "instructions", "invoked_skills", "language",
        "linked_plugin_tools_note", "max_turns_reached", "mcp_dropped_tools_delta", "mcp_instructions_delta",
        "mcp_resource", "memory_update", "message_pdf_reads", "nested_memory", "opened_file_in_ide",
        "output_limit_note", "output_style", "output_style_instructions", "output_token_usage",
        "pdf_reference", "peer_mention", "plan_file_reference", "plan_mode", "plan_mode_exit",
        "plan_mode_reentry", "plugin_note", "poll_events", "proactivity", "project_doc_reads",
        "projects_thread_ask", "prompt_as_file", "queued_command", "read_truncation_notice",
        "relevant_memories", "repl_mcp_needs_auth", "repl_mcp_servers", "sandbox_instructions",
        "secondary_reminder", "selected_lines_in_diff", "selected_lines_in_ide", "session_context",
        "silent_turn_reminder", "skill_listing", "skill_mention", "structured_output", "task_reminder",
        "task_status", "team_context", "teammate_mailbox", "teammate_shutdown_batch", "thread_state",
        "todo_reminder", "token_usage", "tool_host_result_lines", "tool_hosts_correction",
        "tool_hosts_notice", "tool_search_usage_reminder", "total_tokens_reminder", "ultra_effort_enter",
        "ultra_effort_exit", "ultrathink_effort", "unknown_command_fallback", "widget_context_hint",
        "withheld_memory", "workflow_keyword_request", "workflow_size_guideline_change",
    }
)  # fmt: skip

KNOWN = FOR_CLAUDE_ALONE | _TOLD
"""All kinds that the two versions name."""

_FIELDS: dict[str, tuple[tuple[str, str], ...]] = {
    "agent_listing_delta": (("", "addedTypes"), ("no longer", "removedTypes")),
    "deferred_tools_delta": (
        ("", "addedNames"),
        ("no longer", "removedNames"),
        ("servers still connecting", "pendingMcpServers"),
        ("servers that need a login", "needsAuthMcpServers"),
        ("failed servers", "failedMcpServers"),
    ),
    "environment": (("", "platform"), ("", "shell"), ("", "workingDirectory")),
    "instructions": (("", "files"),),
    "mcp_instructions_delta": (("", "addedNames"), ("no longer", "removedNames")),
    "plan_mode": (("", "planFilePath"),),
    "plan_mode_exit": (("", "planFilePath"),),
    "plan_mode_reentry": (("", "planFilePath"),),
    "session_context": (("git:", "gitStatus"),),
}
"""The shown fields of a kind without text of its own, each after its label; other kinds show all short fields."""

_NAMES = {
    "agent_listing_delta": "agents",
    "deferred_tools_delta": "tools on demand",
    "mcp_instructions_delta": "instructions of servers",
}
"""Display names of kinds, if other than their own."""

_NAMED_BY = ("name", "path", "displayPath", "filename", "filePath", "id", "server", "description", "content", "text")
"""The fields that name one entry of a list, best first."""

_LONGEST = 200
"""Characters of an attachment's line."""

_MOST = 12
"""Entries of a list that are named."""


def attachment_text(attachment: Attachment, raw: Raw) -> str | None:
    """Return an attachment of a known kind as a line for people; None if it has nothing to show."""
    if attachment.type in FOR_CLAUDE_ALONE:
        return None
    content = attachment.content if attachment.content != NULL else attachment.message
    outputs = (attachment.stdout, attachment.stderr, attachment.text, readable(content))
    texts = (attachment.hook_name, attachment.filename, *outputs)
    text = ": ".join(filter(None, texts)) or _in_words(attachment.type, value_of(raw))
    name = _NAMES.get(attachment.type, attachment.type.replace("_", " "))
    return f"{name}: {text}" if text else name


def _in_words(kind: str, value: Any) -> str:
    """Return the fields of an attachment without text of its own, as one line."""
    if not isinstance(value, dict):
        return ""
    # The fields may be in a nested object: the snapshot of the environment, the context of the session.
    inner = (one for one in value.values() if isinstance(one, dict))
    fields = {name: entry for part in (*inner, value) for name, entry in part.items()}
    if isinstance(status := fields.get("gitStatus"), str):
        # Its first paragraph explains the status to the model.
        fields["gitStatus"] = status.partition("\n\n")[2] or status
    chosen = _FIELDS.get(kind) or tuple((_spaced(name), name) for name in value if name != "type")
    values = ((words, _short(fields.get(name))) for words, name in chosen)
    return _cut("; ".join(f"{words} {text}".strip() for words, text in values if text))


def _short(value: Any) -> str:
    """Return a value in a few words; "" if there is nothing to show."""
    if isinstance(value, bool):
        return "yes" if value else ""
    if isinstance(value, str):
        return _cut(" ".join(value.split()))
    if isinstance(value, int | float):
        return str(value)
    if isinstance(value, dict):
        return next(filter(None, (_short(value[name]) for name in _NAMED_BY if name in value)), "")
    if isinstance(value, list):
        names = [name for name in map(_short, value) if name]
        more = f" and {len(names) - _MOST} more" if len(names) > _MOST else ""
        return ", ".join(names[:_MOST]) + more
    return ""


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def _spaced(name: str) -> str:
    """Return ``planFilePath`` as ``plan file path``."""
    return "".join(f" {letter.lower()}" if letter.isupper() else letter for letter in name).replace("_", " ").strip()
