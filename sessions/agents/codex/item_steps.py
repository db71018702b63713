"""codex's items as steps: commands, file changes, tool calls, plans, messages."""

import re
import shlex

import msgspec

from agentdash.sessions.agents.codex import items
from agentdash.sessions.agents.codex.items import Failure
from agentdash.sessions.agents.parsing.json_lines import NULL, decoded, joined, text_of, value_of
from agentdash.sessions.agents.parsing.json_repair import repaired
from agentdash.sessions.agents.parsing.parser import StepFields, plan
from agentdash.sessions.model.session import Change, PlanItem, Step, StepKind, StepStatus
from agentdash.sessions.text.unified_diff import created, deleted, diff_of

_STATUS = {
    "in_progress": StepStatus.RUNNING,
    "inProgress": StepStatus.RUNNING,
    "completed": StepStatus.OK,
    "failed": StepStatus.FAILED,
    "declined": StepStatus.DECLINED,
}
_SHELL = re.compile(r"(?:/(?:usr/(?:local/)?)?bin/)?(?:bash|zsh|sh) -l?c (.+)", re.DOTALL)
"""Only the system's shells: one of another folder may be a program of the agent, which the user must see."""
_SHLEX_LIMIT = 10_000
"""Characters; ``shlex`` takes quadratic time, so a longer command is shown unchanged."""


def described(item: items.Item) -> StepFields:
    """Return the fields of an item's step; those of a kind that only the app-server has are described there."""
    fields: StepFields
    match item:
        case items.AgentMessage():
            fields = {"kind": StepKind.MESSAGE, "text": item.text}
        case items.Reasoning():
            fields = {"kind": StepKind.REASONING, "text": item.text or "\n\n".join(item.summary or item.content)}
        case items.CommandExecution():
            fields = _command(item)
        case items.FileChanges():
            changes = tuple(Change(path=change.path, kind=change.kind) for change in item.changes)
            fields = patch(changes, item.status)
        case items.McpToolCall():
            fields = _mcp(item)
        case items.CollabToolCall():
            fields = _collab(item)
        case items.WebSearch():
            given = {"query": item.query, "action": value_of(item.action)}
            fields = {"kind": StepKind.WEB_SEARCH, "text": item.query, "tool": "web_search", "arguments": given}
            fields["status"] = StepStatus.OK
        case items.TodoList():
            todos = ((todo.text, "completed" if todo.completed else "pending") for todo in item.items)
            fields = plan(tuple(PlanItem(text=text, status=status) for text, status in todos))
            fields["status"] = StepStatus.OK
        case items.Warned():
            fields = {"kind": StepKind.ERROR, "text": item.message, "fatal": False}
        case _:
            raise TypeError(f"{type(item).__name__} has no step of its own")
    return fields


def status_of(status: str) -> StepStatus | None:
    """Return the status that an item names; None if it names none that is known."""
    return _STATUS.get(status)


def patch(changes: tuple[Change, ...], status: str) -> StepFields:
    """Return the fields of a patch."""
    text = ", ".join(change.path for change in changes)
    return {"kind": StepKind.FILE_CHANGE, "text": text, "changes": changes, "status": status_of(status)}


def change_of(path: str, kind: str, text: str, moved_to: str | None) -> Change:
    """Return the change of a file with its diff; ``text`` is the whole text of a file that is added or deleted."""
    diff = created(text) if kind == "add" else deleted(text) if kind == "delete" else diff_of(text)
    if diff is None:
        return Change(path=path, kind=kind, moved_to=moved_to)
    added, removed = diff.added, diff.removed
    return Change(path=path, kind=kind, diff=diff.text, added=added, removed=removed, cut=diff.cut, moved_to=moved_to)


def _command(item: items.CommandExecution) -> StepFields:
    command = unwrapped(item.command)
    return {
        "kind": StepKind.COMMAND,
        "text": command,
        "command": command,
        "exit_code": item.exit_code,
        "output": item.aggregated_output or "",
        "status": status_of(item.status),
    }


def _mcp(item: items.McpToolCall) -> StepFields:
    return {
        "kind": StepKind.TOOL_CALL,
        "text": f"{item.server or '?'}.{item.tool or '?'}",
        "server": item.server,
        "tool": item.tool,
        "arguments": value_of(item.arguments),
        "output": message_of(item.error) if item.error is not None else _answer(item.result),
        "status": StepStatus.FAILED if item.error is not None else status_of(item.status),
    }


def _collab(item: items.CollabToolCall) -> StepFields:
    return {
        "kind": StepKind.SUBAGENT,
        "text": item.prompt or item.tool or "",
        "tool": item.tool,
        "arguments": {"receiver_thread_ids": item.receiver_thread_ids, "prompt": item.prompt},
        "output": _json_or_none(item.agents_states),
        "status": status_of(item.status),
    }


def ended(step: Step, at: int | None) -> Step:
    """Set the final status of an item; older versions omit it, and "completed" does not mean exit code 0."""
    status = step.status
    if step.exit_code and status is StepStatus.OK:
        status = StepStatus.FAILED
    if status in (None, StepStatus.RUNNING, StepStatus.WAITING):
        status = None if step.exit_code is None else StepStatus.FAILED if step.exit_code else StepStatus.OK
    return msgspec.structs.replace(step, status=status, ended_at=at)


def message_of(error: items.Failure | str) -> str:
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


def _answer(result: items.ToolAnswer | None) -> str | None:
    """Return an MCP tool's answer as text."""
    if result is None:
        return None
    structured = (
        result.structured_content if result.structured_in_camel_case == NULL else result.structured_in_camel_case
    )
    return joined(result.content) or _json_or_none(structured)


def _json_or_none(raw: msgspec.Raw) -> str | None:
    text = text_of(raw)
    return None if text in ("null", "{}", "[]") else text


class _Server(msgspec.Struct):
    """The server's answer."""

    error: Failure


def readable_error(message: str) -> str:
    """Return the text of an error message, without the JSON around it; another message is returned as it is.

    codex passes on the raw JSON of a server (HTTP 400, 0.169.0).
    """
    answer = decoded(repaired(message.encode()), _Server)
    return answer.error.message or message if answer is not None else message
