"""codex (codex-cli 0.169.0): ``codex exec --json`` and ``codex exec … resume THREAD``, one process per turn.

Its stream has no times, no cost, no model and no diffs; usage is cumulative for the thread; an item that was
started may never complete (protocols 2).
"""

import re
import shlex
import zlib
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import msgspec
from msgspec import Meta, structs

from ...costs.price_table import price_of
from ...errors import UsageError
from ...launch import Launch
from ...model import Change, PlanItem, Step, StepKind, StepStatus, Usage
from ..base import Agent, AgentSettings, LaunchRequest, TurnParser
from ..event_parser import EventState
from ..json_lines import UNREADABLE, joined, text_of, value_of
from ..json_repair import repaired
from ..tolerant_decoder import TolerantDecoder
from ..usage_meter import Measurable, Measures, Meter, When
from . import events
from .calls import CallItemParser
from .refusals import complaints, culprit, refused
from .toml_values import assignments

if TYPE_CHECKING:
    from ..recorded_edits import Transcript

_STATUS = {
    "in_progress": StepStatus.RUNNING,
    "completed": StepStatus.OK,
    "failed": StepStatus.FAILED,
    "declined": StepStatus.DECLINED,
}
_DECODER = msgspec.json.Decoder(events.Event)
_NOISE = ("Reading additional input from stdin", "Reading prompt from stdin", "WARNING")
_SHELL = re.compile(r"(?:\S*/)?(?:bash|zsh|sh) -l?c (.+)", re.DOTALL)
_SHLEX_LIMIT = 10_000
"""``shlex`` takes time in the square of the length; a longer command is shown as it came."""

_MODEL_OPTIONS = frozenset({"-m", "--model", "-p", "--profile", "--oss"})
"""Arguments of codex that name a model, or settings with one."""

_OWN_SETTINGS = {"model": "model", "sandbox_mode": "sandbox", "full_danger": "full_danger"}
"""Keys of ``config`` that have a setting of their own; codex lets its option win over ``-c`` silently."""


class _Server(msgspec.Struct):
    """The JSON of a server that codex passes on as the text of an error (HTTP 400, protocols 2.3)."""

    error: events.Failure


class CodexSettings(AgentSettings, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """``[agents.codex]``."""

    sandbox: Annotated[
        Literal["read-only", "workspace-write", "danger-full-access"],
        Meta(description="What codex may touch without asking."),
    ] = "workspace-write"
    full_danger: Annotated[bool, Meta(description="No sandbox and no approvals at all.")] = False
    config: Annotated[
        dict[str, Any],
        Meta(
            description="Overrides of codex's own configuration, passed as -c key=value.",
            examples=[{"model_reasoning_effort": "high"}],
        ),
    ] = msgspec.field(default_factory=dict)


class CodexState(EventState, kw_only=True):
    """What codex repeats: the last error is told again by the event that ends the turn."""

    error: Step | None = None


class CodexParser(CallItemParser):
    """Reads one turn."""

    state: CodexState
    state_type = CodexState
    reader = TolerantDecoder(_DECODER)

    def parse(self, line: bytes, at: int | None) -> list[Step]:
        """One line; the model's own words and outputs stay as they are."""
        try:
            event = _DECODER.decode(line)
        except UNREADABLE:
            return self.leniently(line, at)
        return self.event(event, line, at)

    def event(self, event: events.Event, line: bytes, at: int | None) -> list[Step]:  # noqa: ARG002 - a line has one
        """The steps of one event."""
        match event:
            case events.ThreadStarted():
                self.facts.agent_session = event.thread_id or self.facts.agent_session
                return [self._new(StepKind.START, at=at, agent_session=event.thread_id)]
            case events.TurnStarted():
                return []
            case events.TurnCompleted():
                return self._completed(event, at)
            case events.TurnFailed():
                return self._failed(_message(event.error), at)
            case events.TopError():
                return self._trouble(event.message, at)
            case _:
                return self._item(event.item, at, completed=isinstance(event, events.ItemCompleted))

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
        return [self._new(StepKind.USAGE, "tokens of the whole thread", at=at, usage=usage, whole_thread=True)]

    def _failed(self, message: str, at: int | None) -> list[Step]:
        self.facts.end = "failed"
        self.facts.error = _readable(message)
        self.facts.notice = None
        if self.state.error is not None and self.state.error.text == message:
            return [structs.replace(self.state.error, fatal=True)]
        return [self._new(StepKind.ERROR, message, at=at, fatal=True)]

    def _trouble(self, message: str, at: int | None) -> list[Step]:
        if message.startswith("Reconnecting"):
            self.facts.notice = message
            return [self._new(StepKind.NOTICE, message, at=at, event="error")]
        self.facts.error = _readable(message)
        self.state.error = self._new(StepKind.ERROR, message, at=at, fatal=False)
        return [self.state.error]

    def _item(self, item: events.AnyItem, at: int | None, *, completed: bool) -> list[Step]:
        self.facts.notice = None
        if isinstance(item, events.Call | events.CallOutput):
            return self._call_item(item, at) if completed else []
        if isinstance(item, events.AgentMessage):
            self.facts.last_message = item.text
        own = _describe(item)
        key = item.id or _key(own)
        earlier = self.state.open.pop(key, None)
        step = structs.replace(earlier, **own) if earlier else self._new(at=at, call_id=item.id or None, **own)
        if completed:
            step = _ended(step, at if earlier else None)
            if (what := refused(step)) is not None:
                self.facts.deny(what)
            return [step]
        step = structs.replace(step, status=StepStatus.RUNNING)
        self._remember(key, step)
        return [step]


def _message(error: events.Failure | str) -> str:
    return error if isinstance(error, str) else error.message


def _key(own: dict[str, Any]) -> str:
    """The name by which the end of an item without an id finds its beginning: its kind, and its command."""
    return f"?{own['kind']}:{zlib.crc32((own.get('command') or '').encode())}"


def _ended(step: Step, at: int | None) -> Step:
    """The last word on an item; older versions leave the status out, and "completed" does not mean exit code 0."""
    status = step.status
    if step.exit_code and status is StepStatus.OK:
        status = StepStatus.FAILED
    if status in (None, StepStatus.RUNNING):
        status = None if step.exit_code is None else StepStatus.FAILED if step.exit_code else StepStatus.OK
    return structs.replace(step, status=status, ended_at=at)


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
    return {
        "kind": StepKind.TOOL_CALL,
        "text": f"{item.server or '?'}.{item.tool or '?'}",
        "server": item.server,
        "tool": item.tool,
        "arguments": value_of(item.arguments),
        "output": _message(item.error) if item.error is not None else _answer(item.result),
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


def unwrapped(command: str) -> str:
    """The command itself, without the ``/bin/bash -lc '…'`` that codex puts around it."""
    found = _SHELL.fullmatch(command)
    if found is None:
        return command
    quoted = found[1]
    if quoted[0] == quoted[-1] == "'" and quoted.count("'") == 2:
        return quoted[1:-1]
    try:
        words = shlex.split(quoted) if len(quoted) <= _SHLEX_LIMIT else []
    except ValueError:
        return command
    return words[0] if len(words) == 1 else command


def _answer(result: events.ToolAnswer | None) -> str | None:
    """What an MCP tool answered, as text."""
    if result is None:
        return None
    return joined(result.content) or _json_or_none(result.structured_content)


def _json_or_none(raw: msgspec.Raw) -> str | None:
    text = text_of(raw)
    return None if text in ("null", "{}", "[]") else text


def _readable(message: str) -> str:
    """The words inside what may be the raw JSON of a server."""
    try:
        return msgspec.json.decode(repaired(message.encode()), type=_Server).error.message or message
    except UNREADABLE:
        return message


def _config(config: dict[str, Any]) -> list[str]:
    for key, setting in _OWN_SETTINGS.items():
        if key in config:
            raise UsageError(f"agents.codex.config.{key} would be ignored: set agents.codex.{setting} instead.")
    try:
        return list(assignments(config))
    except (TypeError, ValueError) as error:
        raise UsageError(f"agents.codex.config cannot be passed to codex: {error}.") from None


def _home(env: Mapping[str, str | None]) -> Path:
    """codex's own folder."""
    home = env.get("CODEX_HOME")
    return Path(home) if home else Path.home() / ".codex"


def _priced(launch: Launch, env: Mapping[str, str]) -> Measurable:
    """Whether the cost can be estimated; only a model that is asked for by name is known for sure before the start."""
    model = launch.model
    if model is not None:
        if price_of(model, launch.prices) is not None:
            return Measurable(When.LIVE)
        remedy = f'set input and output in [prices."{model}"]'
        return Measurable(When.NEVER, f"codex reports no cost, and {model} has no price; {remedy}")
    from .usage import configured_model

    usual = None if any(map(_names_a_model, launch.argv)) else configured_model(_home(env))
    if usual is not None and price_of(usual, launch.prices) is not None:
        return Measurable(When.LIVE)
    chosen = f"codex's own settings name {usual}, which has no price" if usual else "codex chooses the model by itself"
    return Measurable(When.LIVE, f"{chosen}; name one that has a price (-m), or set it in [prices]")


def _names_a_model(argument: str) -> bool:
    """Whether an argument names a model: ``-m``, ``-mNAME``, ``--model=NAME``, or the value of ``-c model=…``."""
    return argument.partition("=")[0] in _MODEL_OPTIONS or argument.startswith(("-m", "model="))


class Codex(Agent):
    """OpenAI's codex."""

    name = "codex"
    title = "Codex"
    binary = "codex"
    install_hint = "Install it with `npm install -g @openai/codex`."
    settings_type = CodexSettings
    mode_key = "sandbox"
    keeps_transcripts = True
    dangerous = frozenset({"danger-full-access"})
    unlimited = "no-sandbox"
    env_keys = ("PATH", "CODEX_HOME", "OPENAI_BASE_URL")

    def launch(self, request: LaunchRequest) -> Launch:
        """Options stand before the word ``resume``, and the sandbox is repeated: codex does not remember it.

        The prompt goes through standard input (``-``), so that no text of it can be taken for an option.
        """
        settings = request.settings
        if not isinstance(settings, CodexSettings):
            settings = CodexSettings(bin=settings.bin, model=settings.model, args=settings.args)
        model = request.model or settings.model
        argv = [settings.bin or "codex", "exec", "--json", "--skip-git-repo-check", "-C", request.cwd]
        if model:
            argv += ["-m", model]
        argv += ["--dangerously-bypass-approvals-and-sandbox"] if settings.full_danger else ["-s", settings.sandbox]
        for assignment in _config(settings.config):
            argv += ["-c", assignment]
        argv += settings.args
        if request.agent_session is not None:
            argv += ["resume", request.agent_session]
        return Launch(argv=(*argv, "-"), stdin=request.prompt, model=model)

    def parser(self, turn: int = 1) -> TurnParser:
        """A fresh parser for one turn."""
        return CodexParser(turn)

    def measures(self, launch: Launch, env: Mapping[str, str]) -> Measures:
        """Tokens are in codex's transcript; the cost is estimated from them, if the model has a price."""
        if "--ephemeral" in launch.argv:
            tokens = Measurable(When.END, "with --ephemeral codex reports its tokens when a turn ends")
            why = "codex reports no cost, and with --ephemeral it writes no transcript to estimate it from"
            return Measures(tokens=tokens, cost=Measurable(When.NEVER, why))
        return Measures(tokens=Measurable(When.LIVE), cost=_priced(launch, env))

    def meter(self, launch: Launch, env: Mapping[str, str], began: int) -> Meter | None:
        """Tokens and cost, from the thread's transcript."""
        if launch.limits.tokens is None and launch.limits.cost_usd is None:
            return None
        from .usage import CodexMeter

        return CodexMeter(_home(env), began, launch.prices if launch.limits.cost_usd is not None else None)

    def recorded_edits(self, agent_session: str, env: Mapping[str, str | None], at: int) -> "Transcript | None":
        """The thread's transcript, below the ``CODEX_HOME`` with which the session was asked for."""
        from .recorded_edits import open_rollout  # not for the runner, which has no use for it

        return open_rollout(_home(env), agent_session, at)

    def refusals(self, stderr: str) -> Iterable[str]:
        """Patches and commands that codex refused without an event."""
        return [culprit(unwrapped(command)) if command else "apply_patch" for command in complaints(stderr)]

    def stderr_reason(self, text: str) -> str | None:
        """The first line that says ``Error``, else the last that is not noise."""
        stripped = [line.strip() for line in text.splitlines()]
        lines = [line for line in stripped if line and not line.startswith(_NOISE)]
        errors = [line for line in lines if line.startswith(("Error", "error:"))]
        return errors[0] if errors else lines[-1] if lines else None
