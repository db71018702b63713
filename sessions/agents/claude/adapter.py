"""claude (Claude Code 2.1.197 to 2.1.330): ``claude -p --output-format stream-json --verbose``.

A process serves one turn, or with ``--input-format stream-json`` several of them
(docs/protocols/claude.md, "Standard input").  agentdash chooses the conversation's id before the start.
"""

import re
import uuid
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from msgspec import Meta

from ...costs.prices import Price
from ...costs.pricing import price_of
from ...launch import Command, Fork, Ladder, Launch
from ...text.units import listed
from ...values.taken_by import BY_HAND
from ..allowance import Allowance
from ..base import Agent, AgentSettings, LaunchRequest
from ..expanding import Expansions
from ..leading import ALL_TOOLS, LeadingAgent, LeadSettings, leads
from ..names import UUID
from ..parsing.parser import TurnParser
from ..parsing.usage_meter import Measurable, Measures, Meter, When

if TYPE_CHECKING:
    from ...costs.reports import Report
    from ...values.plan_windows import PlanWindow
    from ..dialogue import Dialogue
    from ..parsing.sent_prompt import SentPrompt

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

_EXPANDS = Expansions(
    anywhere=((re.compile(r"(?<![A-Za-z0-9_\\])@"), r"\\@"),),
    at_first=re.compile(r"\s*/"),
    note=r"In the following text, \@ is written for @.",
)
"""Files, folders, resources of MCP servers (``@server:uri``) and commands, as seen in requests of 2.1.197 and 2.1.332.

``@`` counts behind white space of any kind and some other characters, also in fences and behind ``|``; not behind a
letter or a backslash.  A command counts only at the beginning of a prompt, in stream-json also behind spaces.
"""

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
        bool,
        Meta(description="Skip all permission checks; claude refuses this as root unless IS_SANDBOX=1 is set."),
    ] = False
    allowed_tools: Annotated[
        tuple[Annotated[str, Meta(pattern=_RULE)], ...],
        Meta(
            description="Tools that need no permission, with the syntax of claude's --allowedTools.",
            examples=[["Write", "Bash(git log:*)"]],
        ),
    ] = ()


def _home(env: Mapping[str, str | None]) -> Path:
    """Return claude's own folder in this environment."""
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


class Claude(Agent, LeadingAgent):
    """Anthropic's Claude Code."""

    name = "claude"
    title = "Claude Code"
    binary = "claude"
    tested_versions = ("2.1.197", "2.1.330", "2.1.332")
    install_hint = "Install it with `npm install -g @anthropic-ai/claude-code`."
    settings_type = ClaudeSettings
    mode_key = "permission_mode"
    mode_help = "Permission mode"
    takes_instructions = True
    plan_mark = b'"rate_limit_event"'
    polling_tools = Agent.polling_tools | {"BashOutput", "TaskOutput"}
    # SIGINT ends it with its commands; a late SIGTERM only makes it call the model again
    # (docs/protocols/claude.md, "Signals").
    ladder = Ladder(interrupt=4.0, terminate=1.5)
    dangerous = frozenset({"bypassPermissions"})
    narrower = _NARROWER
    ranks = _RANKS
    writing = frozenset({"acceptEdits", "auto"})
    follows_interface = True
    adjusts_from = "step"  # docs/protocols/claude.md, "Standard input"
    unlimited = "no-checks"
    forks_ends = True
    conversation_ids = UUID
    expands = _EXPANDS
    lost_conversation = "No conversation found"  # 2.1.197 and 2.1.330, also if it is run in another folder
    env_keys = ("PATH", "CLAUDE_CONFIG_DIR", "ANTHROPIC_BASE_URL")

    def plan_windows(self, line: bytes) -> "tuple[PlanWindow, ...]":
        """Return the windows of a ``rate_limit_event``."""
        from ..parsing.plan_reports import claude_report

        return claude_report(line, self.name)

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
        argv += self.lead_args(settings)
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

    def fixed_start(self, launch: Launch) -> tuple[object, ...]:
        """Return the argv without the options of the conversation, the model and the permission mode."""
        words = iter(launch.argv)
        kept: list[str] = []
        for word in words:
            if word in _CHANGEABLE:
                next(words, None)
            elif word != "--fork-session":
                kept.append(word)
        return (tuple(kept),)

    def begins_conversation(self, prompt: str) -> bool:
        """Return whether the prompt is ``/clear`` (2.1.197, 2.1.332), or one of its other names."""
        return prompt.split(maxsplit=1)[:1] in (["/clear"], ["/new"], ["/reset"])

    def compact_prompt(self, words: str) -> str | None:
        """Return ``/compact WORDS``, which a process of one turn takes as well (2.1.197, 2.1.330)."""
        return f"/compact {words}".strip()

    def given_conversation(self, launch: Launch) -> str | None:
        """Return the value of ``--session-id``, which claude takes as the id of its conversation (2.1.330)."""
        words = iter(launch.argv)
        return next(words, None) if "--session-id" in words else None

    def resume_argv(self, request: LaunchRequest) -> tuple[str, ...] | None:
        """Return ``claude --resume CONVERSATION`` with its model and mode; claude finds it only in its own folder."""
        settings, model = request.settings, request.model or request.settings.model
        argv = (request.settings.bin or "claude", "--resume", request.agent_session or "")
        named = ("--model", model) if model else ()
        mode = _permissions(settings) if isinstance(settings, ClaudeSettings) else ()
        return (*argv, *named, *mode, *self.lead_args(request.settings), *_instructions(request.settings))

    def lead_args(self, settings: AgentSettings) -> tuple[str, ...]:
        """Return ``--mcp-config`` with the server; its tools are allowed beside those of the settings."""
        if not leads(settings):
            return ()
        from .leading import server_option

        return server_option()

    def setup_lines(self) -> tuple[str, ...]:
        """Return a command of claude, which changes its own settings."""
        from .leading import setup_lines

        return setup_lines()

    def known_server(self, env: Mapping[str, str]) -> Mapping[str, Any] | None:
        """Return the server of the user's own settings."""
        from .leading import known_server

        return known_server(env)

    def allowance(self, settings: AgentSettings, denied: Sequence[str]) -> Allowance | None:
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

    def recognizes(self, kind: str | None, event: Mapping[str, Any]) -> bool:
        """Return whether this is an event of the stream, with its session's id."""
        return kind in _EVENTS and "session_id" in event

    def transport_of(self, event: Mapping[str, Any]) -> str:
        """Return the transport of requests, answers, and repeated prompts (2.1.197 and 2.1.330)."""
        kind = event.get("type")
        is_live = (isinstance(kind, str) and kind in _LIVE_EVENTS) or event.get("isReplay") is True
        return STREAM_JSON if is_live else ""

    def parser(self, turn: int = 1, transport: str = "") -> TurnParser:
        """Return a new parser for one turn."""
        if transport == BY_HAND:
            from .project.project import ClaudeProjectParser

            return ClaudeProjectParser(turn, one_turn=True)
        from .turn_parser import ClaudeParser  # only a process that reads turns needs it

        return ClaudeParser(turn, live=transport == STREAM_JSON)

    def dialogue(self, transport: str, opening: Sequence[str] = ()) -> "Dialogue | None":
        """Return a new dialogue with a live claude."""
        from .live.dialogue import ClaudeDialogue

        return ClaudeDialogue(opening) if transport == STREAM_JSON else None

    def measures(self, command: Command, prices: Mapping[str, Price], env: Mapping[str, str]) -> Measures:
        """Return when tokens and cost are known; the cost is estimated from the stream until claude reports its own.

        With an alias (``opus``) or no name, claude chooses a model that has a price.
        """
        model = command.model or env.get("ANTHROPIC_MODEL")
        if model and model.partition("[")[0] not in _ALIASES and price_of(model, prices) is None:
            cost = Measurable(When.END, f'{model} has no price; set input and output in [prices."{model}"]')
        else:
            cost = Measurable(When.LIVE)
        return Measures(tokens=Measurable(When.LIVE), cost=cost)

    def meter(self, launch: Launch, env: Mapping[str, str], began: int) -> Meter | None:  # noqa: ARG002
        """Return a meter that reads the stream; None if the cost is not limited."""
        if launch.limits.cost_usd is None:
            return None
        from .use.usage import ClaudeMeter

        return ClaudeMeter(launch.prices)

    def own_calls(self, agent_session: str, env: Mapping[str, str | None], began: int) -> "Sequence[Report] | None":
        """Return the calls in the conversation's transcript and in those of its sub-agents."""
        from .use.on_disk import calls  # only a turn that broke off needs it

        return calls(_home(env), agent_session, began)

    def total_before(self, launch: Launch, env: Mapping[str, str | None], began: int) -> "Sequence[Report] | None":
        """Return the total in the transcript of the conversation that the process resumes or forks (2.1.330)."""
        from .use.on_disk import total_before

        return total_before(_home(env), launch.argv, began)

    def fork_point(
        self,
        lines: Iterable[bytes],
        through: int | None,
        *,
        transport: str,
        settings: AgentSettings,  # noqa: ARG002
    ) -> str | None:
        """Return the id of the assistant message that the place follows; None if it follows something else."""
        from .project.fork_point import message_before

        return message_before(lines, self.parser(1, transport), through)

    def has_prompt(self, sent: "SentPrompt") -> bool | None:
        """Search the conversation's transcript, below the ``CLAUDE_CONFIG_DIR`` that was recorded with the session."""
        from .project.sent import transcript_has

        return transcript_has(_home(sent.env), sent)

    def transcript(self, agent_session: str, env: Mapping[str, str | None], at: int) -> Path | None:  # noqa: ARG002
        """Return the transcript, below the ``CLAUDE_CONFIG_DIR`` that was recorded with the session."""
        from .project.own_files import transcript_of

        return transcript_of(_home(env), agent_session)

    def line_id(self, line: bytes) -> str | None:
        """Return the line's ``uuid``: claude may write a conversation again into its own file."""
        from .project.own_files import uuid_of

        return uuid_of(line)

    def shown_conversation(self, pid: int, env: Mapping[str, str | None]) -> str | None:
        """Return the conversation that claude names for its interface: ``/clear`` begins another one."""
        from .project.own_files import shown_by

        return shown_by(_home(env), pid)

    def stderr_reason(self, text: str) -> str | None:
        """Return the first line that begins with ``Error``, else the last that is not a warning."""
        stripped = [line.strip() for line in text.splitlines()]
        lines = [line for line in stripped if line and not line.startswith("Warning:")]
        errors = [line for line in lines if line.startswith("Error")]
        return errors[0] if errors else lines[-1] if lines else None
