"""Starts as values: :class:`Start` is a caller's request, :class:`Launch` the exact start made from it.

A launch holds everything that a runner needs; it is recorded with the turn.  It is made in one place, of the
:class:`Terms` in a :class:`TurnPlan`, which are known when a prompt is queued, and the agent's :class:`Command`.
"""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from msgspec import Meta, Struct, field, structs

from agentdash.sessions.model.compaction import Compaction
from agentdash.sessions.model.membership import Budget, Lifecycle
from agentdash.sessions.model.turn_mode import TurnMode
from agentdash.sessions.rules.asks.settings import AsksSettings
from agentdash.sessions.rules.attention import AttentionSettings
from agentdash.sessions.rules.costs.prices import Price, described
from agentdash.sessions.rules.limits.admission import FamilyLimits
from agentdash.sessions.rules.limits.limits import Limits
from agentdash.sessions.rules.notifications.settings import Hook

Seconds = Annotated[float, Meta(ge=0, le=600)]

Prices = Mapping[str, Price]
"""The user's own prices, by the names of models."""


class Ladder(Struct, frozen=True, kw_only=True):
    """The time each signal is given before the next one, in seconds."""

    interrupt: float = 3.0
    interrupt_every: float = 0.5
    """SIGINT is repeated: claude ignores one that arrives during part of its start."""
    terminate: float = 3.0
    sweep: float = 1.0


class StopSettings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """``[stop]`` or ``[agents.<name>.stop]``: the times of a stop, and the fate of processes that outlive a turn."""

    interrupt_seconds: Annotated[
        Seconds | None, described("Seconds between SIGINT and SIGTERM.", 3.0, "the agent's own: 3, claude 4")
    ] = None
    terminate_seconds: Annotated[
        Seconds | None, described("Seconds between SIGTERM and SIGKILL.", 3.0, "the agent's own: 3, claude 1.5")
    ] = None
    after_turn: Annotated[
        Literal["keep", "sweep"] | None,
        Meta(
            description="Leftover processes after a turn that ended by itself: keep them, or sweep (end) them.",
            extra={"default": "keep"},
        ),
    ] = None

    def over(self, ladder: Ladder) -> Ladder:
        """Return the agent's own ladder, with the user's times if set."""
        chosen = {"interrupt": self.interrupt_seconds, "terminate": self.terminate_seconds}
        return structs.replace(ladder, **{key: value for key, value in chosen.items() if value is not None})


class Start(Struct, frozen=True):
    """A caller's request for a start, from a dialog or a command line, before it becomes a launch.

    An empty text leaves the choice to agentdash.
    """

    prompt: str
    agent: str = ""
    """Empty for the default agent of the settings."""
    model: str | None = None
    cwd: str = ""
    """Empty for the current folder."""
    title: str = ""
    """Empty for the beginning of the prompt."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """Keys of the agent's own section, which win over the settings."""
    copies: int | None = None
    """Number of sessions to start; None for one, if the caller gave no number."""
    argv: tuple[str, ...] = ()
    """For the ``command`` agent: the command to run."""
    source: str = "user"
    session_id: str = ""
    """A new UUID: that of a plan that is to be carried out as it was shown.  If empty, agentdash makes one."""
    after: str = ""
    """The session whose end starts this one, which then gets its answer.  Empty to start at once."""
    lifecycle: Lifecycle = "detached"
    """Its fate when its lead is stopped."""
    key: str = ""
    """A name for the task: the same lead that asks for it again gets the same session.  Empty for none."""
    call: str = ""
    """Id of the lead's tool call that asks for it."""
    budget: Budget = Budget()
    """The tokens and the money that it and the sessions below it may use together."""
    led: bool = False
    """An agent starts it."""
    over_budget: bool = False
    """The user starts it although the budget of a day or a week is spent."""
    due_at: int | None = None
    """The time (UTC ms) before which it does not start; None to start at once."""
    images: tuple[str, ...] = ()
    """The paths of images to add to the prompt."""


class WarmSettings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """``[live]``: how long the processes of live agents wait for further prompts, and how many of them."""

    keep_seconds: Annotated[
        float,
        Meta(
            ge=0,
            le=86_400,
            description="Seconds that a live agent's process waits for the next prompt before it is closed.",
        ),
    ] = 600.0
    keep_most: Annotated[
        int, Meta(ge=0, description="Waiting processes on this host; beyond it, the one that waits longest is closed.")
    ] = 4


class Fork(Struct, frozen=True, kw_only=True):
    """The place behind which a copy of a conversation of the agent goes on."""

    at: str | None = None
    """The agent's own id of the last message (claude) or turn (codex) of the copy; None for the end."""
    session: str
    """The session whose steps lead to the place: that of the turn, or the one that it was forked from."""
    turn: int
    """The turn of that session in which the place is."""


Way = Literal["", "native", "retold", "new"]
"""The way in which a turn takes up its conversation.

``native``: the agent resumes or forks a conversation of its own.  ``retold``: a new conversation begins with a prompt
that contains what is visible.  ``new``: a new conversation begins.  Empty: the turn follows the turn before it.
"""


class Command(Struct, frozen=True, kw_only=True):
    """The process that an agent makes of the request for a turn, and the way to talk to it."""

    argv: tuple[str, ...]  # in a launch empty only if the record of the turn was lost
    stdin: str | None = None
    """Text fed to standard input from a file; None means ``/dev/null``."""
    env: Mapping[str, str] = field(default_factory=dict)
    """Variables set on top of the environment of the process that starts the turn."""
    model: str | None = None
    transport: str = ""
    """The protocol of a live agent, whose process serves several turns; empty for a process of one turn."""
    opening: tuple[str, ...] = ()
    """The lines of a live agent's handshake, in the order in which they are written."""
    plain_argv: tuple[str, ...] = ()
    """The argv of a process of one turn, used if the handshake of a live agent fails."""
    warnings: tuple[str, ...] = ()
    """A sentence for each setting that has another effect than its name says."""


class Terms(Struct, frozen=True, kw_only=True):
    """The settings of a turn, whatever its conversation is: they are known when its prompt is requested."""

    ladder: Ladder | None = None
    """The user's own times for a stop; None uses the agent's."""
    limits: Limits = Limits()
    family: FamilyLimits = FamilyLimits()
    """The limits of the sessions that agents start, as the settings have them."""
    led: bool = False
    """An agent started the session."""
    prices: Prices = field(default_factory=dict)
    """The user's own prices, from which a runner estimates the cost."""
    warnings: tuple[str, ...] = ()
    """A sentence for each limit that cannot act, or not before the turn ends; those of the command and the settings."""
    attention: AttentionSettings = AttentionSettings()
    """The thresholds from which its runner considers it stuck."""
    after_turn: Literal["keep", "sweep"] = "keep"
    """``sweep`` ends the processes that outlive the turn; ``keep`` leaves them."""
    hook: Hook = Hook()
    """The command that is run when its state changes."""
    mode: TurnMode | None = None
    """The settings with which it runs; None for a plain command, and in the records of older versions."""
    warm: WarmSettings = WarmSettings()
    asks: AsksSettings = AsksSettings()
    """The rules and the time limit for what a live agent asks."""
    compacts: Compaction | None = None
    """The turn compacts the conversation, and answers no prompt; None for an ordinary turn."""


class Launch(Terms, frozen=True, kw_only=True):
    """One exact start: shown by a dry run, recorded in the turn, executed without a shell."""

    # A struct cannot have two bases: these are the fields of Command, which describes them.
    argv: tuple[str, ...]
    stdin: str | None = None
    env: Mapping[str, str] = field(default_factory=dict)
    model: str | None = None
    transport: str = ""
    opening: tuple[str, ...] = ()
    plain_argv: tuple[str, ...] = ()
    model_before: str | None = None
    """The model that the session had when the turn began; it is counted if the agent names none, never requested."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    """The agent's section of the settings from which it was made, as plain values; empty in older records."""
    how: Way = ""
    """The way in which it takes up the conversation behind a mark; unless empty, it needs a process of its own."""
    conversation: str | None = None
    """The agent's conversation that it resumes or forks, if :attr:`how` is ``native``."""
    fork: Fork | None = None
    """The place behind which it forks that conversation; None if it resumes it."""


class TurnPlan(Struct, frozen=True, kw_only=True):
    """The settings of a turn as they were when its prompt was requested; never secrets.

    A runner makes the launch of a later turn from it when the turn before has ended: only then is the conversation to
    resume known, and runners do not read the settings.
    """

    settings: Mapping[str, Any]
    """The agent's section of the settings with the options of the session and of the prompt, as plain values."""
    model: str | None = None
    argv: tuple[str, ...] = ()
    """For the ``command`` agent: the command to run."""
    terms: Terms = field(name="frame")
    """Recorded as ``frame``: the plans of waiting prompts have this name."""
    on_failure: Literal["hold", "send"] = "hold"
    """``send`` sends the prompt even if the turn before failed, was lost, or was stopped by a limit."""

    def launch(
        self, command: Command, *, how: Way = "", conversation: str | None = None, fork: Fork | None = None
    ) -> Launch:
        """Return the start of the turn, with the command that its agent made of it."""
        parts = structs.asdict(command) | structs.asdict(self.terms)  # the warnings of the terms have the command's
        return Launch(**parts, settings=self.settings, how=how, conversation=conversation, fork=fork)

    def on(self, **terms: Any) -> "TurnPlan":
        """Return the plan with other terms."""
        return structs.replace(self, terms=structs.replace(self.terms, **terms))


def with_mode(plan: TurnPlan, options: Mapping[str, Any], mode: str, *, dangerous: bool) -> TurnPlan:
    """Return a plan with another mode.

    Args:
        plan: the plan.
        options: the keys of the agent's section that stand for the mode.
        mode: what the turn may do on its own.
        dangerous: nothing limits the agent in this mode.
    """
    former = plan.terms.mode
    changed = structs.replace(former, permissions=mode, dangerous=dangerous) if former is not None else None
    return structs.replace(plan.on(mode=changed), settings={**plan.settings, **options})


def with_model(plan: TurnPlan, model: str) -> TurnPlan:
    """Return a plan with another model."""
    former = plan.terms.mode
    changed = structs.replace(former, model=model) if former is not None else None
    return structs.replace(plan.on(mode=changed), model=model)


def model_at_start(launch: Launch | None) -> str | None:
    """Return the model with which a recorded turn began; None if it is not known."""
    return launch.model_before or launch.model if launch is not None else None


def requested_model(options: Mapping[str, Any], mode: TurnMode | None) -> str | None:
    """Return the model that a session was asked to use; None if it was asked for none.

    The model that an agent names is not requested again, because whatever writes into its output can name one.  A
    resumed conversation needs none: claude (2.1.197, 2.1.332) and codex app-server (0.169.0, 0.171.0) know its model,
    and ``codex exec`` takes that of its own settings.  claude 2.1.197 resumes its default with a smaller context, if
    that is one with ``[1m]``.

    Args:
        options: the options of the session.
        mode: the settings with which its newest turn ran.
    """
    model = options.get("model")
    if isinstance(model, str) and model:
        return model
    return mode.model if mode is not None else None


def following(launch: Launch) -> Launch:
    """Return the start of a turn that follows another one in the same process, and answers a prompt."""
    return structs.replace(launch, how="", conversation=None, fork=None, compacts=None, model_before=None)


def plan_like(launch: Launch) -> TurnPlan:
    """Return the plan of a turn with the settings of a launch, for a prompt that the runner itself adds."""
    terms = {name: getattr(launch, name) for name in Terms.__struct_fields__} | {"compacts": None}
    return TurnPlan(settings=launch.settings, model=launch.model, terms=Terms(**terms))
