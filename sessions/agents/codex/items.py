"""codex's typed items as steps: commands, file changes, tool calls, plans, messages."""

import re
import shlex
from collections.abc import Callable
from typing import Any

import msgspec
from msgspec import structs

from ...model import Change, PlanItem, Step, StepKind, StepStatus
from ..parsing.json_lines import joined, text_of, value_of
from . import events

_STATUS = {
    "in_progress": StepStatus.RUNNING,
    "completed": StepStatus.OK,
    "failed": StepStatus.FAILED,
    "declined": StepStatus.DECLINED,
}
_SHELL = re.compile(r"(?:/(?:usr/(?:local/)?)?bin/)?(?:bash|zsh|sh) -l?c (.+)", re.DOTALL)
"""Only the system's shells: one of another folder may be a program of the agent, which the user must see."""
_SHLEX_LIMIT = 10_000
"""Characters; ``shlex`` takes quadratic time, so a longer command is shown unchanged."""


def described(item: events.AnyItem) -> dict[str, Any]:
    """Return the fields of an item's step."""
    describe: Callable[[Any], dict[str, Any]] = _ITEMS[type(item)]
    return describe(item)


def _command(item: events.CommandExecution) -> dict[str, Any]:
    command = unwrapped(item.command)
    return {
        "kind": StepKind.COMMAND,
        "text": command,
        "command": command,
        "exit_code": item.exit_code,
        "output": item.aggregated_output,
        "status": _STATUS.get(item.status),
    }


def _file_change(item: events.FileChanges) -> dict[str, Any]:
    return {
        "kind": StepKind.FILE_CHANGE,
        "text": ", ".join(change.path for change in item.changes),
        "changes": tuple(Change(path=change.path, kind=change.kind) for change in item.changes),
        "status": _STATUS.get(item.status),
    }


def _mcp(item: events.McpToolCall) -> dict[str, Any]:
    return {
        "kind": StepKind.TOOL_CALL,
        "text": f"{item.server or '?'}.{item.tool or '?'}",
        "server": item.server,
        "tool": item.tool,
        "arguments": value_of(item.arguments),
        "output": message_of(item.error) if item.error is not None else _answer(item.result),
        "status": StepStatus.FAILED if item.error is not None else _STATUS.get(item.status),
    }


def _collab(item: events.CollabToolCall) -> dict[str, Any]:
    return {
        "kind": StepKind.SUBAGENT,
        "text": item.prompt or item.tool or "",
        "tool": item.tool,
        "arguments": {"receiver_thread_ids": item.receiver_thread_ids, "prompt": item.prompt},
        "output": _json_or_none(item.agents_states),
        "status": _STATUS.get(item.status),
    }


def _plan(item: events.TodoList) -> dict[str, Any]:
    items = tuple(PlanItem(text=t.text, status="completed" if t.completed else "pending") for t in item.items)
    done = sum(todo.completed for todo in item.items)
    return {
        "kind": StepKind.PLAN,
        "text": f"{done} of {len(items)} done",
        "items": items,
        "status": StepStatus.OK,
    }


_ITEMS: dict[type, Callable[[Any], dict[str, Any]]] = {
    events.AgentMessage: lambda item: {"kind": StepKind.MESSAGE, "text": item.text},
    events.Reasoning: lambda item: {"kind": StepKind.REASONING, "text": item.text},
    events.CommandExecution: _command,
    events.FileChanges: _file_change,
    events.McpToolCall: _mcp,
    events.CollabToolCall: _collab,
    events.WebSearch: lambda item: {
        "kind": StepKind.WEB_SEARCH,
        "text": item.query,
        "tool": "web_search",
        "arguments": {"query": item.query, "action": value_of(item.action)},
        "status": StepStatus.OK,
    },
    events.TodoList: _plan,
    events.Warned: lambda item: {"kind": StepKind.ERROR, "text": item.message, "fatal": False},
}


def ended(step: Step, at: int | None) -> Step:
    """Set the final status of an item; older versions omit it, and "completed" does not mean exit code 0."""
    status = step.status
    if step.exit_code and status is StepStatus.OK:
        status = StepStatus.FAILED
    if status in (None, StepStatus.RUNNING):
        status = None if step.exit_code is None else StepStatus.FAILED if step.exit_code else StepStatus.OK
    return structs.replace(step, status=status, ended_at=at)


def message_of(error: events.Failure | str) -> str:
    """Return the text of an error, which some events wrap."""
    return error if isinstance(error, str) else error.message


def unwrapped(command: str) -> str:
    """Return the command itself, without the ``/bin/bash -lc '…'`` that codex puts around it.

    A shell of another folder stays.
    """
    match = _SHELL.fullmatch(command)
    if match is None:
        return command
    quoted = match[1]
    if quoted[0] == quoted[-1] == "'" and quoted.count("'") == 2:
        return quoted[1:-1]
    try:
        words = shlex.split(quoted) if len(quoted) <= _SHLEX_LIMIT else []
    except ValueError:
        return command
    return words[0] if len(words) == 1 else command


def _answer(result: events.ToolAnswer | None) -> str | None:
    """Return an MCP tool's answer as text."""
    if result is None:
        return None
    return joined(result.content) or _json_or_none(result.structured_content)


def _json_or_none(raw: msgspec.Raw) -> str | None:
    text = text_of(raw)
    return None if text in ("null", "{}", "[]") else text
