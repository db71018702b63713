"""The phases of a turn at its runner, each with what only it has.

``Running`` → ``Stopping`` → the end, or ``Running`` → ``Ended`` → the end; a stop of what an ended turn has left is
``Sweeping``.  A phase is a value that :class:`.turn_runner.TurnRunner` passes on, so a stop or the record of what is
left exists only as long as its phase.
"""

from msgspec import Struct

from ...model import Left
from ...storage.turns.claim import Claim
from .turn_stop import TurnStop


class Running(Struct, kw_only=True):
    """The agent works, or is about to exit."""

    claim: Claim
    lingers_since: float | None = None
    """The time, on the monotonic clock, since which the agent lives on after its proper end; None before that."""


class Stopping(Struct, frozen=True, kw_only=True):
    """The processes of a running turn are being ended; then its end is recorded."""

    stop: TurnStop
    by: str | None
    """The requester; None if the turn had ended by itself, or its agent could not be used."""
    lingered: bool
    """The agent lived on after its proper end."""


class Ended(Struct, kw_only=True):
    """The end of the turn is recorded, and the runner waits until it may leave."""

    by: str | None = None
    """The requester of the stop or the interruption that ended the turn, if one did."""
    left: tuple[Left, ...] | None = None
    """The processes that the turn has left, as they were last recorded; None before that."""


class Sweeping(Struct, frozen=True, kw_only=True):
    """The processes that an ended turn has left are being ended."""

    stop: TurnStop
    by: str | None
    """The requester, for the receipt."""


Phase = Running | Stopping | Ended | Sweeping


def has_ended(phase: Phase) -> bool:
    """Return whether the end of the turn is recorded."""
    return isinstance(phase, Ended | Sweeping)
