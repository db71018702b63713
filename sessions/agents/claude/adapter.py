"""claude (Claude Code 2.1.197 to 2.1.330): ``claude -p --output-format stream-json --verbose``.

A process serves one turn, or with ``--input-format stream-json`` several of them
(docs/protocols/claude.md, "Standard input").  agentdash chooses the conversation's id before the start.
"""

import re
import uuid
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from msgspec import Meta

from agentdash.sessions.agents import capabilities
from agentdash.sessions.agents.base import Agent, AgentSettings, LaunchRequest
from agentdash.sessions.agents.capabilities import Allowance, Env
from agentdash.sessions.agents.later import Later
from agentdash.sessions.agents.leading import ALL_TOOLS, LeadSettings, leads
from agentdash.sessions.agents.names import UUID
from agentdash.sessions.agents.parsing.usage_meter import Measurable, Measures, When
from agentdash.sessions.model.taken_by import BY_HAND
from agentdash.sessions.rules.costs.pricing import price_of
from agentdash.sessions.rules.launch import Command, Fork, Ladder, Launch, Prices
from agentdash.sessions.text.units import listed

if TYPE_CHECKING:
    from agentdash.sessions.agents.claude import leading as server
    from agentdash.sessions.agents.claude import turn_parser
    from agentdash.sessions.agents.claude.live import dialogue
    from agentdash.sessions.agents.claude.project import fork_point, project
    from agentdash.sessions.agents.claude.project import own_files as files
    from agentdash.sessions.agents.claude.use import on_disk, usage
    from agentdash.sessions.agents.parsing import plan_reports
else:
    server, turn_parser, dialogue = Later("claude.leading"), Later("claude.turn_parser"), Later("claude.live.dialogue")
    fork_point, files = Later("claude.project.fork_point"), Later("claude.project.own_files")
    project, on_disk = Later("claude.project.project"), Later("claude.use.on_disk")
    usage, plan_reports = Later("claude.use.usage"), Later("parsing.plan_reports")

STREAM_JSON = "stream-json"
"""The transport of a live claude."""

_ALIASES = frozenset({"default", "best", "opus", "sonnet", "haiku", "opusplan"})
"""Names that claude maps to a model of its choice (``claude --help``, 2.1.197)."""

_EVENTS = frozenset({"system", "assistant", "user", "result", "stream_event", "rate_limit_event", "command_lifecycle"})

_LIVE_EVENTS = frozenset({"control_request", "control_response", "control_cancel_request", "command_lifecycle"})

_RULE = r"^[A-Za-z_*][^\x00-\x1f]*$"
"""An entry of ``--allowedTools``, which takes any number of them: an entry with a dash would be the next option."""

_WITHOUT_RULES = frozenset({"auto", "plan"})
"""Permission modes in which an allowed tool can still be refused (2.1.197, 2.1.330)."""

_EXPANDS = capabilities.Expansions(
    anywhere=((re.compile(r"(?<![A-Za-z0-9_\\])@"), r"\\@"),),
    at_first=re.compile(r"\s*/"),
    note=r"In the following text, \@ is written for @.",
)
"""Files, folders, resources of MCP servers (``@server:uri``) and commands, as seen in requests of 2.1.197 and 2.1.332.

``@`` counts behind white space of any kind and some other characters, also in fences and behind ``|``; not behind a
letter or a backslash.  A command counts only at the beginning of a prompt, in stream-json also behind spaces.
"""

_MOST_IMAGE_BYTES = 700_000
"""Bytes of the images of one prompt: with it, as Base64, they are one line, and a pipe takes 1 MiB at once."""

_CHANGEABLE = frozenset({"--resume", "--session-id", "--resume-session-at", "--model", "--permission-mode"})
"""Options with a value in which the turns of one process can differ."""

_RANKS = {"plan": 0, "default": 1, "dontAsk": 1, "acceptEdits": 1, "auto": 1}

_NARROWER = {
    "default": frozenset({"dontAsk", "plan"}),
    "acceptEdits": frozenset({"default", "dontAsk", "plan"}),
    "auto": frozenset({"default", "dontAsk", "plan"}),
    "bypassPermissions": frozenset({"acceptEdits", "auto", "default", "dontAsk", "plan"}),
}
"""By mode, those that permit no more.

``dontAsk`` refuses what ``plan`` may ask for, and ``plan`` edits nothing that ``dontAsk`` may: neither is narrower.
"""

_TOOL = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
"""The name of a tool.  The model chooses the name of a refused call, so it must not become a rule with a pattern."""


_STAYS = {"CLAUDE_BASH_MAINTAIN_PROJECT_WORKING_DIR": "1"}
"""Each command begins in the session's folder (2.1.197, 2.1.332): an ask does not name the folder of a command, and a
rule judges its paths.  Without it, a ``cd`` moves all later commands."""


class ClaudeSettings(LeadSettings, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """``[agents.claude]``."""

    permission_mode: Annotated[
        Literal["acceptEdits", "auto", "bypassPermissions", "default", "dontAsk", "plan"],
        Meta(description="Permission mode of claude."),
    ] = "acceptEdits"
    full_danger: Annotated[
        bool, Meta(description="Skip all permission checks; claude refuses this as root unless IS_SANDBOX=1 is set.")
    ] = False
    allowed_tools: Annotated[
        tuple[Annotated[str, Meta(pattern=_RULE)], ...],
        Meta(
            description="Tools that need no permission, with the syntax of claude's --allowedTools.",
            examples=[["Write", "Bash(git log:*)"]],
        ),
    ] = ()


def _home(env: Env) -> Path:
    """Return claude's own folder in this environment, such as that which was recorded with a session."""
    chosen = env.get("CLAUDE_CONFIG_DIR")
    return Path(chosen) if chosen else Path.home() / ".claude"


_CLOSED = '{"crossSessionInbound":"refuse"}'
"""The setting with which claude refuses the messages of other programs (2.1.330, 2.1.332)."""


def _permissions(settings: ClaudeSettings) -> list[str]:
    """Return the option for what claude may do on its own."""
    if settings.full_danger:
        return ["--dangerously-skip-permissions"]
    return ["--permission-mode", settings.permission_mode]


def _instructions(settings: AgentSettings) -> list[str]:
    return ["--append-system-prompt", settings.instructions] if settings.instructions else []


def _forked(fork: Fork | None) -> list[str]:
    """Return the options that copy a conversation up to a place (docs/protocols/claude.md, "Forks and compactions")."""
    if fork is None:
        return []
    return ["--fork-session", *(["--resume-session-at", fork.at] if fork.at is not None else [])]


def _lead_args(settings: AgentSettings) -> tuple[str, ...]:
    """Return ``--mcp-config`` with the server; its tools are allowed beside those of the settings."""
    return server.server_option() if leads(settings) else ()


def _resume(request: LaunchRequest) -> tuple[str, ...]:
    """Return ``claude --resume CONVERSATION`` with its model and mode; claude finds it only in its own folder."""
    settings, model = request.settings, request.model or request.settings.model
    argv = (request.settings.bin or "claude", "--resume", request.agent_session or "")
    named = ("--model", model) if model else ()
    mode = _permissions(settings) if isinstance(settings, ClaudeSettings) else ()
    return (*argv, *named, *mode, *_lead_args(request.settings), *_instructions(request.settings))


def _given(launch: Launch) -> str | None:
    """Return the value of ``--session-id``, which claude takes as the id of its conversation (2.1.330)."""
    words = iter(launch.argv)
    return next(words, None) if "--session-id" in words else None


def _is_live(event: Mapping[str, Any]) -> bool:
    """Return whether an event is a request, an answer, or a repeated prompt (2.1.197 and 2.1.330)."""
    kind = event.get("type")
    return (isinstance(kind, str) and kind in _LIVE_EVENTS) or event.get("isReplay") is True


def _allowance(settings: AgentSettings, denied: Sequence[str]) -> Allowance | None:
    """Return the refused tools as allowed tools, in a permission mode in which that counts.

    None if no refused name can be that of a tool, or if all of them were allowed.
    """
    if not isinstance(settings, ClaudeSettings) or settings.full_danger:
        return None
    tools = [name for name in dict.fromkeys(denied) if _TOOL.fullmatch(name) and name not in settings.allowed_tools]
    if not tools:
        return None
    options: dict[str, Any] = {"allowed_tools": [*settings.allowed_tools, *tools]}
    text = f"{listed(tools)} allowed"
    if settings.permission_mode not in _WITHOUT_RULES:
        return Allowance(options=options, text=text)
    return Allowance(options=options | {"permission_mode": "default"}, text=f"permission mode default, {text}")


def _fixed_start(launch: Launch) -> tuple[object, ...]:
    """Return the argv without the options of the conversation, the model and the permission mode."""
    words = iter(launch.argv)
    kept: list[str] = []
    for word in words:
        if word in _CHANGEABLE:
            next(words, None)
        elif word != "--fork-session":
            kept.append(word)
    return (tuple(kept),)


def _measures(command: Command, prices: Prices, env: Mapping[str, str]) -> Measures:
    """Return when tokens and cost are known; the cost is estimated from the stream until claude reports its own.

    With an alias (``opus``) or no name, claude chooses a model that has a price.
    """
    model = command.model or env.get("ANTHROPIC_MODEL")
    if model and model.partition("[")[0] not in _ALIASES and price_of(model, prices) is None:
        cost = Measurable(When.END, f'{model} has no price; set input and output in [prices."{model}"]')
    else:
        cost = Measurable(When.LIVE)
    return Measures(tokens=Measurable(When.LIVE), cost=cost)


def _fork_point(lines: Iterable[bytes], through: int | None, transport: str, _: AgentSettings) -> str | None:
    """Return the id of the assistant message that the place follows; None if it follows something else."""
    return fork_point.message_before(lines, turn_parser.ClaudeParser(1, live=transport == STREAM_JSON), through)


class Claude(Agent):
    """Anthropic's Claude Code."""

    name = "claude"
    title = "Claude Code"
    binary = "claude"
    tested_versions = ("2.1.197", "2.1.330", "2.1.332")
    install_hint = "Install it with `npm install -g @anthropic-ai/claude-code`."
    parsers: ClassVar = {
        "": turn_parser.ClaudeParser,
        STREAM_JSON: partial(turn_parser.ClaudeParser, live=True),
        BY_HAND: partial(project.ClaudeProjectParser, one_turn=True),
    }
    event_types = _EVENTS
    event_keys = frozenset({"session_id"})
    settings_type = ClaudeSettings
    takes_instructions = True
    polling_tools = Agent.polling_tools | {"BashOutput", "TaskOutput"}
    expands = _EXPANDS
    noise = ("Warning:",)
    error_words = ("Error",)
    env_keys = ("PATH", "CLAUDE_CONFIG_DIR", "ANTHROPIC_BASE_URL")
    # SIGINT ends it with its commands; a late SIGTERM only makes it call the model again
    # (docs/protocols/claude.md, "Signals").
    ladder = Ladder(interrupt=4.0, terminate=1.5)

    modes = capabilities.Modes(
        settings=ClaudeSettings,
        key="permission_mode",
        help="Permission mode",
        dangerous=frozenset({"bypassPermissions"}),
        narrower=_NARROWER,
        ranks=_RANKS,
        writing=frozenset({"acceptEdits", "auto"}),
        unlimited="no-checks",
        allowance=_allowance,
    )
    conversations = capabilities.Conversations(
        ids=UUID,
        lost="No conversation found",  # 2.1.197 and 2.1.330, also if it is run in another folder
        clears=frozenset({"/clear", "/new", "/reset"}),  # 2.1.197, 2.1.332
        compact="/compact",  # a process of one turn takes it as well (2.1.197, 2.1.330)
        given=_given,
    )
    forks = capabilities.Forks(_fork_point)
    interface = capabilities.Interface(
        _resume,
        lambda pid, env: files.shown_by(_home(env), pid),  # ``/clear`` begins another conversation
    )
    live = capabilities.Live(
        transport=STREAM_JSON,
        dialogue=dialogue.ClaudeDialogue,
        fixed_start=_fixed_start,
        prints=_is_live,
        adjusts_from="step",  # docs/protocols/claude.md, "Standard input"
    )
    images = capabilities.Images(transports=frozenset({STREAM_JSON}), most_bytes=_MOST_IMAGE_BYTES)
    use = capabilities.Use(
        measures=_measures,
        meter=lambda launch, _, __: usage.ClaudeMeter(launch.prices) if launch.limits.cost_usd is not None else None,
        calls=lambda conversation, env, began: on_disk.calls(_home(env), conversation, began),
        total_before=lambda launch, env, began: on_disk.total_before(_home(env), launch.argv, began),
    )
    plan = capabilities.Plan(b'"rate_limit_event"', lambda line: plan_reports.claude_report(line, Claude.name))
    own_files = capabilities.OwnFiles(
        has_prompt=lambda sent: files.transcript_has(_home(sent.env), sent),
        transcript=lambda conversation, env, _: files.transcript_of(_home(env), conversation),
        line_id=files.uuid_of,  # claude may write a conversation again into its own file
    )
    leading = capabilities.Leading(server.setup_lines, server.known_server)

    def command(self, request: LaunchRequest) -> Command:
        """Build the argv; a new conversation gets the session's id, a later attempt a new one: claude refuses used ids.

        The prompt goes through standard input, so that claude cannot take its text for an option.  A live claude gets
        it as a line of its own from the dialogue.
        """
        settings = request.settings
        if not isinstance(settings, ClaudeSettings):
            settings = ClaudeSettings(
                bin=settings.bin, model=settings.model, args=settings.args, instructions=settings.instructions
            )
        model = request.model or settings.model
        command = [settings.bin or "claude", "-p", "--output-format", "stream-json", "--verbose"]
        argv: list[str] = []
        if model:
            argv += ["--model", model]
        argv += _permissions(settings)
        allowed = (*settings.allowed_tools, *([ALL_TOOLS] if settings.lead else []))
        argv += ["--allowedTools", *allowed] if allowed else []
        argv += _lead_args(settings)
        argv += _instructions(settings)
        argv += ["--settings", _CLOSED] if request.led and "--settings" not in settings.args else []
        if request.agent_session is not None:
            argv += ["--resume", request.agent_session, *_forked(request.fork)]
        else:
            argv += ["--session-id", request.session_id if request.turn == 1 else str(uuid.uuid4())]
        plain = (*command, *argv, *settings.args)
        if not settings.live:
            return Command(argv=plain, stdin=request.prompt, model=model)
        command += ["--input-format", "stream-json", "--replay-user-messages"]
        if settings.approvals == "ask":
            command += ["--permission-prompt-tool", "stdio"]
        return Command(
            argv=(*command, *argv, *settings.args),
            stdin=request.prompt,
            model=model,
            transport=STREAM_JSON,
            plain_argv=plain,
            env=_STAYS if settings.approvals == "ask" else {},
        )
