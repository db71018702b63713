"""gemini's tools as steps: one record of a chat holds both the call and its result.

The exit code is only in the text for the model, and only if it is not 0 (Gemini CLI 0.61.0).
"""

import re
from typing import Any

from agentdash.sessions.agents.gemini.session_events import ToolCall, result_text
from agentdash.sessions.agents.parsing.json_lines import NULL, text_in, value_of
from agentdash.sessions.agents.parsing.parser import PLAN_STATES, StepFields, plan
from agentdash.sessions.model.session import Change, PlanItem, StepKind, StepStatus

_ENDED = {"success": StepStatus.OK, "error": StepStatus.FAILED, "cancelled": StepStatus.INTERRUPTED}
_GOES_ON = frozenset({"validating", "scheduled", "executing", "awaiting_approval"})
_WRAPPED = re.compile(r"<untrusted_context>\n(.*)\n</untrusted_context>\s*", re.DOTALL)
_HEADING = re.compile(r"(?:Command: [^\n]*\n(?:Directory: [^\n]*\n)?)?(?:Output|Stdout): ?")
_TRAILER = re.compile(r"(Error|Exit Code|Signal|Background PIDs|Process Group PGID): ([^\n]*)")
_EXIT = re.compile(r"-?[0-9]{1,10}")
_DECLINED = re.compile(r"did not allow|denied by policy", re.IGNORECASE)


def step_of(call: ToolCall) -> StepFields:
    """Return the fields of a call's step, with its result if it has one."""
    arguments = value_of(call.args)
    given = arguments if isinstance(arguments, dict) else {}
    display = value_of(call.result_display)
    answer = result_text(call.result)
    fields: StepFields = {"status": _status(call, answer), "output": None if call.result == NULL else answer}
    if call.name == "run_shell_command":
        return fields | _command(text_in(given.get("command")), answer, display, fields)
    if call.name in ("write_file", "replace"):
        shown = display if isinstance(display, dict) else {}
        path = text_in(shown.get("filePath")) or text_in(given.get("file_path"))
        new = shown.get("isNewFile", call.name == "write_file") is True
        diff = text_in(shown.get("fileDiff"))
        # The diff's heading has only the last part of the path.
        hunks = diff[diff.find("@@") :] if "@@" in diff else ""
        change = Change(path=path, kind="add" if new else "update", diff=hunks.removesuffix("\n") or None)
        return fields | {"kind": StepKind.FILE_CHANGE, "text": change.path, "tool": call.name, "changes": (change,)}
    fields["tool"], fields["arguments"] = call.name, arguments
    if fields["output"] is None and isinstance(display, str):
        fields["output"] = display
    if call.name == "write_todos" and isinstance(given.get("todos"), list):
        items = tuple(_item(todo) for todo in given["todos"] if isinstance(todo, dict))
        return fields | plan(items)
    if call.name in ("google_web_search", "web_fetch"):
        sought = text_in(given.get("query") or given.get("prompt") or given.get("url"))
        return fields | {"kind": StepKind.WEB_SEARCH, "text": sought}
    if call.name == "invoke_agent":
        return fields | {"kind": StepKind.SUBAGENT, "text": text_in(given.get("prompt")) or call.name}
    return fields | {"kind": StepKind.TOOL_CALL, "text": call.name}


def _status(call: ToolCall, answer: str) -> StepStatus:
    if call.status in _GOES_ON or (call.status not in _ENDED and call.result == NULL):
        return StepStatus.RUNNING
    status = _ENDED.get(call.status, StepStatus.OK)
    return StepStatus.DECLINED if status is not StepStatus.OK and _DECLINED.search(answer) else status


def _command(command: str, answer: str, display: Any, fields: StepFields) -> StepFields:
    body, report = _unwrapped(answer)
    exit_code = _EXIT.fullmatch(report.get("Exit Code", ""))
    code = int(exit_code[0]) if exit_code else None
    killed = report.get("Signal", "(none)") not in ("(none)", "")
    failed = fields["status"] is StepStatus.OK and (killed or code not in (None, 0))
    shown = isinstance(display, str) and (display or fields["status"] is StepStatus.OK)
    return {
        "kind": StepKind.COMMAND,
        "text": command,
        "command": command,
        "status": StepStatus.FAILED if failed else fields["status"],
        "exit_code": code,
        "output": display if shown else None if fields["output"] is None else body,
    }


def _unwrapped(answer: str) -> tuple[str, dict[str, str]]:
    """Return the output of a command, and the lines that gemini puts below it."""
    wrapped = _WRAPPED.fullmatch(answer)
    text = wrapped[1] if wrapped else answer
    heading = _HEADING.match(text)
    if heading is None:
        return text, {}
    report: dict[str, str] = {}
    body = text[heading.end() :].rstrip("\n")
    while True:
        above, newline, last = body.rpartition("\n")
        trailer = _TRAILER.fullmatch(last)
        # The command itself may print such a line; gemini writes each only once.
        if trailer is None or not newline or trailer[1] in report:
            return ("" if body == "(empty)" else body), report
        report[trailer[1]], body = trailer[2], above


def _item(todo: dict[str, Any]) -> PlanItem:
    text, status = text_in(todo.get("description")), text_in(todo.get("status"))
    if status in PLAN_STATES:
        return PlanItem(text=text, status=status)
    return PlanItem(text=f"{text} ({status})" if status else text, status="pending")
