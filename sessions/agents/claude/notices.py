"""claude's notices outside the conversation: the subtypes of its ``system`` events as lines for people."""

from ..parsing.json_lines import NULL, text_of
from .compaction import compaction_text
from .events import System

NOTICES = frozenset(
    {
        "agents_killed", "api_error", "api_retry", "away_summary", "background_tasks_changed", "bridge_state",
        "cloud_session_delta", "code_change_published", "commands_changed", "compact_boundary",
        "control_request_progress", "dev_intent", "elicitation_complete", "feedback_draft_queued",
        "file_attachments_missing", "file_snapshot", "files_persisted", "hook_progress", "hook_response",
        "hook_started", "informational", "inherited_asks_settled", "instruction_size_warning", "late_allow_not_run",
        "local_command", "local_command_output", "memory_recall", "memory_saved", "mirror_error",
        "model_consent_fallback", "model_fallback", "model_refusal_fallback", "model_refusal_no_fallback",
        "notification", "peer_message_hold", "per_turn_effort_changed", "permission_check_status",
        "permission_denied", "permission_retry", "plugin_install", "post_turn_summary", "scheduled_task_fire",
        "session_metadata", "session_state_changed", "session_title_changed", "session_writes_lost", "shell_cwd",
        "status", "stop_hook_summary", "task_list_statuses", "task_notification", "task_progress", "task_started",
        "task_summary", "task_updated", "thinking", "turn_duration", "turn_handoff_available",
        "turn_preempted", "turn_starting", "ui_focus", "ui_invalidate", "ui_log", "ui_notify", "ui_notify_cancel",
        "ui_panes", "ui_placed", "ui_scroll", "ui_status", "ui_toast", "upgrade_relay_marker", "vcs_state_changed",
        "worker_shutting_down",
    }
)  # fmt: skip
"""The subtypes of ``system`` in the schemas of 2.1.197 and 2.1.330."""


SILENT = frozenset(
    {
        "background_tasks_changed", "permission_check_status", "session_metadata", "session_state_changed",
        "turn_duration", "turn_starting", "ui_focus", "ui_invalidate", "ui_log", "ui_panes", "ui_placed", "ui_scroll",
        "ui_status",
    }
)  # fmt: skip
"""The subtypes that repeat what other events say, or are for claude's own screen: they give no step."""


_HELD = {"held": "held, claude has not read it", "released": "delivered"}


def notice_text(event: System) -> str:
    """Return an event as one line for people."""
    if event.subtype == "api_retry":
        why = event.error_status or (None if event.error == NULL else text_of(event.error).strip('"'))
        return f"retry {event.attempt} of {event.max_retries}{f' ({why})' if why else ''}"
    if event.subtype == "peer_message_hold":
        return f"a message from another program: {_HELD.get(event.state or '', event.outcome or event.state or '?')}"
    compaction = compaction_text(event)
    if compaction is not None:
        return compaction
    texts = (event.summary, event.description, event.content, event.text, event.reason, event.title, event.tool_name)
    state = (event.hook_name, event.status, event.state, event.permission_mode, event.error_code, event.kind)
    text = ": ".join(filter(None, (next(filter(None, texts), None), next(filter(None, state), None))))
    return f"{event.subtype.replace('_', ' ')}{f': {text}' if text else ''}"
