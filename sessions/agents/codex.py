"""codex (codex-cli 0.169.0): ``codex exec --json`` and ``codex exec … resume THREAD``, one process per turn.

Its stream has no times, no cost, no model and no diffs; usage is cumulative for the thread; an item that was
started may never complete (protocols 2).
"""

import json
import shlex
from collections.abc import Callable
from typing import Any, Literal

import msgspec

from ..errors import UsageError
from ..model import Change, PlanItem, Step, StepKind, StepStatus, Usage
from . import codex_events as events
from .base import Agent, AgentSettings, Launch, LaunchRequest, TurnParser
from .toml_values import assignments

_STATUS = {
    "in_progress": StepStatus.RUNNING,
    "completed": StepStatus.OK,
    "failed": StepStatus.FAILED,
    "declined": StepStatus.DECLINED,
}
_DECODER = msgspec.json.Decoder(events.Event)
_NOISE = ("Reading additional input from stdin", "WARNING: proceeding, even though")


class CodexSettings(AgentSettings, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """``[agents.codex]``."""

    sandbox: Literal["read-only", "workspace-write", "danger-full-access"] = "workspace-write"
    full_danger: bool = False
    """No sandbox and no approvals at all."""
    config: dict[str, Any] = msgspec.field(default_factory=dict)
    """Overrides of codex's own configuration, passed as ``-c key=value``."""


class CodexParser(TurnParser):
    """Reads one turn."""

    def __init__(self, turn: int = 1) -> None:
        super().__init__(turn)
        self._error: Step | None = None

    def parse(self, line: bytes, at: int | None) -> list[Step]:
        """One line; the model's own words and outputs stay as they are."""
        try:
            event = _DECODER.decode(line)
        except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError):
            return [self._unknown(line, at, _kind_of(line))]
        match event:
            case events.ThreadStarted():
                self.facts.agent_session = event.thread_id or self.facts.agent_session
                return [self._new(StepKind.START, at=at, agent_session=event.thread_id)]
            case events.TurnStarted():
                return []
            case events.TurnCompleted():
                return self._completed(event, at)
            case events.TurnFailed() | events.TopError():
                return self._trouble(event, at)
            case _:
                return self._item(event.item, at, started=not isinstance(event, events.ItemCompleted))

    def _completed(self, event: events.TurnCompleted, at: int | None) -> list[Step]:
        self.facts.end = "completed"
        self.facts.error = self.facts.notice = None
        reported = event.usage or events.Usage()
        usage = Usage.of(
            reported.input_tokens,
            reported.cached_input_tokens,
            reported.output_tokens,
            reported.reasoning_output_tokens,
        )
        self.facts.thread_usage = usage
        return [self._new(StepKind.USAGE, "tokens of the whole thread", at=at, usage=usage)]

    def _failed(self, message: str, at: int | None) -> list[Step]:
        self.facts.end = "failed"
        self.facts.error = _readable(message)
        self.facts.notice = None
        if self._error is not None and self._error.text == message:
            return [msgspec.structs.replace(self._error, fatal=True)]
        return [self._new(StepKind.ERROR, message, at=at, fatal=True)]

    def _trouble(self, event: events.TurnFailed | events.TopError, at: int | None) -> list[Step]:
        if isinstance(event, events.TurnFailed):
            return self._failed(event.error.message, at)
        message = event.message
        if message.startswith("Reconnecting"):
            self.facts.notice = message
            return [self._new(StepKind.NOTICE, message, at=at, event="error")]
        self.facts.error = _readable(message)
        self._error = self._new(StepKind.ERROR, message, at=at, fatal=False)
        return [self._error]

    def _item(self, item: events.AnyItem, at: int | None, *, started: bool) -> list[Step]:
        self.facts.notice = None
        own = _describe(item)
        if isinstance(item, events.AgentMessage):
            self.facts.last_message = item.text
        earlier = self._open.pop(item.id, None)
        step = msgspec.structs.replace(earlier, **own) if earlier else self._new(at=at, call_id=item.id, **own)
        if started:
            step = msgspec.structs.replace(step, status=StepStatus.RUNNING)
            self._open[item.id] = step
        elif earlier is not None:
            step = msgspec.structs.replace(step, ended_at=at)
        return [step]


def _describe(item: events.AnyItem) -> dict[str, Any]:
    """The fields of the step that an item is."""
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
    output = item.error.message if item.error is not None else _text_of(item.result)
    return {
        "kind": StepKind.TOOL_CALL,
        "text": f"{item.server or '?'}.{item.tool or '?'}",
        "server": item.server,
        "tool": item.tool,
        "arguments": item.arguments,
        "output": output,
        "status": StepStatus.FAILED if item.error is not None else _STATUS.get(item.status),
    }


def _collab(item: events.CollabToolCall) -> dict[str, Any]:
    return {
        "kind": StepKind.SUBAGENT,
        "text": item.prompt or item.tool or "",
        "tool": item.tool,
        "arguments": {"receiver_thread_ids": item.receiver_thread_ids, "prompt": item.prompt},
        "output": _text_of(item.agents_states) if item.agents_states else None,
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
        "arguments": {"query": item.query, "action": item.action},
        "status": StepStatus.OK,
    },
    events.TodoList: _plan,
    events.Warned: lambda item: {"kind": StepKind.ERROR, "text": item.message, "fatal": False},
}


def unwrapped(command: str) -> str:
    """The command itself, without the ``/bin/bash -lc '…'`` that codex puts around it."""
    try:
        words = shlex.split(command)
    except ValueError:
        return command
    if len(words) == 3 and words[0].rsplit("/", 1)[-1] in ("bash", "sh", "zsh") and words[1] in ("-lc", "-c"):
        return words[2]
    return command


def _text_of(result: Any) -> str | None:
    """What an MCP tool answered, as text."""
    if result is None:
        return None
    content = result.get("content") if isinstance(result, dict) else None
    if isinstance(content, list):
        texts = [part["text"] for part in content if isinstance(part, dict) and isinstance(part.get("text"), str)]
        if texts:
            return "\n".join(texts)
    return json.dumps(result, ensure_ascii=False)


def _readable(message: str) -> str:
    """The words inside what may be the raw JSON of a server (HTTP 400, protocols 2.3)."""
    try:
        data = json.loads(message)
        found = data["error"]["message"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return message
    return found if isinstance(found, str) else message


def _kind_of(line: bytes) -> str:
    """The type of a line that no rule knows."""
    try:
        data = json.loads(line)
    except (ValueError, RecursionError):
        return "not JSON"
    if not isinstance(data, dict):
        return f"JSON {type(data).__name__}"
    item = data.get("item")
    inner = f" {item.get('type')}" if isinstance(item, dict) else ""
    return f"{data.get('type')}{inner}"


class Codex(Agent):
    """OpenAI's codex."""

    name = "codex"
    title = "Codex"
    binary = "codex"
    install_hint = "Install it with `npm install -g @openai/codex`."
    settings_type = CodexSettings
    env_keys = ("PATH", "CODEX_HOME", "OPENAI_BASE_URL")

    def launch(self, request: LaunchRequest) -> Launch:
        """Options stand before the word ``resume``, and the sandbox is repeated: codex does not remember it."""
        settings = request.settings
        if not isinstance(settings, CodexSettings):
            settings = CodexSettings(bin=settings.bin, model=settings.model, args=settings.args)
        model = request.model or settings.model
        argv = [settings.bin or "codex", "exec", "--json", "--skip-git-repo-check", "-C", request.cwd]
        if model:
            argv += ["-m", model]
        argv += ["--dangerously-bypass-approvals-and-sandbox"] if settings.full_danger else ["-s", settings.sandbox]
        try:
            for assignment in assignments(settings.config):
                argv += ["-c", assignment]
        except TypeError as error:
            raise UsageError(f"agents.codex.config holds a value that TOML cannot express: {error}") from None
        argv += settings.args
        if request.agent_session is not None:
            argv += ["resume", request.agent_session]
        return Launch(argv=(*argv, "-"), stdin=request.prompt, model=model)

    def parser(self, turn: int = 1) -> TurnParser:
        """A fresh parser for one turn."""
        return CodexParser(turn)

    def stderr_reason(self, text: str) -> str | None:
        """The first line that says ``Error``, else the last that is not noise."""
        lines = [line.strip() for line in text.splitlines() if line.strip() and not line.startswith(_NOISE)]
        errors = [line for line in lines if line.startswith(("Error", "error:"))]
        return errors[0] if errors else lines[-1] if lines else None
