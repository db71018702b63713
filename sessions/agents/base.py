"""The contract of an agent module: how to launch the agent, how to read it, what its end and its signals mean.

An adapter is one instance of a subclass of :class:`Agent`.  It does no I/O of its own: it turns a request into an
argv, and lines into steps.  Processes and files are handled once, elsewhere, for all agents.
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, get_args, get_type_hints

from msgspec import Meta, Struct, field

from ..costs.prices import Price
from ..launch import Command, Fork, Ladder, Launch, StopSettings
from ..rules.limits.limits import Limits
from ..rules.turn_facts import Facts
from ..values.adjustments import From
from ..values.turn_mode import TurnMode
from .allowance import Allowance
from .expanding import Expansions
from .names import PLAIN_NAME
from .parsing.parser import TurnParser
from .parsing.usage_meter import Measurable, Measures, Meter, When

if TYPE_CHECKING:
    from pathlib import Path

    from ..costs.reports import Report
    from ..values.plan_windows import PlanWindow
    from .dialogue import Dialogue
    from .parsing.recorded_edits import Transcript
    from .parsing.sent_prompt import SentPrompt


class AgentSettings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The section ``[agents.<name>]`` of the configuration; each adapter adds its own keys."""

    bin: Annotated[
        str | None,
        Meta(
            description="Command to run instead of the default: a name in PATH or an absolute path.",
            extra={"default": "the agent's own"},
        ),
    ] = None
    model: Annotated[str | None, Meta(description="Model to request.", extra={"default": "the agent's own"})] = None
    args: Annotated[tuple[str, ...], Meta(description="Extra CLI arguments.")] = ()
    instructions: Annotated[
        str | None,
        Meta(
            description="Text to append to the agent's system prompt.",
            examples=["Run the tests before you finish."],
            extra={"default": "none", "offered": True},
        ),
    ] = None
    stop: StopSettings = StopSettings()
    limits: Limits = Limits()


class LiveSettings(AgentSettings, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Adds the keys of an agent whose process can serve several turns."""

    live: Annotated[
        bool,
        Meta(
            description="Keep the agent's process for later prompts, steer it while it works, and answer what it asks."
        ),
    ] = True
    approvals: Annotated[
        Literal["ask", "deny"],
        Meta(description="What a live agent needs permission for: ask the user, or deny it at once."),
    ] = "ask"


def added_folders(args: Sequence[str]) -> Iterator[str]:
    """Yield the folders of ``--add-dir`` among arguments: codex and claude have it, and claude takes several."""
    adds = False
    for word in args:
        name, _, value = word.partition("=")
        is_option = word.startswith("-")
        adds = name == "--add-dir" if is_option else adds
        folder = value if is_option else word
        if adds and folder:
            yield folder


class LaunchRequest(Struct, frozen=True, kw_only=True):
    """The parameters for the start of one turn."""

    prompt: str
    cwd: str
    session_id: str
    turn: int = 1
    agent_session: str | None = None
    """The conversation to resume or to fork; None for a new one."""
    fork: Fork | None = None
    """The place behind which the conversation is forked; None resumes it."""
    model: str | None = None
    """The requested model; it overrides ``settings.model``."""
    settings: AgentSettings = field(default_factory=AgentSettings)
    """The agent's section of the configuration, with the spawn's options applied."""
    argv: tuple[str, ...] = ()
    """The argv to run, for the ``command`` agent."""
    led: bool = False
    """An agent started the session: its prompts come through agentdash alone, which counts them."""


class Agent(ABC):
    """One agent CLI."""

    name: ClassVar[str]
    title: ClassVar[str]
    """The product's display name: ``Claude Code``."""
    binary: ClassVar[str | None] = None
    """The command searched in PATH unless the configuration names another; None if the agent has no command."""
    install_hint: ClassVar[str] = ""
    stream_formats: ClassVar[Mapping[str, str]] = {}
    """By the name of a format: the transport of the live processes that print it, if it is not that of one turn."""
    tested_versions: ClassVar[tuple[str, ...]] = ()
    """The versions whose events the adapter was tested with, oldest first; empty for an agent without versions."""
    plan_mark: ClassVar[bytes] = b""
    """Bytes that each line with a report about the user's plan contains; empty if the agent prints none."""
    prompted: ClassVar[bool] = True
    """True if the agent takes prompts; a plain command does not, and uses no model."""
    demo_only: ClassVar[bool] = False
    """True if the agent plays a script, and starts only in the state folder of `agentdash demo`."""
    offered: ClassVar[bool] = True
    """False if a front end lists other agents instead; the agent can still be started by its name."""
    resumable: ClassVar[bool] = True
    """True if a later turn can continue the same conversation."""
    settings_type: ClassVar[type[AgentSettings]] = AgentSettings
    mode_key: ClassVar[str | None] = None
    """The setting for what the agent may do on its own: its sandbox or its permission mode.

    It is a Literal of :attr:`settings_type`, an option of ``spawn``, and a field of the dialog that starts a session.
    """
    mode_help: ClassVar[str] = "Permissions of the agent"
    """The help of that option, without the agent's name."""
    takes_instructions: ClassVar[bool] = False
    """True if :meth:`command` passes on the setting ``instructions``; else a start with instructions is refused."""
    follows_interface: ClassVar[bool] = False
    """True if :meth:`shown_conversation` knows which conversation the agent's own interface shows."""
    keeps_transcripts: ClassVar[bool] = False
    """True if the agent writes its own transcripts: :meth:`recorded_edits` can find one."""
    dangerous: ClassVar[frozenset[str]] = frozenset()
    """The modes that do not limit the agent."""
    narrower: ClassVar[Mapping[str, frozenset[str]]] = {}
    """By mode: the other modes that permit no more, which the settings of a project may choose instead."""
    ranks: ClassVar[Mapping[str, int]] = {}
    """By mode: 0 if the agent only reads in it, 1 if it changes its workspace.  Others count as 2, without limits."""
    writing: ClassVar[frozenset[str]] = frozenset()
    """The modes in which it writes in its folder without asking, and nowhere else."""
    project_keys: ClassVar[frozenset[str]] = frozenset()
    """The own keys of :attr:`settings_type` that the settings of a project may set to any value."""
    unlimited: ClassVar[str | None] = None
    """The setting ``full_danger``, named as a mode; None for an agent without that setting."""
    lost_conversation: ClassVar[str | None] = None
    """The words in its error if it cannot find the conversation that it is to resume; None if they are not known."""
    polling_tools: ClassVar[frozenset[str]] = frozenset({"wait"})
    """Tools that poll for progress: repeated calls with the same arguments are not a loop."""
    compacts_live: ClassVar[bool] = False
    """True if its live process compacts the conversation on request, without wishes for the summary."""
    adjusts_from: ClassVar[From] = "turn"
    """The moment from which a live process uses a changed model or mode."""
    conversation_ids: ClassVar[re.Pattern[str]] = PLAIN_NAME
    """The form of its conversations' ids: the agent prints them, and a start has them as arguments."""
    expands: ClassVar[Expansions] = Expansions()
    """The parts of a prompt that it replaces: foreign text is made inert with it."""
    forks_ends: ClassVar[bool] = False
    """True if :meth:`command` can fork a conversation at its end, without a place that :meth:`fork_point` names."""
    env_keys: ClassVar[tuple[str, ...]] = ("PATH",)
    """Environment variables recorded with the session, because later turns need them; never secrets."""
    ladder: ClassVar[Ladder] = Ladder()

    @abstractmethod
    def command(self, request: LaunchRequest) -> Command:
        """Build the argv of any turn, first or later; no other method does.

        Raises:
            UsageError: the agent cannot take a setting or an option.
        """

    def resume_argv(self, request: LaunchRequest) -> tuple[str, ...] | None:  # noqa: ARG002
        """Return the argv that resumes a conversation in the agent's own interface; None if it has no such command.

        ``request`` has the conversation and no prompt.  The interface opens with what the agent may do on its own in
        the session's next turn.
        """
        return None

    @abstractmethod
    def parser(self, turn: int = 1, transport: str = "") -> TurnParser:
        """Return a new parser for one turn of a process with this :attr:`..launch.Launch.transport`."""

    def writable_folders(self, settings: AgentSettings) -> tuple[str, ...]:
        """Return the folders that the settings let a limited agent write beside its own; relative ones are in it."""
        return tuple(added_folders(settings.args))

    def fixed_start(self, launch: Launch) -> tuple[object, ...]:
        """Return the start of a live process without its conversation, its model and its mode.

        A process serves only turns with the same.  By default it is the whole start.
        """
        return launch.argv, launch.opening

    def begins_conversation(self, prompt: str) -> bool:  # noqa: ARG002
        """Return whether the agent answers a prompt by beginning another conversation, whose id it then prints."""
        return False

    def compact_prompt(self, words: str) -> str | None:  # noqa: ARG002
        """Return the prompt with which the agent compacts its conversation in any turn; None if it has none.

        ``words`` are the user's wishes for the summary, one line.
        """
        return None

    def dialogue(self, transport: str, opening: Sequence[str] = ()) -> "Dialogue | None":  # noqa: ARG002
        """Return a new dialogue with a live process by its protocol; None if the agent does not speak it.

        ``opening`` has the lines of the handshake, which output that is only read does not need.
        """
        return None

    def recognizes(self, kind: str | None, event: Mapping[str, Any]) -> bool:  # noqa: ARG002
        """Return whether a JSON object is an event of the agent's stream, so that a file's format need not be named.

        Args:
            kind: the object's ``type``; None if it is missing or not text.
            event: the object.
        """
        return False

    def transport_of(self, event: Mapping[str, Any]) -> str:  # noqa: ARG002
        """Return the :attr:`..launch.Launch.transport` of the only processes that print such an event.

        Empty if processes of one turn print it too.
        """
        return ""

    def modes(self) -> tuple[str, ...]:
        """Return the values that ``mode_key`` takes."""
        if self.mode_key is None:
            return ()
        hints = get_type_hints(self.settings_type)
        return tuple(str(value) for value in get_args(hints[self.mode_key]))

    def mode_options(self, mode: str) -> dict[str, Any]:
        """Return the keys of the agent's section that stand for one of :meth:`modes`."""
        if self.mode_key is None:
            return {}
        return {self.mode_key: mode, **({"full_danger": False} if self.unlimited else {})}

    def turn_mode(self, settings: AgentSettings, model: str | None) -> TurnMode:
        """Return the record of the settings with which a turn runs; ``model`` is the requested one."""
        unlimited = self.unlimited if getattr(settings, "full_danger", False) else None
        permissions, usual = (
            getattr(of, self.mode_key) if self.mode_key else None for of in (settings, self.settings_type())
        )
        return TurnMode(
            setting=self.mode_key,
            permissions=unlimited or permissions,
            default=usual,
            dangerous=unlimited is not None or permissions in self.dangerous,
            model=model,
            search=getattr(settings, "search", None),
            args=settings.args,
            allowed_tools=getattr(settings, "allowed_tools", ()),
            instructions=settings.instructions,
        )

    def allowance(self, settings: AgentSettings, denied: Sequence[str]) -> Allowance | None:  # noqa: ARG002
        """Return the least change of settings that would have allowed refused actions; None if there is none.

        It never lifts all limits at once, as ``full_danger`` does.

        Args:
            settings: the agent's section with which the turn ran.
            denied: the refused tools and programs, as :class:`Facts` names them; untrusted text.
        """
        return None

    def succeeded(self, facts: Facts, exit_code: int | None) -> bool:
        """Return whether the turn ended properly and well: only then is the session green.

        ``exit_code`` is None if no process waited for the agent (its runner was killed).
        """
        return facts.end == "completed" and exit_code in (0, None)

    def measures(self, command: Command, prices: Mapping[str, Price], env: Mapping[str, str]) -> Measures:  # noqa: ARG002
        """Return when the tokens and the cost of a start will be known, so that the caller can judge its limits.

        ``prices`` are the user's own, ``env`` is the environment in which the agent will run.
        """
        return Measures(
            tokens=Measurable(When.NEVER, f"a {self.name} reports no tokens"),
            cost=Measurable(When.NEVER, f"a {self.name} reports no cost"),
        )

    def meter(self, launch: "Launch", env: Mapping[str, str], began: int) -> Meter | None:  # noqa: ARG002
        """Return a new meter that follows the use of a running turn; None if nothing needs it.

        ``env`` is the agent's environment, ``began`` the start of the turn (UTC ms).
        """
        return None

    def final_meter(
        self,
        launch: "Launch",  # noqa: ARG002
        env: Mapping[str, str | None],  # noqa: ARG002
        began: int,  # noqa: ARG002
    ) -> Meter | None:
        """Return a meter that is read once, when a turn without another meter has ended; None if there is none."""
        return None

    def own_calls(
        self,
        agent_session: str,  # noqa: ARG002
        env: Mapping[str, str | None],  # noqa: ARG002
        began: int,  # noqa: ARG002
    ) -> "Sequence[Report] | None":
        """Return the finished model calls of a turn from the agent's own files; None if they cannot be read.

        Used if a turn ended without the agent's sum of its use (:attr:`..rules.turn_facts.Facts.unsummed`).
        ``began`` is its start (UTC ms), ``env`` the agent's environment.
        """
        return None

    def total_before(
        self,
        launch: "Launch",  # noqa: ARG002
        env: Mapping[str, str | None],  # noqa: ARG002
        began: int,  # noqa: ARG002
    ) -> "Sequence[Report] | None":
        """Return the running totals of use that a process takes over from the conversation that it resumes or forks.

        From the agent's own files; None if they do not show it.  ``began`` is the start of the process (UTC ms).
        """
        return None

    def recorded_edits(
        self,
        agent_session: str,  # noqa: ARG002
        env: Mapping[str, str | None],  # noqa: ARG002
        at: int,  # noqa: ARG002
    ) -> "Transcript | None":
        """Return the agent's own transcript of a conversation, with the diffs of its edits; None if there is none.

        For an agent with ``keeps_transcripts``, whose stream has no diffs.  ``env`` is the recorded environment of the
        session, ``at`` the approximate start of the conversation (UTC ms).
        """
        return None

    def given_conversation(self, launch: Launch) -> str | None:  # noqa: ARG002
        """Return the id that agentdash itself gives to the conversation that a launch begins; None if it gives none."""
        return None

    def fork_point(
        self,
        lines: Iterable[bytes],  # noqa: ARG002
        through: int | None,  # noqa: ARG002
        *,
        transport: str,  # noqa: ARG002
        settings: AgentSettings,  # noqa: ARG002
    ) -> str | None:
        """Return the agent's own id of a place at which it can fork its conversation; None if it cannot fork there.

        Args:
            lines: the output of the turn.
            through: the index of the last step before the place, as :meth:`parser` counts (the prompt is -1); None for
                the end of the turn.
            transport: the transport of the process that printed the lines.
            settings: the agent's section with which the fork will be started.
        """
        return None

    def has_prompt(self, sent: "SentPrompt") -> bool | None:  # noqa: ARG002
        """Return whether the agent's own transcript has a prompt; None if it keeps none that can be read.

        Used if a turn broke off: only the agent's own record shows if the prompt became part of the conversation.
        """
        return None

    def transcript(
        self,
        agent_session: str,  # noqa: ARG002
        env: Mapping[str, str | None],  # noqa: ARG002
        at: int,  # noqa: ARG002
    ) -> "Path | None":
        """Return the file of the agent's own transcript of a conversation; None if it is not found.

        The arguments are those of :meth:`recorded_edits`.  :meth:`parser` reads it with the transport ``BY_HAND``.
        """
        return None

    def line_id(self, line: bytes) -> str | None:  # noqa: ARG002
        """Return the agent's own id of a line of its transcript, by which a line that is written again is known."""
        return None

    def shown_conversation(self, pid: int, env: Mapping[str, str | None]) -> str | None:  # noqa: ARG002
        """Return the conversation that the agent's own interface shows, which a process ``pid`` is; None if unknown."""
        return None

    def plan_windows(self, line: bytes) -> "tuple[PlanWindow, ...]":  # noqa: ARG002
        """Return the windows of the user's plan that a line reports; called only for lines with :attr:`plan_mark`."""
        return ()

    def plan_at_end(self, agent_session: str, env: "Mapping[str, str]", began: int) -> "tuple[PlanWindow, ...]":  # noqa: ARG002
        """Return the windows that only the agent's own record of an ended turn has.

        Args:
            agent_session: the conversation.
            env: the environment of the turn.
            began: the start of the turn, UTC ms.
        """
        return ()

    def refusals(self, stderr: str) -> "Iterable[str]":  # noqa: ARG002
        """Return the refused tools and programs that only stderr names."""
        return ()

    def failed_edits(self, stderr: str) -> int:  # noqa: ARG002
        """Return the number of edits that failed and that only stderr names."""
        return 0

    def stderr_reason(self, text: str) -> str | None:
        """Return the line of stderr with the reason of a failed turn; None if there is none."""
        lines = [line.strip() for line in text.splitlines() if line.strip()]
        return lines[-1] if lines else None


class TranscriptFormat(ABC):
    """The format of an agent CLI's own transcript files, with all turns of a conversation.

    It has a reader and starts nothing.  agentdash finds it by a file's content, or by its name.
    """

    name: ClassVar[str]

    @abstractmethod
    def recognizes(self, kind: str | None, event: Mapping[str, Any]) -> bool:
        """Return whether a JSON object is a line of such a file; see :meth:`Agent.recognizes`."""

    def begins_document(self, beginning: bytes) -> bool:  # noqa: ARG002
        """Return whether a file with this beginning is one JSON object of many lines in this format."""
        return False

    @abstractmethod
    def parser(self, turn: int = 1) -> TurnParser:
        """Return a new parser that begins with this turn."""
