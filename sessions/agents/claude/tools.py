"""claude's tools as steps: the fields of a call when it begins, and those that its result adds."""

import re
from collections.abc import Sequence
from typing import Any, TypeVar

from msgspec import Raw, Struct, field

from agentdash.sessions.agents.claude.events import BashResult, FileResult, TaskResult
from agentdash.sessions.agents.parsing.json_lines import NULL, decoded, text_in
from agentdash.sessions.agents.parsing.parser import PLAN_STATES, StepFields, changed, mcp_name, plan, remember
from agentdash.sessions.agents.parsing.tolerant_decoder import TolerantDecoder
from agentdash.sessions.model.session import Change, PlanItem, Step, StepKind, StepStatus
from agentdash.sessions.rules.step_outcome import STOPPED_BY_PROGRAM
from agentdash.sessions.rules.truncate import trimmed

EDITS = frozenset({"Write", "Edit", "MultiEdit", "NotebookEdit"})
"""The tools that change files."""

_SEARCHES = frozenset({"WebSearch", "WebFetch"})
_EXIT = re.compile(r"Exit code ([0-9]{1,3})(?:\n|$)")
_DECLINED = re.compile(
    r"Claude requested permissions to |Permission to .{1,200} has been denied|.{0,200}requires approval"
    # In the modes auto and plan (2.1.197, 2.1.330).
    r"|Auto mode is unavailable: |Permission for this action was denied by "
    r"|Cannot write to .{1,4000} while in plan mode"
)
_TAGGED = re.compile(r"<tool_use_error>(.*)</tool_use_error>\s*", re.DOTALL)
"""The refusal of a call that claude itself did not make: its arguments did not fit."""

_MOST_TASKS = 200
_NUMBER = re.compile(r"[0-9]{1,9}")

_Result = TypeVar("_Result")


def begun(name: str, arguments: Any) -> StepFields:
    """Return the fields of a ``tool_use`` block's step."""
    given = arguments if isinstance(arguments, dict) else {}
    if name == "Bash":
        command = text_in(given.get("command"))
        return {"kind": StepKind.COMMAND, "text": command, "command": command}
    if name in EDITS:
        path = text_in(given.get("file_path") or given.get("notebook_path"))
        change = Change(path=path, kind="add" if name == "Write" else "update")
        return {"kind": StepKind.FILE_CHANGE, "text": path, "tool": name, "changes": (change,)}
    if name in _SEARCHES:
        text = text_in(given.get("query") or given.get("url"))
        return {"kind": StepKind.WEB_SEARCH, "text": text, "tool": name, "arguments": arguments}
    if name in ("Agent", "Task"):
        text = text_in(given.get("description") or given.get("prompt"))
        return {"kind": StepKind.SUBAGENT, "text": text, "tool": name, "arguments": arguments}
    server, tool = mcp_name(name)
    return {"kind": StepKind.TOOL_CALL, "text": name, "server": server, "tool": tool, "arguments": arguments}


def tool_name(step: Step) -> str:
    """Return claude's name for the tool of a step."""
    if step.kind is StepKind.COMMAND:
        return "Bash"
    name = step.tool or str(step.kind)
    return f"mcp__{step.server}__{name}" if step.server else name


def answered(kind: StepKind, text: str, *, is_error: bool, details: Raw) -> StepFields:
    """Return the fields that a ``tool_result`` adds to its step; ``details`` is the line's ``tool_use_result``."""
    tagged = _TAGGED.fullmatch(text) if is_error else None
    text = tagged[1] if tagged is not None else text
    fields: StepFields = {"status": StepStatus.OK, "output": text}
    if is_error:
        return fields | _failure(kind, text)
    if kind is StepKind.COMMAND:
        interrupted = read(details, BashResult).interrupted
        return fields | {"status": StepStatus.INTERRUPTED} if interrupted else fields | {"exit_code": 0}
    change = _change(read(details, FileResult)) if kind is StepKind.FILE_CHANGE else None
    return fields | {"changes": (change,)} if change is not None else fields


def details_of(calls: Sequence[Step | None], details: Raw) -> list[Raw]:
    """Return what a line's ``tool_use_result`` says of each call whose result is in the line.

    claude writes a line for each result.  In a line with several, the details are those of one of them, or a list of
    all; if it cannot be known whose they are, no call gets them.

    Args:
        calls: the step of each call, in the order of the results; None for a call that is not known.
        details: the line's ``tool_use_result``.
    """
    if len(calls) <= 1:
        return [details] * len(calls)
    each = decoded(details, list[Raw]) or []
    if len(each) == len(calls):
        return each
    path = read(details, FileResult).file_path
    owners = [n for n, call in enumerate(calls) if call and path and any(path == one.path for one in call.changes)]
    return [details if owners == [n] else NULL for n in range(len(calls))]


def read(details: Raw, kind: type[_Result]) -> _Result:
    """Decode the ``tool_use_result`` in a tool's shape; parts that do not fit it are empty."""
    found = decoded(details, kind)
    if found is None and bytes(details).startswith(b"{"):  # the result of a failed call is a string, without fields
        decoder: TolerantDecoder[_Result] = TolerantDecoder(kind)
        found = decoder.read(bytes(details)).event
    return found or kind()


class TaskList(Struct):
    """The todo list: TodoWrite and TaskList give it whole, TaskCreate and TaskUpdate change it call by call."""

    tasks: dict[str, PlanItem] = field(default_factory=dict)
    created: int = 0
    """Number of tasks whose creation was seen."""
    highest: int = 0
    """Highest number that a new task was given; claude counts from 1, through all turns of a conversation."""
    listed: bool = False
    """True once TaskList has given the tasks of earlier turns."""
    before: dict[str, PlanItem] = field(default_factory=dict)
    """The earlier state of each task with an update that is not answered yet."""

    def begun(self, name: str, arguments: Any) -> StepFields | None:
        """Return the plan after this call; None for a call of another tool, or on a task of an earlier process."""
        given = arguments if isinstance(arguments, dict) else {}
        subject, number = text_in(given.get("subject")), text_in(given.get("taskId"))
        items: tuple[PlanItem, ...] | None = None
        if name == "TodoWrite" and isinstance(todos := given.get("todos"), list):
            known = ((text_in(one.get("content")), _state(one.get("status"))) for one in todos if isinstance(one, dict))
            items = tuple(PlanItem(text=text, status=status) for text, status in known)
        elif name == "TaskList":
            items = tuple(self.tasks.values())
        elif name == "TaskCreate" and subject:
            items = (*self.tasks.values(), PlanItem(text=subject, status="pending"))
        elif name == "TaskUpdate" and number in self.tasks:
            # Parallel calls begin before one is answered, and the next one's plan has this change too.
            self.before.setdefault(number, self.tasks[number])
            self.tasks = self._updated(number, given)
            items = tuple(self.tasks.values())
        if items is None or len(items) > _MOST_TASKS:
            return None
        fields: StepFields = {"tool": name, "arguments": arguments}
        return plan(items) | fields

    def answered(self, step: Step, status: StepStatus | None, details: Raw) -> StepFields:
        """Apply an answered call of the list, and return the plan as it is then; a call that failed keeps its plan."""
        given = step.arguments if isinstance(step.arguments, dict) else {}
        number = text_in(given.get("taskId"))
        result = read(details, TaskResult)
        earlier = self.before.pop(number, None)
        if status is not StepStatus.OK or result.success is False:
            self.tasks |= {number: earlier} if earlier is not None else {}
            return {}
        if step.tool == "TodoWrite":
            return {}
        if step.tool == "TaskCreate" and result.task.id is not None:
            self.tasks[result.task.id] = PlanItem(text=text_in(given.get("subject")), status="pending")
            self.created += 1
            if _NUMBER.fullmatch(result.task.id):
                self.highest = max(self.highest, int(result.task.id))
        elif step.tool == "TaskList" and result.tasks is not None and len(result.tasks) <= _MOST_TASKS:
            self.listed = True
            items = ((one.id, PlanItem(text=one.subject, status=_state(one.status))) for one in result.tasks)
            self.tasks = {number: item for number, item in items if number is not None}
        if self.listed or self.highest <= self.created:
            return plan(tuple(self.tasks.values()))
        # Without the tasks of earlier turns, the numbers of a plan would be wrong.
        task = self.tasks.get(number, earlier)
        return {"text": task.text if task is not None else text_in(given.get("subject")), "items": ()}

    def with_result(self, call: Step, fields: StepFields, details: Raw, at: int | None) -> Step:
        """Return the step of a call with the fields of its result, and the plan as it is then."""
        if call.kind is StepKind.PLAN:
            fields |= self.answered(call, fields["status"], details)
        return changed(call, fields, ended_at=at)

    def _updated(self, number: str, given: dict[str, Any]) -> dict[str, PlanItem]:
        if given.get("status") == "deleted":
            return {key: item for key, item in self.tasks.items() if key != number}
        earlier = self.tasks[number]
        text = text_in(given.get("subject")) or earlier.text
        return self.tasks | {number: PlanItem(text=text, status=_state(given.get("status"), earlier.status))}


def _failure(kind: StepKind, text: str) -> StepFields:
    """Return the fields of a failed call.

    A failed command's text begins with its exit code (docs/protocols/claude.md, "Stream").
    """
    exit_line = _EXIT.match(text) if kind is StepKind.COMMAND else None
    if exit_line is not None:
        return {"status": StepStatus.FAILED, "exit_code": int(exit_line[1]), "output": text[exit_line.end() :]}
    if text.startswith(STOPPED_BY_PROGRAM):
        return {"status": StepStatus.INTERRUPTED}
    return {"status": StepStatus.DECLINED if _DECLINED.match(text) else StepStatus.FAILED}


def _change(result: FileResult) -> Change | None:
    if result.file_path is None:
        return None
    if result.type == "create":
        return Change(path=result.file_path, kind="add", diff=created(result.content or "") or None)
    hunks = result.structured_patch
    heads = (f"@@ -{one.old_start},{one.old_lines} +{one.new_start},{one.new_lines} @@" for one in hunks)
    diff = "\n".join("\n".join([head, *one.lines]) for head, one in zip(heads, hunks, strict=True))
    return Change(path=result.file_path, kind="update", diff=diff or None)


def created(content: str) -> str:
    """Return the diff of a new file.  Only a newline ends a line: other separators are text."""
    lines = content.removesuffix("\n").split("\n") if content else []
    header = f"@@ -0,0 +1,{len(lines)} @@\n" if lines else ""
    return header + "\n".join(f"+{line}" for line in lines)


def _state(value: Any, otherwise: str = "pending") -> str:
    return value if isinstance(value, str) and value in PLAN_STATES else otherwise


_MOST = 20
_CHARACTERS, _BYTES = 64_000, 64_000
"""The most that is kept of a result, because it is a part of each checkpoint."""


class EarlyResult(Struct, array_like=True):
    """A result without a call so far: its step, and what the call needs to read it."""

    step: Step
    text: str
    is_error: bool
    json: bytes
    """The line's ``tool_use_result``."""


class EarlyResults(Struct):
    """The newest results without their calls: claude may write a call that runs beside others after its result."""

    waiting: dict[str, EarlyResult] = field(default_factory=dict)
    """By the call's id."""

    def keep(self, key: str, step: Step, text: str, details: Raw, *, is_error: bool) -> None:
        """Keep a result, without the end of a very long one."""
        kept = details if len(bytes(details)) <= _BYTES else NULL
        result = EarlyResult(trimmed(step), text[:_CHARACTERS], is_error, bytes(kept))
        remember(self.waiting, key, result, _MOST)

    def take(self, key: str, fields: StepFields, parent: str | None, tasks: TaskList) -> Step | None:
        """Return the step of a call that comes after its result, and forget that; None if there is none."""
        early = self.waiting.pop(key, None)
        if early is None:
            return None
        call, details = changed(early.step, fields, parent=parent, call_id=key), Raw(early.json)
        result = answered(call.kind, early.text, is_error=early.is_error, details=details)
        return tasks.with_result(call, result, details, early.step.ended_at)
