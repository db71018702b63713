"""claude (Claude Code 2.1.197): ``claude -p --output-format stream-json --verbose``, one process per turn.

The conversation's id is ours to choose before the start.  Exit 0 proves little: the proper end is a ``result``
without ``is_error`` and with a ``stop_reason`` (protocols 3).
"""

import json
import uuid
from typing import Any, Literal

import msgspec
from msgspec import structs

from ..model import Step, StepKind, StepStatus, Usage
from . import claude_events as events
from .base import Agent, AgentSettings, Launch, LaunchRequest, TurnParser
from .claude_tools import answered, begun

_DECODER = msgspec.json.Decoder(events.Event)
_SYNTHETIC = "<synthetic>"
"""The "model" of messages that claude makes up itself, which hold the text of an API error."""

_NOTICES = frozenset(
    {
        "api_retry", "thinking_tokens", "status", "task_started", "task_progress", "task_updated",
        "task_notification", "compact_boundary", "hook_started", "hook_response", "hook_progress",
    }
)  # fmt: skip


class ClaudeSettings(AgentSettings, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """``[agents.claude]``."""

    permission_mode: Literal["acceptEdits", "auto", "bypassPermissions", "default", "dontAsk", "plan"] = "acceptEdits"
    full_danger: bool = False
    """No permission checks at all; claude refuses this as root unless ``IS_SANDBOX=1`` is set by the user."""


class ClaudeParser(TurnParser):
    """Reads one turn, or several where one process plays them."""

    def __init__(self, turn: int = 1) -> None:
        super().__init__(turn)
        self._counted: set[str] = set()
        self._earlier = Usage()
        self._live = Usage()

    def parse(self, line: bytes, at: int | None) -> list[Step]:
        """One line."""
        try:
            event = _DECODER.decode(line)
        except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError):
            return [self._unknown(line, at, _kind_of(line))]
        match event:
            case events.System():
                return self._system(event, line, at)
            case events.Assistant():
                return self._assistant(event, line, at)
            case events.User():
                return self._user(event, at)
            case events.Result():
                return self._result(event, at)
            case _:
                return self._control(event, at)

    def _system(self, event: events.System, line: bytes, at: int | None) -> list[Step]:
        if event.subtype == "init":
            self.facts.agent_session = event.session_id or self.facts.agent_session
            self.facts.model = event.model or self.facts.model
            # A process with an open stdin plays several turns: the end of the last one is not the end of this.
            self.facts.end = None
            return [self._new(StepKind.START, at=at, agent_session=event.session_id, model=event.model)]
        if event.subtype not in _NOTICES:
            return [self._unknown(line, at, f"system {event.subtype}")]
        text = _notice_text(event)
        if event.subtype == "api_retry":
            self.facts.notice = text
        return [self._new(StepKind.NOTICE, text, at=at, event=event.subtype)]

    def _assistant(self, event: events.Assistant, line: bytes, at: int | None) -> list[Step]:
        message = event.message
        self.facts.notice = None
        self._count(message)
        if isinstance(message.content, str):
            return [self._words(message, message.content, event, at)]
        steps = []
        for block in message.content:
            match block:
                case events.Text():
                    steps.append(self._words(message, block.text, event, at))
                case events.Thinking():
                    steps.append(self._new(StepKind.REASONING, block.thinking, at=at, parent=event.parent_tool_use_id))
                case events.RedactedThinking():
                    steps.append(self._new(StepKind.REASONING, "(not shown)", at=at, parent=event.parent_tool_use_id))
                case events.ToolUse() | events.ServerToolUse():
                    steps.append(self._tool(block, event.parent_tool_use_id, at))
                case _:
                    steps.append(self._unknown(line, at, f"assistant {type(block).__name__}"))
        return steps

    def _words(self, message: events.Message, text: str, event: events.Line, at: int | None) -> Step:
        if message.model == _SYNTHETIC:
            self.facts.error = text
            return self._new(StepKind.ERROR, text, at=at, fatal=False, parent=event.parent_tool_use_id)
        if event.parent_tool_use_id is None:
            self.facts.last_message = text
        return self._new(StepKind.MESSAGE, text, at=at, parent=event.parent_tool_use_id)

    def _tool(self, block: events.ToolUse | events.ServerToolUse, parent: str | None, at: int | None) -> Step:
        own = begun(block.name, block.input)
        step = self._new(at=at, parent=parent, call_id=block.id, status=StepStatus.RUNNING, **own)
        self._open[block.id] = step
        return step

    def _user(self, event: events.User, at: int | None) -> list[Step]:
        content = event.message.content
        if isinstance(content, str):
            return [self._said(content, event, at)]
        steps = []
        for block in content:
            match block:
                case events.ToolResult():
                    steps.append(self._tool_result(block, event, at))
                case events.Text():
                    steps.append(self._said(block.text, event, at))
                case _:
                    steps.append(self._new(StepKind.NOTICE, f"({type(block).__name__.lower()})", at=at, event="user"))
        return steps

    def _said(self, text: str, event: events.User, at: int | None) -> Step:
        """Words in the user's place: a replayed prompt, a sub-agent's task, or claude's own remark."""
        if event.is_replay or event.parent_tool_use_id is not None:
            return self._new(StepKind.PROMPT, text, at=at, parent=event.parent_tool_use_id)
        return self._new(StepKind.NOTICE, text, at=at, event="user")

    def _tool_result(self, block: events.ToolResult, event: events.User, at: int | None) -> Step:
        text = _text_of(block.content)
        earlier = self._open.pop(block.tool_use_id, None)
        if earlier is None:
            earlier = self._new(StepKind.TOOL_CALL, block.tool_use_id, at=at, parent=event.parent_tool_use_id)
        own = answered(earlier.kind, text, is_error=bool(block.is_error), details=event.tool_use_result)
        return structs.replace(earlier, ended_at=at, **own)

    def _result(self, event: events.Result, at: int | None) -> list[Step]:
        self.facts.notice = None
        self.facts.denied += len(event.permission_denials)
        if event.usage is not None:
            # A result covers the turns since the last one; the cost covers the whole process.
            self._earlier = self._earlier.plus(_usage(event.usage))
            self.facts.usage = self._earlier
            self._live = Usage()
        self.facts.cost_usd = event.total_cost_usd if event.total_cost_usd is not None else self.facts.cost_usd
        denied = ", ".join(denial.tool_name for denial in event.permission_denials)
        usage = self._new(
            StepKind.USAGE,
            f"denied: {denied}" if denied else "",
            at=at,
            usage=_usage(event.usage) if event.usage is not None else None,
            cost_usd=event.total_cost_usd,
        )
        failure = _failure(event)
        if failure is None:
            self.facts.end, self.facts.error = "completed", None
            return [usage]
        self.facts.end, self.facts.error = "failed", failure
        return [usage, self._new(StepKind.ERROR, failure, at=at, fatal=True)]

    def _control(self, event: events.Line, at: int | None) -> list[Step]:
        """Pieces of messages say nothing that their whole line does not; the rest is talk between programs."""
        if isinstance(event, events.StreamEvent):
            return []
        name = "control_response" if isinstance(event, events.ControlResponse) else "control_request"
        return [self._new(StepKind.NOTICE, name.replace("_", " "), at=at, event=name)]

    def _count(self, message: events.Message) -> None:
        """An estimate until the result comes: each model call once, although every block repeats its usage."""
        if message.id is None or message.usage is None or message.id in self._counted:
            return
        self._counted.add(message.id)
        self._live = self._live.plus(_usage(message.usage))
        self.facts.usage = self._earlier.plus(self._live)


def _usage(api: events.ApiUsage) -> Usage:
    """claude counts cached input apart; here ``input_tokens`` includes it."""
    parts = (api.input_tokens, api.cache_creation_input_tokens, api.cache_read_input_tokens)
    known = [part for part in parts if part is not None]
    return Usage.of(sum(known) if known else None, api.cache_read_input_tokens, api.output_tokens)


def _failure(event: events.Result) -> str | None:
    """Why this result is not the proper end of a good turn; None if it is."""
    if event.is_error or event.subtype != "success":
        told = event.result or _text_of(event.errors) or event.subtype
        return told.replace("error_during_execution", "ended during execution")
    return None if event.stop_reason is not None else "the answer was cut off: it has no stop reason"


def _notice_text(event: events.System) -> str:
    if event.subtype == "api_retry":
        why = event.error_status or event.error
        return f"retry {event.attempt} of {event.max_retries} ({why})"
    if event.subtype == "thinking_tokens":
        return f"about {event.estimated_tokens} tokens of thinking"
    told = event.summary or event.description or event.status or event.permission_mode
    return f"{event.subtype.replace('_', ' ')}{f': {told}' if told else ''}"


def _text_of(content: Any) -> str:
    """Text of a result's content, whatever its shape."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "\n".join(filter(None, map(_text_of, content)))
    if isinstance(content, dict):
        text = content.get("text")
        return text if isinstance(text, str) else json.dumps(content, ensure_ascii=False)
    return ""


def _kind_of(line: bytes) -> str:
    try:
        data = json.loads(line)
    except (ValueError, RecursionError):
        return "not JSON"
    return str(data.get("type")) if isinstance(data, dict) else f"JSON {type(data).__name__}"


class Claude(Agent):
    """Anthropic's Claude Code."""

    name = "claude"
    title = "Claude Code"
    binary = "claude"
    install_hint = "Install it with `npm install -g @anthropic-ai/claude-code`."
    settings_type = ClaudeSettings
    env_keys = ("PATH", "CLAUDE_CONFIG_DIR", "ANTHROPIC_BASE_URL")

    def launch(self, request: LaunchRequest) -> Launch:
        """A new conversation gets our session's id; a second attempt at one a fresh id: used ones are refused."""
        settings = request.settings
        if not isinstance(settings, ClaudeSettings):
            settings = ClaudeSettings(bin=settings.bin, model=settings.model, args=settings.args)
        model = request.model or settings.model
        argv = [settings.bin or "claude", "-p", "--output-format", "stream-json", "--verbose"]
        if model:
            argv += ["--model", model]
        if settings.full_danger:
            argv.append("--dangerously-skip-permissions")
        else:
            argv += ["--permission-mode", settings.permission_mode]
        if request.agent_session is not None:
            argv += ["--resume", request.agent_session]
        else:
            argv += ["--session-id", request.session_id if request.turn == 1 else str(uuid.uuid4())]
        return Launch(argv=(*argv, *settings.args), stdin=request.prompt, model=model)

    def parser(self, turn: int = 1) -> TurnParser:
        """A fresh parser for one turn."""
        return ClaudeParser(turn)

    def stderr_reason(self, text: str) -> str | None:
        """The first line that says ``Error``, else the last that is not a warning."""
        lines = [line.strip() for line in text.splitlines() if line.strip() and not line.startswith("Warning:")]
        errors = [line for line in lines if line.startswith("Error")]
        return errors[0] if errors else lines[-1] if lines else None
