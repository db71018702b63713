"""The contract of an agent module: how to launch the agent, how to read it, what its end and its signals mean.

An adapter is one instance of a subclass of :class:`Agent`.  It does no I/O of its own: it turns a request into an
argv, and lines into steps.  Processes and files are handled once, elsewhere, for all agents.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from functools import cache
from types import NoneType
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, get_args, get_type_hints

from msgspec import Meta, Struct, field

from agentdash.sessions.agents import capabilities
from agentdash.sessions.agents.capabilities import Env
from agentdash.sessions.agents.parsing.parser import TurnParser
from agentdash.sessions.agents.parsing.usage_meter import Measurable, Measures, When
from agentdash.sessions.model.turn_mode import TurnMode
from agentdash.sessions.rules.launch import Command, Fork, Ladder, Launch, Prices, StopSettings
from agentdash.sessions.rules.limits.limits import Limits
from agentdash.sessions.rules.turn_facts import Facts

if TYPE_CHECKING:
    from pathlib import Path

    from agentdash.sessions.agents.dialogue import Dialogue
    from agentdash.sessions.rules.costs.reports import Report


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


class OfferedSetting(Struct, frozen=True, kw_only=True):
    """A setting that front ends offer by its own name: a text, or a switch: on, off or the agent's own choice."""

    key: str
    """Its key in the agent's section."""
    help: str
    switch: bool


@cache
def _offered(kind: type[AgentSettings]) -> tuple[OfferedSetting, ...]:
    """Return the settings that are marked with ``extra={"offered": True}``."""
    found = []
    for key, hint in get_type_hints(kind, include_extras=True).items():
        for meta in getattr(hint, "__metadata__", ()):
            if isinstance(meta, Meta) and (meta.extra or {}).get("offered"):
                value = hint.__origin__
                arms = [arm for arm in (get_args(value) or (value,)) if arm is not NoneType]
                found.append(OfferedSetting(key=key, help=meta.description or "", switch=arms == [bool]))
    return tuple(found)


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
    """One agent CLI: what each has, and the groups of what it can do beside, each None if it cannot."""

    name: ClassVar[str]
    title: ClassVar[str]
    """The product's display name: ``Claude Code``."""
    binary: ClassVar[str | None] = None
    """The command searched in PATH unless the configuration names another; None if the agent has no command."""
    install_hint: ClassVar[str] = ""
    tested_versions: ClassVar[tuple[str, ...]] = ()
    """The versions whose events the adapter was tested with, oldest first; empty for an agent without versions."""
    parsers: ClassVar[Mapping[str, Callable[[int], TurnParser]]]
    """By :attr:`..rules.launch.Launch.transport`: makes the parser of a turn; the empty one is for all others too."""
    event_types: ClassVar[Set[str]] = frozenset()
    """The types of the events of its stream, by which the format of a file is known."""
    event_keys: ClassVar[Set[str]] = frozenset()
    """The fields that each of these events has."""
    prompted: ClassVar[bool] = True
    """True if the agent takes prompts; a plain command does not, and uses no model."""
    settings_type: ClassVar[type[AgentSettings]] = AgentSettings
    takes_instructions: ClassVar[bool] = False
    """True if :meth:`command` passes on the setting ``instructions``; else a start with instructions is refused."""
    polling_tools: ClassVar[Set[str]] = frozenset({"wait"})
    """Tools that poll for progress: repeated calls with the same arguments are not a loop."""
    expands: ClassVar[capabilities.Expansions] = capabilities.Expansions()
    """The parts of a prompt that it replaces: foreign text is made inert with it."""
    noise: ClassVar[tuple[str, ...]] = ()
    """The beginnings of lines of stderr that give no reason of a failure."""
    error_words: ClassVar[tuple[str, ...]] = ()
    """The beginnings of those that give one."""
    env_keys: ClassVar[tuple[str, ...]] = ("PATH",)
    """Environment variables recorded with the session, because later turns need them; never secrets."""
    ladder: ClassVar[Ladder] = Ladder()

    modes: ClassVar[capabilities.Modes | None] = None
    conversations: ClassVar[capabilities.Conversations | None] = capabilities.Conversations()
    """None if no later turn can go on in the same conversation."""
    forks: ClassVar[capabilities.Forks | None] = None
    interface: ClassVar[capabilities.Interface | None] = None
    live: ClassVar[capabilities.Live | None] = None
    images: ClassVar[capabilities.Images | None] = None
    use: ClassVar[capabilities.Use | None] = None
    plan: ClassVar[capabilities.Plan | None] = None
    own_files: ClassVar[capabilities.OwnFiles | None] = None
    complaints: ClassVar[capabilities.Complaints | None] = None
    leading: ClassVar[capabilities.Leading | None] = None

    @abstractmethod
    def command(self, request: LaunchRequest) -> Command:
        """Build the argv of any turn, first or later; no other method does.

        Raises:
            UsageError: the agent cannot take a setting or an option.
        """

    def parser(self, turn: int = 1, transport: str = "") -> TurnParser:
        """Return a new parser for one turn of a process with this :attr:`..rules.launch.Launch.transport`."""
        return self.parsers.get(transport, self.parsers[""])(turn)

    def recognizes(self, kind: str | None, event: Mapping[str, Any]) -> bool:
        """Return whether a JSON object is an event of the agent's stream, so that a file's format need not be named.

        Args:
            kind: the object's ``type``; None if it is missing or not text.
        """
        return kind in self.event_types and self.event_keys <= event.keys()

    def dialogue(self, transport: str, opening: Sequence[str] = ()) -> "Dialogue | None":
        """Return a new dialogue with a live process by its protocol; None if the agent does not speak it.

        ``opening`` has the lines of the handshake, which output that is only read does not need.
        """
        live = self.live
        return live.dialogue(opening) if live is not None and transport == live.transport else None

    def measures(self, command: Command, prices: Prices, env: Mapping[str, str]) -> Measures:
        """Return when the tokens and the cost of a start will be known (:attr:`.capabilities.Use.measures`)."""
        if self.use is not None:
            return self.use.measures(command, prices, env)
        return Measures(
            tokens=Measurable(When.NEVER, f"a {self.name} reports no tokens"),
            cost=Measurable(When.NEVER, f"a {self.name} reports no cost"),
        )

    def count_broken_off(self, facts: Facts, env: Env, began: int) -> None:
        """Add the calls of a turn that has ended to its reports, if the agent reported no sum of them.

        Args:
            began: the start of the turn, UTC ms.
        """
        if facts.unsummed and facts.reported is not None:
            calls = self.use.calls if self.use is not None else None
            facts.reported.break_off(calls(facts.agent_session or "", env, began) if calls is not None else None)

    def total_before(self, launch: Launch, env: Env, began: int) -> "Sequence[Report] | None":
        """Return what a process takes over from the conversation (:attr:`.capabilities.Use.total_before`), if known."""
        known = self.use.total_before if self.use is not None else None
        return known(launch, env, began) if known is not None else None

    def transcript(self, conversation: str, env: Env, at: int) -> "Path | None":
        """Return the agent's own transcript of a conversation (:attr:`.capabilities.OwnFiles.transcript`), if known."""
        find = self.own_files.transcript if self.own_files is not None else None
        return find(conversation, env, at) if find is not None else None

    def begins_conversation(self, prompt: str) -> bool:
        """Return whether the agent answers a prompt by beginning another conversation, whose id it then prints."""
        return self.conversations is not None and not self.conversations.clears.isdisjoint(prompt.split(maxsplit=1)[:1])

    def offered_settings(self) -> tuple[OfferedSetting, ...]:
        """Return the settings that front ends offer by their own names, as far as the agent takes them."""
        every = _offered(self.settings_type)
        return tuple(one for one in every if self.takes_instructions or one.key != "instructions")

    def writable_folders(self, settings: AgentSettings) -> tuple[str, ...]:
        """Return the folders that the settings let a limited agent write beside its own; relative ones are in it."""
        return tuple(added_folders(settings.args))

    def is_dangerous(self, mode: str | None) -> bool:
        """Return whether a mode does not limit the agent."""
        return self.modes is not None and mode in self.modes.dangerous

    def turn_mode(self, settings: AgentSettings, model: str | None) -> TurnMode:
        """Return the record of the settings with which a turn runs; ``model`` is the requested one."""
        modes = self.modes
        key = modes.key if modes is not None else None
        unlimited = modes.unlimited if modes is not None and getattr(settings, "full_danger", False) else None
        permissions, usual = (getattr(of, key) if key else None for of in (settings, self.settings_type()))
        return TurnMode(
            setting=key,
            permissions=unlimited or permissions,
            default=usual,
            dangerous=unlimited is not None or self.is_dangerous(permissions),
            model=model,
            search=getattr(settings, "search", None),
            args=settings.args,
            allowed_tools=getattr(settings, "allowed_tools", ()),
            instructions=settings.instructions,
        )

    def succeeded(self, facts: Facts, exit_code: int | None) -> bool:
        """Return whether the turn ended properly and well: only then is the session green.

        ``exit_code`` is None if no process waited for the agent (its runner was killed).
        """
        return facts.end == "completed" and exit_code in (0, None)

    def stderr_reason(self, text: str) -> str | None:
        """Return the first line of stderr with the reason of a failed turn, else the last that is not noise, if any."""
        lines = [line for line in map(str.strip, text.splitlines()) if line and not line.startswith(self.noise)]
        errors = [line for line in lines if line.startswith(self.error_words)]
        return next(iter(errors or lines[-1:]), None)


class TranscriptFormat(ABC):
    """The format of an agent CLI's own transcript files, with all turns of a conversation.

    It has a reader and starts nothing.  agentdash finds it by a file's content, or by its name.
    """

    name: ClassVar[str]
    document_names: ClassVar[Set[bytes]] = frozenset()
    """Names at the beginning of a file that is one JSON object of many lines; empty if the format has no such file."""

    @abstractmethod
    def recognizes(self, kind: str | None, event: Mapping[str, Any]) -> bool:
        """Return whether a JSON object is a line of such a file; see :meth:`Agent.recognizes`."""

    def begins_document(self, beginning: bytes) -> bool:
        """Return whether a file with this beginning is one JSON object of many lines in this format."""
        first, _, rest = beginning.lstrip().partition(b"\n")
        names = self.document_names
        return bool(names) and first.strip() == b"{" and all(b'"%b"' % name in rest for name in names)

    @abstractmethod
    def parser(self, turn: int = 1) -> TurnParser:
        """Return a new parser that begins with this turn."""
