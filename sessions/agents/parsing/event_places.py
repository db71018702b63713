"""The places of an event at which no whole event can be: the agent fills them itself, with something else.

An event there was printed behind one that is torn just before it.  A model chooses values too, such as the input of a
tool, and it can give them the form of an event: those places, and all places of unknown names, are not among these.
The names are those of claude 2.1.197 to 2.1.332 and codex 0.169.0 to 0.171.0, of streams and transcripts.
"""

import re
from collections.abc import Sequence

ITEM = "[]"
"""The name of a place in an array."""

_INNER = frozenset(("message", "content", ITEM, "usage", "item", "params", "turn", "payload"))
"""The names on the way to a place; more than one array is in the output of a tool."""

_DEEPEST = 5
"""Names that lead to a place at most, as in an item of app-server: params, item, content, a number, text."""

_NAMES = """
type subtype role id uuid timestamp cwd version entrypoint method ordinal status reason
sessionId session_id parentUuid parent_tool_use_id sourceToolAssistantUUID promptId requestId
isSidechain isMeta isReplay isSynthetic isApiErrorMessage userType gitBranch permissionMode agentId
apiKeySource claude_code_version output_style fast_mode_state request_id hold_id messaging_socket_path
is_error num_turns duration_ms duration_api_ms ttft_ms ttft_stream_ms time_to_request_ms
total_cost_usd stop_reason terminal_reason api_error_status apiErrorStatus
model stop_sequence stop_details container context_management diagnostics
input_tokens output_tokens cache_creation_input_tokens cache_read_input_tokens total_tokens
cached_input_tokens reasoning_output_tokens cache_write_input_tokens service_tier inference_geo speed
text thinking signature name tool_use_id thread_id threadId turnId itemId call_id turn_id
command aggregated_output aggregatedOutput exit_code exitCode durationMs startedAtMs completedAtMs
startedAt completedAt processId delta willRetry clientUserMessageId
"""
_FILLED = _INNER.union(_NAMES.split())
"""The names of places that agents fill with a text, a number or a known object."""

_KINDS = (
    "user|assistant|system|result|stream_event|rate_limit_event|command_lifecycle|conversation_reset|queue-operation"
    "|control_(?:request|response|cancel_request)|thread\\.started|turn\\.(?:started|completed|failed)"
    "|item\\.(?:started|updated|completed)"
)
_EVENT = re.compile(
    rf'\{{[ \t]*"(?:type"[ \t]*:[ \t]*"(?:{_KINDS})"|(?:parentUuid|timestamp|method|duration_api_ms|is_error)"[ \t]*:)'
)
"""The beginning of an event; no object at the places above begins so."""


def breaks_off(path: Sequence[str], text: str, at: int) -> bool:
    """Return whether the object at a place of an event is an event of its own, so that the one around it is torn.

    Args:
        path: the names that lead to the place, from the outermost.
        text: the line.
        at: the offset of the object in it.
    """
    if not 0 < len(path) <= _DEEPEST or path[-1] not in _FILLED:
        return False
    if not _INNER.issuperset(path[:-1]) or path.count(ITEM) > 1:
        return False
    return _EVENT.match(text, at) is not None
