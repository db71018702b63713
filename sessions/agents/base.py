"""What an agent module supplies: how to launch it, how to read it, what its end and its signals mean.

An adapter is one instance of a subclass of :class:`Agent`.  It does no I/O of its own: it turns a request into an
argv, and lines into steps.  What concerns processes and files is done once, elsewhere, for all agents.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, get_args, get_type_hints

import msgspec
from msgspec import Meta, Struct, field, structs

from ..costs.prices import Price
from ..model import Step, StepKind, StepStatus, Usage
from ..notifications.settings import Hook
from ..rules.attention import AttentionSettings
from ..rules.limits import Limits
from ..rules.truncate import trimmed
from .metering import Measurable, Measures, Meter, When

if TYPE_CHECKING:
    from ..changes.recorded import Transcript

Seconds = Annotated[float, Meta(ge=0, le=600)]


class Ladder(Struct, frozen=True, kw_only=True):
    """How long each signal is given before the next one, in seconds."""

    interrupt: float = 3.0
    interrupt_every: float = 0.5
    """SIGINT is repeated: claude swallows one in a window during its start."""
    terminate: float = 3.0
    sweep: float = 1.0


class StopSettings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """``[stop]`` or ``[agents.<name>.stop]``: how a session is ended, and what becomes of what it leaves."""

    interrupt_seconds: Annotated[
        Seconds | None,
        Meta(
            description="How long SIGINT is given before SIGTERM, in seconds.",
            examples=[3.0],
            extra={"default": "the agent's own: 3, claude 4"},
        ),
    ] = None
    terminate_seconds: Annotated[
        Seconds | None,
        Meta(
            description="How long SIGTERM is given before SIGKILL, in seconds.",
            examples=[3.0],
            extra={"default": "the agent's own: 3, claude 1.5"},
        ),
    ] = None
    after_turn: Annotated[
        Literal["keep", "sweep"] | None,
        Meta(
            description="What happens to processes that outlive a turn that ended by itself: kept, or swept away.",
            extra={"default": "keep"},
        ),
    ] = None

    def over(self, ladder: Ladder) -> Ladder:
        """The agent's own ladder, with the user's times where there are any."""
        chosen = {"interrupt": self.interrupt_seconds, "terminate": self.terminate_seconds}
        return structs.replace(ladder, **{key: value for key, value in chosen.items() if value is not None})


class AgentSettings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What ``[agents.<name>]`` in the configuration may hold; each adapter adds its own keys."""

    bin: Annotated[
        str | None,
        Meta(
            description="The command to run instead of the agent's usual name: a name in PATH or an absolute path.",
            extra={"default": "the agent's own"},
        ),
    ] = None
    model: Annotated[
        str | None, Meta(description="The model that is asked for.", extra={"default": "the agent's own"})
    ] = None
    args: Annotated[tuple[str, ...], Meta(description="Extra arguments, passed on as they are.")] = ()
    stop: StopSettings = StopSettings()
    limits: Limits = Limits()


class LaunchRequest(Struct, frozen=True, kw_only=True):
    """Everything that decides how one turn is started."""

    prompt: str
    cwd: str
    session_id: str
    turn: int = 1
    agent_session: str | None = None
    """The conversation to resume; None for the first turn."""
    model: str | None = None
    """The model asked for; it wins over ``settings.model``."""
    settings: AgentSettings = field(default_factory=AgentSettings)
    """The agent's section of the configuration, overridden by the options of the spawn."""
    argv: tuple[str, ...] = ()
    """For the ``command`` agent: what to run."""


class Launch(Struct, frozen=True, kw_only=True):
    """One exact start: shown by a dry run, recorded in the turn, executed without a shell."""

    argv: tuple[str, ...]
    stdin: str | None = None
    """Text fed to standard input from a file; None means ``/dev/null``."""
    env: Mapping[str, str] = field(default_factory=dict)
    """Variables set on top of the environment of whoever starts the turn."""
    ladder: Ladder | None = None
    """The user's own times for a stop; None leaves them to the agent's."""
    limits: Limits = Limits()
    prices: Mapping[str, Price] = field(default_factory=dict)
    """The user's own prices, where a limit on the cost needs them."""
    warnings: tuple[str, ...] = ()
    """Which of the limits cannot act, or not before the turn ends; each a sentence."""
    attention: AttentionSettings = AttentionSettings()
    """From when on its runner calls it stuck."""
    after_turn: Literal["keep", "sweep"] = "keep"
    """Whether processes that outlive the turn are ended."""
    hook: Hook = Hook()
    """The command that is run when its state changes."""
    model: str | None = None


class Facts(Struct, kw_only=True):
    """What a parser has concluded from one turn so far."""

    agent_session: str | None = None
    model: str | None = None
    end: str | None = None
    """``completed`` or ``failed`` once the adapter saw the proper end."""
    error: str | None = None
    """The reason of a failure, or the last error, fatal or not."""
    notice: str | None = None
    """What the agent says it is doing about a trouble (``Reconnecting... 1/2``); cleared by the next step."""
    last_message: str | None = None
    usage: Usage = field(default_factory=Usage)
    """This turn's tokens where the agent counts per turn or process."""
    thread_usage: Usage = field(default_factory=Usage)
    """The thread's tokens where the agent counts cumulatively (codex)."""
    cost_usd: float | None = None
    cost_about_usd: float | None = None
    """About what the turn cost beyond ``cost_usd``, from its tokens at known prices; only if its cost is limited."""
    denied: int = 0
    """How often it was refused a permission, or stopped by its sandbox."""
    denied_names: list[str] = field(default_factory=list)
    """What it tried then, each once: tools and programs; the first ones."""
    waiting: str | None = None
    """The question the agent waits for; None while it works."""
    lines: int = 0
    unknown: int = 0
    unknown_kinds: dict[str, int] = field(default_factory=dict)
    unreadable: dict[str, int] = field(default_factory=dict)
    """Fields of events that could not be read, and how often: ``turn.completed: usage.input_tokens``."""
    stray: list[str] = field(default_factory=list)
    """Lines on stdout that are no events, cleaned and shortened: the first and the last ones."""

    def deny(self, what: str) -> None:
        """Count something that it was not allowed to do."""
        self.denied += 1
        name = what[:_NAME_CHARACTERS]
        if name not in self.denied_names and len(self.denied_names) < _MOST_NAMES:
            self.denied_names.append(name)


_NAME_CHARACTERS = 60
_MOST_NAMES = 10


MOST_OPEN = 10_000
"""Steps that may be open at once: no agent has so many, and a stream of beginnings must not eat the memory."""


class ParserState(Struct, kw_only=True):
    """All that a parser has to remember of earlier lines to make the same steps of the next one.

    Its facts are not part of it: they sum a turn up, and no step depends on them.
    """

    next: int = 0
    """The index of the next new step."""
    open: dict[str, Step] = field(default_factory=dict)
    """Steps that have begun, by the agent's own id."""


class TurnParser(ABC):
    """Turns the lines of one turn into steps, and keeps the facts.

    State is bounded: only steps that are still open are remembered.  It can be written down and taken up again, so
    that a reader can begin in the middle of a file.
    """

    state: ParserState
    state_type: ClassVar[type[ParserState]] = ParserState

    def __init__(self, turn: int = 1) -> None:
        self.turn = turn
        self.facts = Facts()
        self.state = self.state_type()

    def checkpoint(self) -> bytes | None:
        """The state as bytes, without the middle of very long texts; None where it cannot be written down."""
        opened = {key: trimmed(step) for key, step in self.state.open.items()}
        try:
            return msgspec.msgpack.encode(structs.replace(self.state, open=opened))
        except (UnicodeEncodeError, OverflowError, RecursionError):
            return None

    def resume(self, checkpoint: bytes) -> None:
        """Go on from a state that a parser of the same kind wrote down."""
        self.state = msgspec.msgpack.decode(checkpoint, type=self.state_type)

    def feed(self, line: bytes, at: int | None = None) -> list[Step]:
        """Account for one line without its newline; never raises on what an agent prints.

        Returns new steps, and steps that replace an earlier one of the same index.  A blank line gives none.
        """
        if not line.strip():
            return []
        self.facts.lines += 1
        return self.parse(line, at)

    @abstractmethod
    def parse(self, line: bytes, at: int | None) -> list[Step]:
        """One non-blank line to steps."""

    def close(self, at: int | None = None) -> list[Step]:
        """The process is gone: what is still open was interrupted."""
        still_open = self.state.open.values()
        steps = [structs.replace(s, status=StepStatus.INTERRUPTED, ended_at=at) for s in still_open]
        self.state.open.clear()
        return steps

    def too_long(self, beginning: bytes, size: int, at: int | None = None) -> list[Step]:
        """Account for a line of so many bytes that nobody should read it; its beginning is shown."""
        self.facts.lines += 1
        return [self._unknown(beginning, at, f"a line of {size:,} bytes")]

    def _new(self, kind: StepKind, text: str = "", *, at: int | None = None, **own: Any) -> Step:
        step = Step(turn=self.turn, index=self.state.next, kind=kind, text=text, at=at, **own)
        self.state.next += 1
        return step

    def _remember(self, key: str, step: Step) -> None:
        """Keep an open step until its end comes; the oldest one goes when there are too many."""
        self.state.open[key] = step
        if len(self.state.open) > MOST_OPEN:
            del self.state.open[next(iter(self.state.open))]

    def _unknown(self, line: bytes, at: int | None, event: str) -> Step:
        """Keep what no rule knows: raw, counted, shown."""
        self.facts.unknown += 1
        kinds = self.facts.unknown_kinds
        if event in kinds or len(kinds) < 100:
            kinds[event] = kinds.get(event, 0) + 1
        return self._new(StepKind.UNKNOWN, line.decode("utf-8", "replace"), at=at, event=event)


class Agent(ABC):
    """One agent CLI."""

    name: ClassVar[str]
    title: ClassVar[str]
    """The product's name for people: ``Claude Code``."""
    binary: ClassVar[str | None] = None
    """Name looked up in PATH unless the configuration names another; None where there is none."""
    install_hint: ClassVar[str] = ""
    prompted: ClassVar[bool] = True
    """Whether it takes a prompt at all; a plain command does not."""
    demo_only: ClassVar[bool] = False
    """Whether it plays a script, and starts nowhere but in the state folder of `agentdash demo`."""
    resumable: ClassVar[bool] = True
    """Whether a later turn can go on in the same conversation."""
    settings_type: ClassVar[type[AgentSettings]] = AgentSettings
    mode_key: ClassVar[str | None] = None
    """The setting that says what the agent may do by itself: its sandbox or its permission mode."""
    keeps_transcripts: ClassVar[bool] = False
    """The agent writes transcripts of its own: :meth:`recorded_edits` can find one."""
    dangerous: ClassVar[frozenset[str]] = frozenset()
    """The modes in which nothing holds it back."""
    unlimited: ClassVar[str | None] = None
    """The setting ``full_danger`` in the words of a mode; None for an agent that has no such setting."""
    env_keys: ClassVar[tuple[str, ...]] = ("PATH",)
    """Environment variables recorded with the session, needed by later turns; never secrets."""
    ladder: ClassVar[Ladder] = Ladder()

    @abstractmethod
    def launch(self, request: LaunchRequest) -> Launch:
        """The one builder of argv, for first and later turns.

        Raises:
            UsageError: a setting or an option the agent cannot take.
        """

    @abstractmethod
    def parser(self, turn: int = 1) -> TurnParser:
        """A fresh parser for one turn."""

    def modes(self) -> tuple[str, ...]:
        """The values that ``mode_key`` takes."""
        if self.mode_key is None:
            return ()
        hints = get_type_hints(self.settings_type)
        return tuple(str(value) for value in get_args(hints[self.mode_key]))

    def succeeded(self, facts: Facts, exit_code: int | None) -> bool:
        """Whether this is the proper end of a good turn: the only way to green.

        ``exit_code`` is None where nobody could wait for the process (its runner was killed).
        """
        return facts.end == "completed" and exit_code in (0, None)

    def measures(self, launch: "Launch", env: Mapping[str, str]) -> Measures:  # noqa: ARG002
        """When the tokens and the cost of such a start are known: before the start, so that limits can be judged.

        ``env`` is the environment in which the agent will run.
        """
        return Measures(
            tokens=Measurable(When.NEVER, f"a {self.name} reports no tokens"),
            cost=Measurable(When.NEVER, f"a {self.name} reports no cost"),
        )

    def meter(self, launch: "Launch", env: Mapping[str, str], began: int) -> Meter | None:  # noqa: ARG002
        """A new meter that follows the use of a turn while it runs; None if there is nothing to follow.

        ``env`` is the environment of the agent, ``began`` is when the turn was started (UTC ms).
        """
        return None

    def recorded_edits(
        self,
        agent_session: str,  # noqa: ARG002
        env: Mapping[str, str | None],  # noqa: ARG002
        at: int,  # noqa: ARG002
    ) -> "Transcript | None":
        """The agent's own transcript of a conversation, which holds its edits with diffs.

        For an agent with ``keeps_transcripts``, whose stream has no diffs.  ``env`` is what was recorded with the
        session, ``at`` about when the conversation began (UTC ms).  None where there is no transcript.
        """
        return None

    def refusals(self, stderr: str) -> "Iterable[str]":  # noqa: ARG002
        """What the agent was not allowed to do and only stderr tells: tools and programs."""
        return ()

    def stderr_reason(self, text: str) -> str | None:
        """The line of stderr that tells why a turn failed; None where there is none."""
        lines = [line.strip() for line in text.splitlines() if line.strip()]
        return lines[-1] if lines else None
