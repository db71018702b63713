"""codex (codex-cli 0.169.0): ``codex exec --json`` for one turn, or ``codex app-server`` for many."""

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

import msgspec
from msgspec import Meta, structs

from agentdash.sessions.agents import capabilities
from agentdash.sessions.agents.base import Agent, AgentSettings, LaunchRequest
from agentdash.sessions.agents.capabilities import Allowance, Env
from agentdash.sessions.agents.later import Later
from agentdash.sessions.agents.leading import LeadSettings, leads
from agentdash.sessions.agents.names import UUID
from agentdash.sessions.agents.parsing.usage_meter import Measurable, Measures, Meter, When
from agentdash.sessions.model.errors import UsageError
from agentdash.sessions.model.plan_windows import PlanWindow
from agentdash.sessions.model.taken_by import BY_HAND
from agentdash.sessions.rules.costs.pricing import price_of
from agentdash.sessions.rules.launch import Command, Launch, Prices

if TYPE_CHECKING:
    from agentdash.sessions.agents.codex import item_steps, own_config, refusals, turn_parser, usage
    from agentdash.sessions.agents.codex.app_server import dialogue, launching, meter, parser
    from agentdash.sessions.agents.codex.rollout import own_files as files
    from agentdash.sessions.agents.codex.rollout import reader
    from agentdash.sessions.agents.parsing import plan_reports
else:
    item_steps, own_config, refusals = Later("codex.item_steps"), Later("codex.own_config"), Later("codex.refusals")
    turn_parser, usage, dialogue = Later("codex.turn_parser"), Later("codex.usage"), Later("codex.app_server.dialogue")
    launching, meter = Later("codex.app_server.launching"), Later("codex.app_server.meter")
    parser, files = Later("codex.app_server.parser"), Later("codex.rollout.own_files")
    reader, plan_reports = Later("codex.rollout.reader"), Later("parsing.plan_reports")

TRANSPORT = "app-server"
"""The transport of a live codex."""

_MODEL_OPTIONS = frozenset({"-m", "--model", "-p", "--profile", "--oss"})
"""Options of codex that name a model, or settings that may name one."""

_OWN_SETTINGS = {"model": "model", "sandbox_mode": "sandbox", "full_danger": "full_danger"}
"""Keys of ``config`` that have their own setting; in codex that setting's option silently overrides ``-c``."""

_NEXT_SANDBOX = {"read-only": "workspace-write", "workspace-write": "danger-full-access"}

_EXPANDS = capabilities.Expansions(
    anywhere=((re.compile(r"\$([A-Za-z0-9_-]*[A-Za-z_][A-Za-z0-9_-]*)"), r"${\1}"), (re.compile(r"\[@"), r"[\\@")),
    note="In the following text, ${name} is written for a dollar sign and a name, and [\\@ for [@.",
)
"""Skills: ``$name`` adds a skill's text to the request, also behind a backslash and in quotes; ``${name}`` does not.

Seen with 0.169.0 and 0.171.0.  ``[$name](path)`` counts too; ``[@name](plugin://…)`` is of the same kind.  Neither
``@path`` nor ``/command`` counts in ``exec`` or in the app-server.
"""

_NARROWER = {
    "workspace-write": frozenset({"read-only"}),
    "danger-full-access": frozenset({"read-only", "workspace-write"}),
}

_SERVER_EVENTS = re.compile(r"(?:account|item|mcpServer|model|remoteControl|serverRequest|thread|turn)/[A-Za-z/]{1,60}")
"""Methods of the messages of ``codex app-server``; a thread that was resumed begins with other ones than a new one."""


class CodexSettings(LeadSettings, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """``[agents.codex]``."""

    sandbox: Annotated[
        Literal["read-only", "workspace-write", "danger-full-access"], Meta(description="Sandbox mode of codex.")
    ] = "workspace-write"
    full_danger: Annotated[bool, Meta(description="No sandbox and no approvals.")] = False
    search: Annotated[
        bool | None,
        Meta(description="Live web search.", examples=[True], extra={"default": "codex's own config", "offered": True}),
    ] = None
    config: Annotated[
        dict[str, Any],
        Meta(
            description="Overrides of codex's own config, passed as -c key=value.",
            examples=[{"model_reasoning_effort": "high"}],
        ),
    ] = msgspec.field(default_factory=dict)


def _sandbox(settings: CodexSettings) -> list[str]:
    """Return the option for what codex may do on its own; it does not remember it with a thread."""
    return ["--dangerously-bypass-approvals-and-sandbox"] if settings.full_danger else ["-s", settings.sandbox]


def _config(settings: CodexSettings) -> list[str]:
    """Return ``-c`` and a value for each override of codex's configuration."""
    config, own = settings.config, _own_config(settings)
    for key, setting in (_OWN_SETTINGS | {key: name for key, (name, _) in own.items()}).items():
        if key in config:
            raise UsageError(f"agents.codex.config.{key} would be ignored; set agents.codex.{setting} instead.")
    try:
        pairs = list(own_config.assignments({key: value for key, (_, value) in own.items()} | config))
        return [word for pair in pairs for word in ("-c", pair)]
    except (TypeError, ValueError) as error:
        raise UsageError(f"agents.codex.config cannot be passed to codex: {error}.") from None


def _own_config(settings: CodexSettings) -> dict[str, tuple[str, str]]:
    """Return the keys of codex's configuration that settings stand for, each with its setting and its value.

    Seen in the requests of 0.169.0: without ``web_search``, codex offers a search in an index (``cached``), and
    ``--search`` has no effect on ``exec``.  A thread keeps the developer instructions with which it began.
    """
    own: dict[str, tuple[str, str]] = {}
    if settings.search is not None:
        own["web_search"] = "search", "live" if settings.search else "disabled"
    if settings.instructions:
        own["developer_instructions"] = "instructions", settings.instructions
    return own


def _home(env: Env) -> Path:
    """Return codex's own folder in this environment, such as that which was recorded with a session."""
    home = env.get("CODEX_HOME")
    return Path(home) if home else Path.home() / ".codex"


def _priced(command: Command, prices: Prices, env: Mapping[str, str]) -> Measurable:
    """Return when the cost is known; before the start, only a model that is requested by name is certain."""
    model = command.model
    if model is not None:
        if price_of(model, prices) is not None:
            return Measurable(When.LIVE)
        remedy = f'set input and output in [prices."{model}"]'
        return Measurable(When.NEVER, f"codex reports no cost, and {model} has no price; {remedy}")
    usual = None if any(map(_names_a_model, command.argv)) else usage.configured_model(_home(env))
    if usual is not None and price_of(usual, prices) is not None:
        return Measurable(When.LIVE)
    chosen = f"codex's own config names {usual}, which has no price" if usual else "codex chooses the model itself"
    return Measurable(When.LIVE, f"{chosen}; choose a model with a price (-m), or set its price in [prices]")


def _names_a_model(argument: str) -> bool:
    """Return whether an argument names a model: ``-m``, ``-mNAME``, ``--model=NAME``, or ``model=…`` (after ``-c``)."""
    return argument.partition("=")[0] in _MODEL_OPTIONS or argument.startswith(("-m", "model="))


def _live(request: LaunchRequest, settings: CodexSettings, model: str | None, plain: tuple[str, ...]) -> Command:
    """Return the start of a process that serves many turns; the thread's settings are in its first lines.

    If only ``codex exec`` takes one of the settings, it is the start of a
    process of one turn, with a warning.
    """
    foreign = launching.foreign_setting(settings.args, settings.config)
    if foreign is not None:
        warning = f"Each turn gets a process of its own: a live codex {foreign}. Or set agents.codex.live to false."
        return Command(argv=plain, stdin=request.prompt, model=model, warnings=(warning,))
    if request.fork is not None and request.fork.at is not None:
        plain = ()  # codex exec forks a thread only at its end
    asks = settings.approvals == "ask" and not settings.full_danger
    lines = launching.opening(
        cwd=request.cwd,
        approval="on-request" if asks else "never",
        sandbox="danger-full-access" if settings.full_danger else settings.sandbox,
        model=model,
        instructions=settings.instructions,
        thread=request.agent_session,
        fork=request.fork,
    )
    overrides = (*_config(structs.replace(settings, instructions=None)), *_lead_args(settings))
    argv = (settings.bin or "codex", "app-server", *overrides, *settings.args)
    return Command(argv=argv, stdin=request.prompt, model=model, transport=TRANSPORT, opening=lines, plain_argv=plain)


def _with_images(argv: tuple[str, ...], paths: Sequence[str]) -> tuple[str, ...]:
    """Return the argv of ``codex exec`` with ``-i`` for each image: an option of ``resume`` if there is that.

    ``-i`` takes several files, so another option, or ``--``, has to follow.
    """
    at = len(argv) - 3 if argv[-3:-2] == ("--",) else 2
    return (*argv[:at], *(word for path in paths for word in ("-i", path)), *argv[at:])


def _lead_args(settings: AgentSettings) -> tuple[str, ...]:
    """Return ``-c`` with each key of the server."""
    return own_config.overrides() if leads(settings) else ()


def _resume(request: LaunchRequest) -> tuple[str, ...]:
    """Return ``codex resume -- THREAD`` with the model, the sandbox and the overrides of codex's configuration.

    A thread remembers the approvals of its last turn (``never`` after ``codex exec``), so they are given again.
    Without ``--no-daemon``, a server that codex starts keeps the thread's lock for 58 s after the end
    (docs/protocols/codex.md, "Own interface").
    """
    settings, model = request.settings, request.model or request.settings.model
    argv = [settings.bin or "codex", "resume", "--no-daemon"]
    if model:
        argv += ["-m", model]
    if isinstance(settings, CodexSettings):
        asks = [] if settings.full_danger else ["-a", "on-request" if settings.approvals == "ask" else "never"]
        argv += [*_sandbox(settings), *asks, *_config(settings)]
    return (*argv, *_lead_args(settings), "--", request.agent_session or "")


def _allowance(settings: AgentSettings, denied: Sequence[str]) -> Allowance | None:
    """Return the next wider sandbox; None behind the widest, and if nothing was refused."""
    if not denied or not isinstance(settings, CodexSettings) or settings.full_danger:
        return None
    wider = _NEXT_SANDBOX.get(settings.sandbox)
    return Allowance(options={"sandbox": wider}, text=f"sandbox {wider}") if wider else None


def _is_of_server(event: Mapping[str, Any]) -> bool:
    """Return whether an event is one of app-server: those of ``codex exec`` have a type."""
    if "jsonrpc" in event:
        return False  # codex leaves it out; another server's messages have it
    method, result = event.get("method"), event.get("result")
    if isinstance(result, dict) and "id" in event:
        return isinstance(result.get("thread"), dict) or isinstance(result.get("codexHome"), str)
    return isinstance(method, str) and _SERVER_EVENTS.fullmatch(method) is not None


def _measures(command: Command, prices: Prices, env: Mapping[str, str]) -> Measures:
    """Return when tokens and cost are known: the cost needs the model's price, and codex's transcript.

    The stream of a live codex has its tokens; otherwise they too are in the transcript.
    """
    if "--ephemeral" in command.argv:
        tokens = Measurable(When.END, "with --ephemeral, codex reports tokens only when a turn ends")
        why = "codex reports no cost, and with --ephemeral it writes no transcript to estimate one"
        return Measures(tokens=tokens, cost=Measurable(When.NEVER, why))
    return Measures(tokens=Measurable(When.LIVE), cost=_priced(command, prices, env))


def _meter(launch: Launch, env: Env, began: int) -> Meter | None:
    """Return a meter that reads the thread's transcript, for a live codex and if a limit needs it.

    None for a codex of one turn without such a limit: reading the transcript costs more.
    """
    if launch.transport:
        return meter.LiveCodexMeter(_home(env), began, launch.prices, limited=launch.limits.cost_usd is not None)
    if launch.limits.cost_usd is None and launch.limits.tokens is None:
        return None
    return usage.CodexMeter(_home(env), began, launch.prices if launch.limits.cost_usd is not None else None)


def _final_meter(launch: Launch, env: Env, began: int) -> Meter | None:
    """Return a meter of the thread's transcript, which has the calls that the stream adds up."""
    return _meter(launch, env, began) if launch.transport else usage.CodexMeter(_home(env), began, None)


def _windows_at_end(thread: str, env: Env, began: int) -> tuple[PlanWindow, ...]:
    """Return the windows of the newest report in the thread's transcript."""
    path = files.find_rollout(_home(env), thread, began)
    return plan_reports.rollout_report(path, Codex.name) if path is not None else ()


def _fork_point(lines: Iterable[bytes], through: int | None, transport: str, settings: AgentSettings) -> str | None:
    """Return the id of the turn if a live codex printed it and forks it; ``codex exec`` names no turns."""
    if transport != TRANSPORT or not isinstance(settings, CodexSettings) or not settings.live:
        return None
    is_foreign = launching.foreign_setting(settings.args, settings.config) is not None
    return parser.turn_before(lines, through) if not is_foreign else None


def _refusals(stderr: str) -> Iterable[str]:
    """Return the patches and commands that codex refused without an event."""
    commands = refusals.complaints(stderr)
    return [refusals.culprit(item_steps.unwrapped(one)) if one else "apply_patch" for one in commands]


class Codex(Agent):
    """OpenAI's codex."""

    name = "codex"
    title = "Codex"
    binary = "codex"
    tested_versions = ("0.169.0", "0.171.0")
    install_hint = "Install it with `npm install -g @openai/codex`."
    parsers: ClassVar = {
        "": turn_parser.CodexParser,
        TRANSPORT: parser.AppServerParser,
        BY_HAND: partial(reader.CodexRolloutParser, one_turn=True),
    }
    settings_type = CodexSettings
    takes_instructions = True
    expands = _EXPANDS
    noise = ("Reading additional input from stdin", "Reading prompt from stdin", "WARNING")
    error_words = ("Error", "error:")
    env_keys = ("PATH", "CODEX_HOME", "OPENAI_BASE_URL")

    modes = capabilities.Modes(
        settings=CodexSettings,
        key="sandbox",
        help="Sandbox mode",
        dangerous=frozenset({"danger-full-access"}),
        narrower=_NARROWER,
        ranks={"read-only": 0, "workspace-write": 1},
        writing=frozenset({"workspace-write"}),
        unlimited="no-sandbox",
        allowance=_allowance,
    )
    conversations = capabilities.Conversations(ids=UUID, lost="no rollout found")  # 0.169.0
    forks = capabilities.Forks(_fork_point)
    interface = capabilities.Interface(_resume)
    live = capabilities.Live(
        transport=TRANSPORT,
        dialogue=dialogue.CodexDialogue,
        fixed_start=lambda launch: (launch.argv, launching.fixed_opening(launch.opening)),
        prints=_is_of_server,
        format="codex-app-server",
        compacts=True,  # ``thread/compact/start``, which takes no words (0.169.0, its own schema)
    )
    images = capabilities.Images(transports=frozenset({"", TRANSPORT}), most_bytes=20_000_000, arguments=_with_images)
    use = capabilities.Use(measures=_measures, meter=_meter, final_meter=_final_meter)
    plan = capabilities.Plan(
        b'"account/rateLimits/updated"',  # ``codex exec`` prints none
        lambda line: plan_reports.server_report(line, Codex.name),
        _windows_at_end,
    )
    own_files = capabilities.OwnFiles(
        has_prompt=lambda prompt: files.transcript_has(_home(prompt.env), prompt),
        transcript=lambda thread, env, at: files.find_rollout(_home(env), thread, at),
        edits=lambda thread, env, at: files.open_rollout(_home(env), thread, at),
    )
    complaints = capabilities.Complaints(_refusals, refusals.unapplied)
    leading = capabilities.Leading(
        lambda: own_config.setup_lines(_home(os.environ)), lambda env: own_config.known_server(_home(env))
    )

    def writable_folders(self, settings: AgentSettings) -> tuple[str, ...]:
        """Return also ``sandbox_workspace_write.writable_roots`` of the overrides of codex's configuration."""
        config = settings.config if isinstance(settings, CodexSettings) else {}
        nested = config.get("sandbox_workspace_write")
        roots = nested.get("writable_roots") if isinstance(nested, dict) else None
        roots = roots or config.get("sandbox_workspace_write.writable_roots")
        named = tuple(root for root in roots if isinstance(root, str)) if isinstance(roots, list) else ()
        return (*super().writable_folders(settings), *named)

    def command(self, request: LaunchRequest) -> Command:
        """Build the argv: options before ``resume`` or ``fork``, and always the sandbox, which codex does not remember.

        The prompt goes through standard input (``-``), so that codex cannot take its text for an option.
        """
        settings = request.settings
        if not isinstance(settings, CodexSettings):
            settings = CodexSettings(
                bin=settings.bin, model=settings.model, args=settings.args, instructions=settings.instructions
            )
        model = request.model or settings.model
        argv = [settings.bin or "codex", "exec", "--json", "--skip-git-repo-check", "-C", request.cwd]
        if model:
            argv += ["-m", model]
        argv += [*_sandbox(settings), *_config(settings), *_lead_args(settings), *settings.args]
        if request.agent_session is not None:
            argv += ["resume" if request.fork is None else "fork", "--", request.agent_session]
        plain = (*argv, "-")
        if settings.live:
            return _live(request, settings, model, plain)
        return Command(argv=plain, stdin=request.prompt, model=model)

    def recognizes(self, kind: str | None, event: Mapping[str, Any]) -> bool:
        """Return whether an event's type begins with ``thread.``, ``turn.`` or ``item.``, or is one of app-server."""
        if kind is not None:
            return kind.startswith(("thread.", "turn.", "item."))
        return _is_of_server(event)
