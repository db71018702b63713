"""The items of ``codex app-server`` as steps (codex-cli 0.169.0, and its own schema).

Most items mean the same as those of ``codex exec`` under other names, so they are translated to these and described by
:mod:`..items`.  File changes have diffs here, and all items have times (docs/protocols/codex.md, "App-server").
"""

from collections.abc import Callable
from typing import Any

from msgspec import Raw

from ....model import Change, StepKind
from ....text.unified_diff import Diff, created, deleted, diff_of
from ...parsing.json_lines import joined, value_of
from .. import events as exec_events
from ..items import described
from . import items

_STATUS = {"inProgress": "in_progress"}
"""Names of statuses that ``codex exec`` writes differently."""

_MOVED = "\n\nMoved to: "
"""The words that codex appends to the diff of a file that it also moved."""


def fields_of(item: items.AnyItem) -> dict[str, Any]:
    """Return the fields of an item's step."""
    return _ITEMS[type(item)](item)


def text_of(fragments: list[items.Fragment]) -> str:
    """Return the user's input as text; a piece that is not text is only named."""
    return "\n".join(part.text if part.text is not None else f"({part.type})" for part in fragments)


def changes_of(item: items.FileChange) -> tuple[Change, ...]:
    """Return the changes of a patch with their diffs."""
    return tuple(_change(update) for update in item.changes)


def _change(update: items.FileUpdate) -> Change:
    text = update.diff
    moved = update.kind.move_path
    if moved is not None:
        text = text.removesuffix(f"{_MOVED}{moved}")
    whole: dict[str, Callable[[str], Diff]] = {"add": created, "delete": deleted}
    diff = whole[update.kind.kind](text) if update.kind.kind in whole else diff_of(text)
    return Change(
        path=update.path,
        kind=update.kind.kind,
        diff=diff.text if diff else None,
        added=diff.added if diff else None,
        removed=diff.removed if diff else None,
        cut=diff.cut if diff else False,
        moved_to=moved,
    )


def _status(status: str) -> str:
    return _STATUS.get(status, status)


def _command(item: items.CommandExecution) -> dict[str, Any]:
    return described(
        exec_events.CommandExecution(
            command=item.command,
            aggregated_output=item.aggregated_output or "",
            exit_code=item.exit_code,
            status=_status(item.status),
        )
    )


def _file_change(item: items.FileChange) -> dict[str, Any]:
    names = [exec_events.FileChange(path=change.path, kind=change.kind.kind) for change in item.changes]
    fields = described(exec_events.FileChanges(changes=names, status=_status(item.status)))
    return fields | {"changes": changes_of(item)}


def _mcp(item: items.McpToolCall) -> dict[str, Any]:
    answer = item.result
    result = None if answer is None else exec_events.ToolAnswer(answer.content, answer.structured_content)
    return described(
        exec_events.McpToolCall(
            server=item.server,
            tool=item.tool,
            arguments=item.arguments,
            result=result,
            error=item.error,
            status=_status(item.status),
        )
    )


def _dynamic(item: items.DynamicToolCall) -> dict[str, Any]:
    call = exec_events.McpToolCall(tool=item.tool, arguments=item.arguments, status=_status(item.status))
    return described(call) | {"text": item.tool or "", "output": joined(item.content_items or []) or None}


def _collab(item: items.CollabAgentToolCall) -> dict[str, Any]:
    return described(
        exec_events.CollabToolCall(
            tool=item.tool,
            receiver_thread_ids=item.receiver_thread_ids,
            prompt=item.prompt,
            agents_states=item.agents_states,
            status=_status(item.status),
        )
    )


def _notice(event: str, text: str) -> dict[str, Any]:
    return {"kind": StepKind.NOTICE, "event": event, "text": text}


_ITEMS: dict[type, Callable[[Any], dict[str, Any]]] = {
    items.UserMessage: lambda item: {"kind": StepKind.PROMPT, "text": text_of(item.content)},
    items.HookPrompt: lambda item: _notice("hookPrompt", f"a hook said: {text_of(item.fragments)}"),
    items.AgentMessage: lambda item: {"kind": StepKind.MESSAGE, "text": item.text},
    items.Plan: lambda item: {"kind": StepKind.MESSAGE, "text": item.text},
    items.Reasoning: lambda item: {"kind": StepKind.REASONING, "text": "\n\n".join(item.summary or item.content)},
    items.CommandExecution: _command,
    items.FileChange: _file_change,
    items.McpToolCall: _mcp,
    items.DynamicToolCall: _dynamic,
    items.CollabAgentToolCall: _collab,
    items.WebSearch: lambda item: described(exec_events.WebSearch(query=item.query, action=item.action)),
    items.FunctionCallOutput: lambda item: {
        "kind": StepKind.TOOL_CALL,
        "text": item.name,
        "tool": item.name,
        "output": _words(item.output),
    },
    items.SubAgentActivity: lambda item: _notice("subAgentActivity", f"sub-agent {item.agent_path}: {item.kind}"),
    items.ImageView: lambda item: {"kind": StepKind.TOOL_CALL, "text": item.path, "tool": "view_image"},
    items.ImageGeneration: lambda _: {"kind": StepKind.TOOL_CALL, "text": "image", "tool": "image_generation"},
    items.Sleep: lambda _: {"kind": StepKind.TOOL_CALL, "text": "sleep", "tool": "sleep"},
    items.EnteredReviewMode: lambda item: _notice("enteredReviewMode", f"a review began: {item.review}"),
    items.ExitedReviewMode: lambda item: {"kind": StepKind.MESSAGE, "text": item.review},
    items.ContextCompaction: lambda _: _notice("contextCompaction", "the conversation was compacted"),
}


def _words(raw: Raw) -> str:
    value = value_of(raw)
    return value if isinstance(value, str) else bytes(raw).decode("utf-8", "replace")
