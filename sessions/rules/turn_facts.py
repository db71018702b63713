"""The facts that the lines of one turn give, from which its status follows."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from msgspec import Struct, field

from agentdash.sessions.model.session import Usage

if TYPE_CHECKING:
    from agentdash.sessions.rules.costs.reports import Report, Reported


Counted = Literal["process", "conversation"]
"""The extent of a running total: one process of the agent, or the conversation with all processes that resumed it."""


class Compacted(Struct, frozen=True):
    """The agent compacted its conversation, by its own account."""

    step: int | None = None
    """Index of the step with the summary, as the parser counts; None if the agent does not show its summary."""
    tokens_before: int | None = None
    tokens_after: int | None = None
    """The tokens of the context before and after it, if the agent reports them."""
    requested: bool = False
    """The user asked for it, by the agent's own account."""


class Facts(Struct, kw_only=True):
    """The facts that a parser has concluded from one turn so far."""

    agent_session: str | None = None
    strange: str | None = None
    """Why the conversation that the output names is not taken; None if it is that of the turn."""
    model: str | None = None
    turn_model: str | None = None
    """The model of this turn's calls, if the agent takes a changed ``model`` only from its next turn on."""
    end: str | None = None
    """``completed`` or ``failed`` once the adapter saw the proper end."""
    error: str | None = None
    """The reason of a failure, or the last error, fatal or not."""
    notice: str | None = None
    """The agent's message about a problem that it handles (``Reconnecting... 1/2``); cleared by the next step."""
    last_message: str | None = None
    message_step: int | None = None
    """Index of the step of the main agent's newest message, as the parser counts."""
    compacted: Compacted | None = None
    """The newest compaction of the turn; None if there was none."""
    local: bool = False
    """The prompt was a command of the agent itself: no model was asked."""
    cleared: bool = False
    """The agent began a new conversation in the turn, by its own account."""
    usage: Usage = field(default_factory=Usage)
    """This turn's tokens, if the agent counts per turn or process."""
    thread_usage: Usage = field(default_factory=Usage)
    """The thread's tokens, if the agent counts cumulatively (codex)."""
    thread_before: Usage = field(default_factory=Usage)
    """The thread's tokens at the beginning of the turn; unknown if the agent's own data does not show them."""
    reported: "Reported | None" = None
    """Takes every report of use and every compaction; None if the reader keeps none."""
    unsummed: bool = False
    """True if the model was called after the agent's last sum of its use: only the agent's own files have the use."""
    total_counts: Counted | None = None
    """The extent of the agent's running totals; None if it is not known of the agent's version."""
    total_before: "Sequence[Report] | None" = None
    """The running totals with which the turn's process began, by the agent's own files; None if they are not known."""
    cost_usd: float | None = None
    running_cost_usd: float | None = None
    """The newest running total of a live agent that reports one: it may include the cost of earlier turns.

    ``cost_usd`` is this turn's own share; None if the turn's lines alone do not show it.
    """
    cost_about_usd: float | None = None
    """The estimated cost beyond ``cost_usd``, from tokens at known prices, if something estimates it."""
    context_tokens: int | None = None
    """The tokens of the newest request to the model, and of its answer as far as it is reported."""
    context_before: int | None = None
    """The tokens of the context with which the turn began, if it is to compact them."""
    context_window: int | None = None
    """The greatest number of tokens that the model takes."""
    denied: int = 0
    """The number of refused permissions and of actions that the sandbox stopped.

    A parser does not count what was denied in answer to an ask: only the runner knows who answered.
    """
    denied_names: list[str] = field(default_factory=list)
    """The first refused tools and programs, each once."""
    waiting: str | None = None
    """The question the agent waits for; None while it works."""
    lines: int = 0
    unknown: int = 0
    unknown_kinds: dict[str, int] = field(default_factory=dict)
    unreadable: dict[str, int] = field(default_factory=dict)
    """Fields of events that could not be read, each with its count: ``turn.completed: usage.input_tokens``."""
    stray: list[str] = field(default_factory=list)
    """Lines on stdout that are not events, cleaned and shortened: the first and the last ones."""

    def deny(self, what: str) -> None:
        """Count a refused tool or program."""
        self.denied += 1
        name = what[:_NAME_CHARACTERS]
        if name not in self.denied_names and len(self.denied_names) < _MOST_NAMES:
            self.denied_names.append(name)


_NAME_CHARACTERS = 60
_MOST_NAMES = 10
