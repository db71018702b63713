"""codex's actions as steps: calls of tools and their outputs, and the same actions in the events.

A call's arguments are JSON in a string.  An output is text with codex's own heading, which depends on the version.
"""

import re
import shlex
from collections.abc import Callable
from typing import Any

import msgspec
from msgspec import Raw, Struct, field

from agentdash.sessions.agents.codex.item_steps import status_of
from agentdash.sessions.agents.codex.rollout import events
from agentdash.sessions.agents.parsing import parser
from agentdash.sessions.agents.parsing.json_lines import (
    NULL,
    UNREADABLE,
    Part,
    decoded,
    joined,
    text_in,
    text_of,
    value_of,
)
from agentdash.sessions.agents.parsing.parser import PLAN_STATES, StepFields
from agentdash.sessions.model import typed
from agentdash.sessions.model.session import Change, PlanItem, StepKind, StepStatus

_SHELLS = frozenset({"exec_command", "shell", "shell_command", "local_shell", "container.exec", "unified_exec"})
_AGENT_TOOLS = frozenset(
    {"spawn_agent", "send_input", "send_message", "followup_task", "wait", "wait_agent", "resume_agent", "close_agent"}
)
_PATCH_COMMANDS = ("apply_patch", "applypatch")

_HEADING = re.compile(
    r"(?:(?:Chunk ID\b|Exit code\b|Wall time\b|Process [a-z]|Original token count\b|Total output lines\b)[^\n]*+\n)+"
    r"Output:\n?"
)
_EXIT = re.compile(r"(?:Exit code: |Process exited with code )(-?[0-9]{1,10})\b")
_GOES_ON = re.compile(r"Process running with session ID ([0-9]{1,20})")
_ABORTED = re.compile(r"aborted(?: by user)?\b")
_DECLINED = re.compile(r"(?:exec command |patch )?rejected(?: by user|: )")
_NOT_RUN = re.compile(r"failed to parse function arguments|unsupported (?:custom tool )?call: |unknown tool call ")
"""codex's answers to calls that it could not read; they have no exit code and no word of success."""

_FILE = re.compile(r"\*\*\* (Add|Update|Delete) File: (.+)")
_MOVE = re.compile(r"\*\*\* Move to: (.+)")
_KINDS = {"Add": "add", "Update": "update", "Delete": "delete"}


class _Metadata(Struct):
    exit_code: int | None = None


class _Wrapped(Struct):
    """A command's output in the wrapper of older versions."""

    output: str
    metadata: _Metadata = field(default_factory=_Metadata)


class _Payload(Struct):
    """A function's output that includes its success."""

    content: str | list[Part] = ""
    success: bool | None = None


class Answer(Struct, frozen=True):
    """The output of a call."""

    text: str
    exit_code: int | None = None
    success: bool | None = None
    process: str | None = None
    """The process number of a command that still runs; a later ``write_stdin`` call reads the rest of its output."""


def begun(name: str, namespace: str | None, arguments: Any) -> StepFields:
    """Return the fields of a call's step; ``arguments`` is its decoded JSON, or the text of a custom tool."""
    given = arguments if isinstance(arguments, dict) else {}
    if name in _SHELLS:
        json = msgspec.json.encode(arguments).decode() if arguments else ""
        return _shell(given) or command(arguments if isinstance(arguments, str) else json)
    if name == "apply_patch":
        patch = arguments if isinstance(arguments, str) else text_in(given.get("input") or given.get("patch"))
        return file_change(patched(patch))
    if name == "update_plan" and (steps := plan_steps(given.get("plan"))) is not None:
        return plan(steps)
    if name in _AGENT_TOOLS:
        text = text_in(given.get("message") or given.get("prompt") or given.get("task_name")) or name
        return {"kind": StepKind.SUBAGENT, "text": text, "tool": name, "arguments": arguments}
    server, tool = _server(name, namespace)
    return {"kind": StepKind.TOOL_CALL, "text": name, "server": server, "tool": tool, "arguments": arguments}


def ended(kind: StepKind, answer: Answer) -> StepFields:
    """Return the fields that an output adds to the step of its call."""
    failed = answer.exit_code not in (None, 0) or answer.success is False
    status = StepStatus.FAILED if failed else StepStatus.OK
    if _ABORTED.match(answer.text):
        status = StepStatus.INTERRUPTED
    elif _DECLINED.match(answer.text):
        status = StepStatus.DECLINED
    elif _NOT_RUN.match(answer.text):
        status = StepStatus.FAILED
    fields: StepFields = {"status": status, "output": answer.text}
    if kind is StepKind.COMMAND:
        fields["exit_code"] = answer.exit_code
    return fields


def answer_of(output: Raw) -> Answer:
    """Return the output of a call, without its heading."""
    text, success = _output_text(output)
    wrapped = decoded(text, _Wrapped) if text.startswith("{") else None
    if wrapped is not None:
        return Answer(wrapped.output, wrapped.metadata.exit_code, success)
    heading = _HEADING.match(text)
    if heading is None:
        return Answer(text, None, success)
    exit_line = _EXIT.search(heading[0])
    running = None if exit_line else _GOES_ON.search(heading[0])
    body = text[heading.end() :]
    return Answer(body, int(exit_line[1]) if exit_line else None, success, running[1] if running else None)


def command_text(command: list[str] | str) -> str:
    """Return the command itself, without the shell that runs it."""
    if isinstance(command, str):
        return command
    shell = command[0].rpartition("/")[2] if command else ""
    if len(command) == 3 and shell in ("bash", "zsh", "sh") and command[1] in ("-lc", "-c"):
        return command[2]
    return shlex.join(command)


def command(text: str) -> StepFields:
    """Return the fields of a command."""
    return {"kind": StepKind.COMMAND, "text": text, "command": text}


def file_change(changes: tuple[Change, ...]) -> StepFields:
    """Return the fields of a file change."""
    return {"kind": StepKind.FILE_CHANGE, "text": ", ".join(change.path for change in changes), "changes": changes}


def patched(patch: str) -> tuple[Change, ...]:
    """Return the changes of a patch as the model writes it; its hunks have no line numbers."""
    changes: list[Change] = []
    bodies: list[list[str]] = []
    for line in patch.split("\n"):
        if line.startswith("*** End Patch"):
            break
        if (heading := _FILE.fullmatch(line)) is not None:
            changes.append(Change(path=heading[2], kind=_KINDS[heading[1]]))
            bodies.append([])
        elif bodies and not _MOVE.fullmatch(line) and line != "*** End of File":
            bodies[-1].append(line)
    pairs = zip(changes, bodies, strict=True)
    return tuple(msgspec.structs.replace(change, diff=_hunks(change.kind, body)) for change, body in pairs)


def plan_steps(value: Any) -> list[events.PlanStep] | None:
    """Return the lines of a plan; None if the value is not a plan."""
    try:
        return typed.convert(value, list[events.PlanStep])
    except UNREADABLE:
        return None


def plan(steps: list[events.PlanStep]) -> StepFields:
    """Return the fields of a plan."""
    items = tuple(PlanItem(text=s.step, status=s.status if s.status in PLAN_STATES else "pending") for s in steps)
    return parser.plan(items) | {"status": StepStatus.OK}


def arguments_of(raw: Raw) -> Any:
    """Return the arguments of a call: the JSON inside a string, or the JSON itself."""
    value = value_of(raw)
    if not isinstance(value, str):
        return value
    try:
        return value_of(Raw(value.encode()))
    except UnicodeEncodeError:
        return value


def _shell(given: dict[str, Any]) -> StepFields | None:
    """Return the fields of a call of a shell; None if its arguments have no command."""
    words = given.get("cmd") or given.get("command") or ""
    argv = [word for word in words if isinstance(word, str)] if isinstance(words, list) else text_in(words)
    if isinstance(argv, list) and len(argv) == 2 and argv[0] in _PATCH_COMMANDS:
        return file_change(patched(argv[1]))
    text = command_text(argv)
    return command(text) if text else None


def _output_text(output: Raw) -> tuple[str, bool | None]:
    """Return the text of an output, and codex's report of its success (None if absent)."""
    try:
        value = typed.decode(output, str | list[Part] | _Payload | None)
    except UNREADABLE:
        return text_of(output), None
    if isinstance(value, _Payload):
        return _joined(value.content), value.success
    return _joined(value or ""), None


def _joined(content: str | list[Part]) -> str:
    return content if isinstance(content, str) else joined(content)


def _diff(change: events.Changed) -> str | None:
    if change.type in ("add", "delete"):
        # Only a newline ends a line: other separators are text.
        lines = change.content.removesuffix("\n").split("\n") if change.content else []
        return _hunks(change.type, [("+" if change.type == "add" else "-") + line for line in lines])
    return change.unified_diff or None


def _hunks(kind: str, body: list[str]) -> str | None:
    """Return a diff of these lines; a whole file needs a heading, the hunks of an update have their own."""
    if not body:
        return None
    heading = {"add": f"@@ -0,0 +1,{len(body)} @@", "delete": f"@@ -1,{len(body)} +0,0 @@"}.get(kind)
    return "\n".join([*([heading] if heading else []), *body])


def _server(name: str, namespace: str | None) -> tuple[str | None, str]:
    """Return the MCP server of a tool, and the tool's own name."""
    server, tool = parser.mcp_name(name)
    if server is not None:
        return server, tool
    if namespace and namespace.startswith("mcp__"):
        return namespace.removeprefix("mcp__").rstrip("_"), name
    return namespace, name


class _McpResult(Struct):
    """The answer of an MCP server's tool."""

    content: list[Part] = field(default_factory=list)
    structured_content: Raw = NULL
    is_error: bool | None = field(default=None, name="isError")


class _Outcome(Struct):
    """The answer of a tool or its error, in the form of Rust's ``Result``."""

    ok: _McpResult | None = field(default=None, name="Ok")
    err: str | None = field(default=None, name="Err")


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
    return command(command_text(item.command)) | fields


def _patch(item: events.Patch) -> StepFields:
    by_success = None if item.success is None else StepStatus.OK if item.success else StepStatus.FAILED
    output = "\n".join(filter(None, (item.stdout, item.stderr))) or None
    fields: StepFields = {"status": status_of(item.status or "") or by_success, "output": output}
    changes = (Change(path=path, kind=one.type or "update", diff=_diff(one)) for path, one in item.changes.items())
    return fields | (file_change(tuple(changes)) if item.changes else {"kind": StepKind.FILE_CHANGE})


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


def _search(item: events.WebSearch) -> StepFields:
    action = item.action or events.SearchAction()
    sought = item.query or action.query or "; ".join(action.queries or ()) or action.url or action.pattern or ""
    given = {key: value for key, value in msgspec.to_builtins(action).items() if value} or {"query": sought}
    fields: StepFields = {"kind": StepKind.WEB_SEARCH, "text": sought, "tool": "web_search", "arguments": given}
    return fields | {"status": StepStatus.OK}


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


Way = tuple[type[Any], Callable[[Any], StepFields]]
"""The struct of an event, and the function that describes it."""

_EXECUTION: Way = (events.Execution, _execution)
_PATCH: Way = (events.Patch, _patch)
_MCP: Way = (events.McpCall, _mcp)
_SEARCH: Way = (events.WebSearch, _search)
_PICTURE: Way = (events.Picture, _picture)
_COLLAB: Way = (events.CollabCall, _collab)

ITEMS: dict[str, Way] = {
    "CommandExecution": _EXECUTION,
    "FileChange": _PATCH,
    **dict.fromkeys(("McpToolCall", "DynamicToolCall"), _MCP),
    "WebSearch": _SEARCH,
    **dict.fromkeys(("ImageView", "ImageGeneration"), _PICTURE),
    "CollabAgentToolCall": _COLLAB,
}
"""Items of ``item_started`` and ``item_completed``."""

EVENTS: dict[str, Way] = {
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

CALLS: dict[str, Way] = {"web_search_call": _SEARCH, "image_generation_call": _PICTURE}
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
