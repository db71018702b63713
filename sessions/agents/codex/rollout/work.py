"""codex's actions in the events of its transcripts: each kind as the fields of a step."""

from collections.abc import Callable
from typing import Any

from msgspec import Raw, Struct, field

from agentdash.sessions.agents.codex.item_steps import status_of
from agentdash.sessions.agents.codex.rollout import events, tools
from agentdash.sessions.agents.parsing.json_lines import NULL, Part, decoded, joined, text_of, value_of
from agentdash.sessions.agents.parsing.parser import StepFields
from agentdash.sessions.model.session import StepKind, StepStatus


class _McpResult(Struct):
    """The answer of an MCP server's tool."""

    content: list[Part] = field(default_factory=list)
    structured_content: Raw = NULL
    is_error: bool | None = field(default=None, name="isError")


class _Outcome(Struct):
    """The answer of a tool or its error, in the form of Rust's ``Result``."""

    ok: _McpResult | None = field(default=None, name="Ok")
    err: str | None = field(default=None, name="Err")


Describe = Callable[[Any], StepFields]


def _execution(item: events.Execution) -> StepFields:
    output = item.aggregated_output
    if output is None:
        output = "\n".join(filter(None, (item.stdout, item.stderr))) or None
    code = item.exit_code
    by_code = None if code is None else StepStatus.FAILED if code else StepStatus.OK
    fields: StepFields = {"output": output, "exit_code": code, "status": status_of(item.status or "") or by_code}
    if item.source == "unified_exec_interaction":
        # A call that reads further output of another command.
        return fields | {"kind": StepKind.TOOL_CALL, "text": "write_stdin", "tool": "write_stdin"}
    return tools.command(tools.command_text(item.command)) | fields


def _patch(item: events.Patch) -> StepFields:
    by_success = None if item.success is None else StepStatus.OK if item.success else StepStatus.FAILED
    changes: StepFields = {"kind": StepKind.FILE_CHANGE}
    changes = tools.file_change(tools.changes_of(item.changes)) if item.changes else changes
    output = "\n".join(filter(None, (item.stdout, item.stderr))) or None
    return changes | {"status": status_of(item.status or "") or by_success, "output": output}


def _mcp(item: events.McpCall) -> StepFields:
    call = item.invocation or events.Invocation(item.server, item.tool, item.arguments)
    output, failed = _mcp_answer(item)
    return {
        "kind": StepKind.TOOL_CALL,
        "text": ".".join(filter(None, (call.server, call.tool))),
        "server": call.server,
        "tool": call.tool,
        "arguments": value_of(call.arguments),
        "output": output,
        "status": StepStatus.FAILED if failed else status_of(item.status or "") or StepStatus.OK,
    }


def _collab(item: events.CollabCall) -> StepFields:
    target = item.new_thread_id or item.receiver_thread_id
    text = item.prompt or " ".join(filter(None, (item.tool, target))) or "sub-agent"
    return {"kind": StepKind.SUBAGENT, "text": text, "tool": item.tool, "status": StepStatus.OK}


def _picture(item: events.Picture) -> StepFields:
    text = item.path or item.saved_path or item.revised_prompt or "image"
    return {
        "kind": StepKind.TOOL_CALL,
        "text": text,
        "tool": "image",
        "arguments": {"path": text},
        "status": StepStatus.OK,
    }


_Way = tuple[type[Any], Describe]
"""The struct of an event, and the function that describes it."""

_EXECUTION: _Way = (events.Execution, _execution)
_PATCH: _Way = (events.Patch, _patch)
_MCP: _Way = (events.McpCall, _mcp)
_SEARCH: _Way = (events.WebSearch, lambda item: tools.web_search(item.query, item.action) | {"status": StepStatus.OK})
_PICTURE: _Way = (events.Picture, _picture)
_COLLAB: _Way = (events.CollabCall, _collab)

ITEMS: dict[str, _Way] = {
    "CommandExecution": _EXECUTION,
    "FileChange": _PATCH,
    **dict.fromkeys(("McpToolCall", "DynamicToolCall"), _MCP),
    "WebSearch": _SEARCH,
    **dict.fromkeys(("ImageView", "ImageGeneration"), _PICTURE),
    "CollabAgentToolCall": _COLLAB,
}
"""Items of ``item_started`` and ``item_completed``."""

EVENTS: dict[str, _Way] = {
    "exec_command": _EXECUTION,
    "patch_apply": _PATCH,
    "mcp_tool_call": _MCP,
    "web_search": _SEARCH,
    "image_generation": _PICTURE,
    **dict.fromkeys(
        ("collab_agent_spawn", "collab_agent_interaction", "collab_waiting", "collab_close", "collab_resume"), _COLLAB
    ),
}
"""Events that come in pairs, ``…_begin`` and ``…_end``."""

CALLS: dict[str, _Way] = {"web_search_call": _SEARCH, "image_generation_call": _PICTURE}
"""Items of the model that have ended when they are written."""


def _mcp_answer(item: events.McpCall) -> tuple[str | None, bool]:
    """Return a tool's answer, and whether it failed."""
    if item.error != NULL:
        error = decoded(item.error, events.Failure)
        return error.message if error and error.message else text_of(item.error), True
    if item.result == NULL:
        content = decoded(item.content_items, list[Part])
        return joined(content) if content else None, item.success is False
    outcome = decoded(item.result, _Outcome)
    if outcome is not None and outcome.err is not None:
        return outcome.err, True
    result = (outcome and outcome.ok) or decoded(item.result, _McpResult)
    if result is None:
        return text_of(item.result), False
    structured = None if result.structured_content == NULL else text_of(result.structured_content)
    return joined(result.content) or structured, bool(result.is_error)
