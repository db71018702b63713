"""Text of the other lines in codex's transcripts: the harness's own messages, settings, and events shown as notices."""

import re
from collections.abc import Sequence

from msgspec import Raw

from agentdash.sessions.agents.codex.rollout.events import Content, EventFields, Finding, Findings, SandboxPolicy
from agentdash.sessions.agents.codex.rollout.tools import command_text
from agentdash.sessions.agents.parsing.json_lines import NULL, UNREADABLE, decoded
from agentdash.sessions.agents.parsing.transcript_parser import is_wrapped
from agentdash.sessions.model import typed

TOLD_ELSEWHERE = frozenset(
    {
        "agent_message_content_delta", "agent_message_delta", "agent_reasoning_delta",
        "agent_reasoning_raw_content_delta", "agent_reasoning_section_break", "compaction_trigger",
        "exec_command_output_delta", "ghost_snapshot", "hook_started", "inter_agent_communication_metadata",
        "mcp_list_tools_response", "mcp_startup_complete", "mcp_startup_update", "patch_apply_updated", "plan_delta",
        "raw_response_item", "reasoning_content_delta", "reasoning_raw_content_delta", "session_configured",
        "shutdown_complete", "skills_update_available", "thread_goal_updated", "thread_queue_changed", "turn_diff",
        "world_state",
    }
)  # fmt: skip
"""Kinds that add nothing to other lines: pieces of a message that follows whole, and codex's own bookkeeping."""

_NOTED = frozenset(
    {
        "apply_patch_approval_request", "auth_recovery_completed", "auth_recovery_started", "background_event",
        "configuration_update", "deprecation_notice", "dynamic_tool_call_request", "dynamic_tool_call_response",
        "dynamic_tools_updated", "elicitation_abandoned", "elicitation_request", "entered_review_mode",
        "environment_connected", "environment_disconnected", "exec_approval_request",
        "guardian_assessment", "guardian_warning", "hook_completed", "model_reroute", "model_verification",
        "network_approval_resolved", "realtime_conversation_closed", "realtime_conversation_started",
        "realtime_item", "request_permissions", "request_user_input", "safety_buffering", "security_risk_score",
        "stream_error", "sub_agent_activity", "terminal_interaction", "thread_name_updated", "thread_rolled_back",
        "turn_moderation_metadata", "undo_completed", "undo_started", "view_image_tool_call", "warning",
        "EnteredReviewMode", "HookPrompt", "SubAgentActivity", "AsyncUserInputQuestion",
        "FunctionCallOutput", "Sleep",
    }
)  # fmt: skip
"""Kinds that codex 0.169.0 or an earlier version names, and that are shown as a notice."""

_FRAME = re.compile(r"\s*</?(?:audio|file|image|video)\b[^<>]{0,4096}>\s*")
_CONTEXT = frozenset({
    "INSTRUCTIONS", "additional_context", "apps_instructions", "collaboration_mode", "environment_context",
    "environments", "goal_context", "hook_context", "hook_prompt", "internal_context", "model_switch",
    "multi_agent_mode", "permissions", "personality_spec", "plugins_instructions", "realtime_conversation", "skill",
    "skills_instructions", "subagent_notification", "subagents", "tools", "turn_aborted", "user_action",
    "user_instructions", "user_shell_command",
})  # fmt: skip
_HEADING = re.compile(r"\s*# AGENTS\.md instructions\b[^\n]{0,4096}\n(?=\s*<INSTRUCTIONS>)")


def noted(kind: str, data: Raw) -> str | None:
    """Return the text of the notice for an event; None if its kind is unknown."""
    if kind not in _NOTED:
        return None
    notice = decoded(data, EventFields) or EventFields()
    rerouted = f"{notice.from_model} to {notice.to_model}" if notice.to_model else None
    rolled_back = None if notice.num_turns is None else f"{notice.num_turns} turns"
    command = command_text(notice.command) if notice.command else None
    words = (notice.message, notice.text, notice.summary, notice.review, notice.user_facing_hint, notice.thread_name)
    more = (rerouted, rolled_back, command, notice.reason or notice.details, notice.kind)
    text = ": ".join(filter(None, (next(filter(None, words), None), *more)))
    name = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", kind).replace("_", " ").lower()
    return f"{name}: {text}" if text else name


def readable(content: Sequence[Content]) -> str:
    """Join the pieces of a message into one text; a piece that is not text is only named."""
    return "\n".join(_words(piece) for piece in _without_frames(content))


def words_of(content: Sequence[Content]) -> str:
    """Join the texts of a message, without its pictures: the two records name these differently."""
    return "\n".join(piece.text for piece in _without_frames(content) if piece.text is not None)


def _without_frames(content: Sequence[Content]) -> list[Content]:
    """Leave out the texts that codex puts before and behind a picture or another file (0.169.0, 0.171.0)."""
    return [
        piece
        for n, piece in enumerate(content)
        if piece.text is None
        or not _FRAME.fullmatch(piece.text)
        or not any(near.text is None for near in content[max(0, n - 1) : n + 2])
    ]


def review_text(review: Findings) -> str:
    """Return the result of a review as codex writes it in the message that follows (0.169.0, 0.171.0)."""
    found = review.findings
    heading = ["Full review comments:" if len(found) > 1 else "Review comment:"] if found else []
    explanation = review.overall_explanation.strip()
    return "\n\n".join([*([explanation] if explanation else []), *heading, *map(_comment, found)])


def _comment(finding: Finding) -> str:
    file, lines = finding.code_location.absolute_file_path, finding.code_location.line_range
    place = f"{file}:{lines.start}-{lines.end}" if lines.start else file
    return "\n  ".join([f"- {finding.title} — {place}", *finding.body.splitlines()])


def is_context(text: str, kinds: Sequence[str]) -> bool:
    """Return whether a message in the user's name is the harness's description of the environment for the model.

    Args:
        kinds: the origins of its pieces; empty in earlier versions, which do not record them.
    """
    if kinds:
        return not any(kind.startswith("user.") for kind in kinds)
    heading = _HEADING.match(text)
    return is_wrapped(text[heading.end() :] if heading is not None else text, _CONTEXT)


def policy(raw: Raw) -> str | None:
    """Return the name of a policy, which some versions wrap; None if there is none."""
    if raw == NULL:
        return None
    try:
        named = typed.decode(raw, str | SandboxPolicy)
    except UNREADABLE:
        return None
    return named if isinstance(named, str) else named.type or named.mode


def _words(piece: Content) -> str:
    """Return a piece as text; kinds such as ``input_image`` and ``local_image`` have one name."""
    if piece.text is not None:
        return piece.text
    # codex also uses this field for text that it passes on unchanged between the agents of a team.
    secret = piece.encrypted_content
    return secret if secret and " " in secret else f"({piece.type.removeprefix('input_').removeprefix('local_')})"
