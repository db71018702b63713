"""The tie between a session and the agent that leads it: lifecycle, budget and task."""

from enum import StrEnum
from typing import Annotated, Literal

from msgspec import Meta, Struct

from agentdash.sessions.model.statuses import Status

Lifecycle = Literal["linked", "detached", "ephemeral"]
"""The fate of a session when its lead is stopped.

``linked``: it is stopped too.  ``detached``: it goes on.  ``ephemeral``: it is stopped too, and it is archived once it
is done and its lead has read its end.
"""


class Led(StrEnum):
    """The state of the lead of a session that ends with it."""

    AT_WORK = "at work"
    WAKES = "wakes"
    """Its turn is done, and the ends of its workers wake it."""
    OVER = "over"
    """It will read no further ends: it failed, was stopped or lost, is archived, or was woken as often as it may be."""

    def comes_first(self, status: Status, *, escalated: bool, is_read: bool) -> bool:
        """Return whether what a worker with this status needs is for the lead, and not for the user.

        Args:
            status: the worker's.
            escalated: the lead did not answer in time.
            is_read: the lead has read the end of the worker's turn, or a prompt reported it: it wakes the lead no more.
        """
        if self is Led.OVER:
            return False
        if status is Status.DONE:
            return True
        return not escalated if self is Led.AT_WORK else status.ended and not is_read


class Budget(Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """The tokens and the money that a session and all sessions below it may use together; None means unlimited."""

    tokens: Annotated[
        Annotated[int, Meta(gt=0)] | None,
        Meta(description="Tokens of a lead and all its workers.", examples=[2_000_000], extra={"default": "none"}),
    ] = None
    cost_usd: Annotated[
        Annotated[float, Meta(gt=0)] | None,
        Meta(description="US dollars of a lead and all its workers.", examples=[5.0], extra={"default": "none"}),
    ] = None


class Membership(Struct, frozen=True, kw_only=True):
    """The place of a new session in a family, as it is recorded with it."""

    parent: str | None = None
    """Id of the session from inside which it is requested; None outside any session."""
    lead: str | None = None
    """The outside lead that requests it: ``claude:ID``, ``codex:ID`` or ``mcp:ID``."""
    depth: int = 0
    """Number of sessions above it."""
    lifecycle: Lifecycle = "detached"
    key: str | None = None
    """The name that its lead gave to the task; unique for the lead."""
    call: str | None = None
    """Id of the lead's tool call that requests it."""
    budget: Budget | None = None
