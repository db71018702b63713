"""An ask as the store records it."""

import re
from collections.abc import Iterable
from enum import StrEnum

from msgspec import Struct

from agentdash.sessions.rules.asks.model import Answer, Ask, AskKind, Verdict

_MOST_SCOPE = 4000
"""Characters of the scope of an ``always`` that are read."""

RULE = "rule: "
"""The beginning of the author of an answer that a rule gave."""


class AskState(StrEnum):
    """The state of an ask on its way to the agent and back."""

    OPEN = "open"
    """It waits for an answer."""
    ANSWERED = "answered"
    """It has an answer, which the runner has not written yet."""
    SENT = "sent"
    """The answer was written to the agent."""
    SETTLED = "settled"
    """The agent has the answer."""
    WITHDRAWN = "withdrawn"
    """The agent no longer waits for one: the turn was interrupted."""
    EXPIRED = "expired"
    """No answer came in time, and the settings decided."""
    LOST = "lost"
    """The agent ended first."""


class RecordedAsk(Struct, frozen=True, kw_only=True):
    """One ask with its place and its fate."""

    id: int
    session: str
    turn: int
    stream: int
    """The number of the process's files, by which the asks of one process are told apart."""
    ask: Ask
    state: AskState
    asked_at: int
    """UTC ms."""
    due_at: int | None = None
    """Time at which the settings decide, UTC ms; None if it waits for ever."""
    overdue: Verdict | None = None
    """The decision of the settings at that time; None if it waits for ever, or if the settings are not recorded."""
    answer: Answer | None = None
    """The decision; without the values of secret questions."""
    answered_by: str | None = None
    """``you``, ``rule: …``, ``the time limit``, or the session that answered it."""
    answered_at: int | None = None
    settled_at: int | None = None

    def gives(self, mode: str) -> bool:
        """Return whether its answer may have brought the agent into a permission mode.

        An approved plan did, because the agent itself chooses the mode in which it carries it out.
        """
        verdict = self.answer.verdict if self.answer is not None else None
        if self.ask.kind is AskKind.PLAN:
            return verdict in (Verdict.ALLOW, Verdict.ALWAYS)
        named = re.findall(r"permission mode (\w+)", self.ask.always[:_MOST_SCOPE])
        return verdict is Verdict.ALWAYS and mode in named

    @property
    def refused_by_settings(self) -> bool:
        """True if a rule or the time limit denied it; what a person denied needs no person's attention."""
        by_settings = self.state is AskState.EXPIRED or (self.answered_by or "").startswith(RULE)
        return by_settings and self.answer is not None and self.answer.verdict in (Verdict.DENY, Verdict.STOP)


def waited_ms(asks: Iterable[RecordedAsk], now: int) -> int:
    """Return how long an agent has waited for at least one of its asks; ``now`` is UTC ms."""
    waited, upto = 0, 0
    for begin, end in sorted((ask.asked_at, now if ask.settled_at is None else ask.settled_at) for ask in asks):
        waited += max(0, end - max(begin, upto))
        upto = max(upto, end)
    return waited
