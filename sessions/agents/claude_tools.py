"""claude's tools as steps: what a call looks like when it begins, and what its result adds."""

import re
from typing import Any

from ..model import Change, PlanItem, StepKind, StepStatus

_EDITS = frozenset({"Write", "Edit", "MultiEdit", "NotebookEdit"})
_SEARCHES = frozenset({"WebSearch", "WebFetch"})
_EXIT = re.compile(r"Exit code (\d+)\n?")


def begun(name: str, arguments: Any) -> dict[str, Any]:
    """The step of a ``tool_use`` block."""
    given = arguments if isinstance(arguments, dict) else {}
    if name == "Bash":
        command = _string(given.get("command"))
        return {"kind": StepKind.COMMAND, "text": command, "command": command}
    if name in _EDITS:
        path = _string(given.get("file_path") or given.get("notebook_path"))
        kind = "add" if name == "Write" else "update"
        return {
            "kind": StepKind.FILE_CHANGE,
            "text": path,
            "tool": name,
            "changes": (Change(path=path, kind=kind),),
        }
    if name in _SEARCHES:
        text = _string(given.get("query") or given.get("url"))
        return {"kind": StepKind.WEB_SEARCH, "text": text, "tool": name, "arguments": arguments}
    if name in ("Agent", "Task"):
        text = _string(given.get("description") or given.get("prompt"))
        return {"kind": StepKind.SUBAGENT, "text": text, "tool": name, "arguments": arguments}
    if name in ("TodoWrite", "TaskCreate"):
        items = _plan_items(name, given)
        if items:
            return {"kind": StepKind.PLAN, "text": items[0].text, "items": items}
    server, tool = _mcp_name(name)
    return {"kind": StepKind.TOOL_CALL, "text": name, "server": server, "tool": tool, "arguments": arguments}


def answered(kind: StepKind, text: str, *, is_error: bool, details: Any) -> dict[str, Any]:
    """What a ``tool_result`` adds to its step; ``details`` is the line's ``tool_use_result``."""
    status = StepStatus.FAILED if is_error else StepStatus.OK
    if kind is StepKind.COMMAND:
        return _command_result(text, is_error=is_error, details=details)
    if kind is StepKind.FILE_CHANGE:
        change = _change(details) if isinstance(details, dict) else None
        return {"status": status, "output": text} | ({"changes": (change,)} if change else {})
    if kind is StepKind.PLAN:
        return {"status": status}
    return {"status": status, "output": text}


def _command_result(text: str, *, is_error: bool, details: Any) -> dict[str, Any]:
    """There is no exit code field: success is 0, failure begins with ``Exit code N`` (protocols 3.2)."""
    if not is_error:
        interrupted = isinstance(details, dict) and details.get("interrupted") is True
        if interrupted:
            return {"status": StepStatus.INTERRUPTED, "output": text}
        return {"status": StepStatus.OK, "exit_code": 0, "output": text}
    found = _EXIT.match(text)
    if found is None:
        return {"status": _refusal(text), "output": text}
    return {"status": StepStatus.FAILED, "exit_code": int(found[1]), "output": text[found.end() :]}


def _refusal(text: str) -> StepStatus:
    """Why a command has no exit code: claude was interrupted, nobody could permit it, or it failed otherwise."""
    if text.startswith("The user doesn't want"):
        return StepStatus.INTERRUPTED
    if text.startswith(("Claude requested permissions", "This command requires")):
        return StepStatus.DECLINED
    return StepStatus.FAILED


def _change(details: dict[str, Any]) -> Change | None:
    path = details.get("filePath")
    if not isinstance(path, str):
        return None
    if details.get("type") == "create":
        lines = _string(details.get("content")).splitlines()
        return Change(path=path, kind="add", diff="\n".join([f"@@ -0,0 +1,{len(lines)} @@", *(f"+{x}" for x in lines)]))
    hunks = details.get("structuredPatch")
    diff = "\n".join(_hunk(hunk) for hunk in hunks if isinstance(hunk, dict)) if isinstance(hunks, list) else ""
    return Change(path=path, kind="update", diff=diff or None)


def _hunk(hunk: dict[str, Any]) -> str:
    numbers = (hunk.get("oldStart"), hunk.get("oldLines"), hunk.get("newStart"), hunk.get("newLines"))
    lines = hunk.get("lines")
    body = [line for line in lines if isinstance(line, str)] if isinstance(lines, list) else []
    return "\n".join(["@@ -{},{} +{},{} @@".format(*numbers), *body])


def _plan_items(name: str, given: dict[str, Any]) -> tuple[PlanItem, ...]:
    if name == "TaskCreate":
        subject = _string(given.get("subject"))
        return (PlanItem(text=subject, status="pending"),) if subject else ()
    todos = given.get("todos")
    if not isinstance(todos, list):
        return ()
    return tuple(
        PlanItem(text=_string(todo.get("content")), status=_string(todo.get("status")) or "pending")
        for todo in todos
        if isinstance(todo, dict)
    )


def _mcp_name(name: str) -> tuple[str | None, str]:
    """``mcp__server__tool`` in its parts."""
    parts = name.split("__", 2)
    return (parts[1], parts[2]) if len(parts) == 3 and parts[0] == "mcp" else (None, name)


def _string(value: Any) -> str:
    return value if isinstance(value, str) else ""
