"""A prompt in the queue, the request that adds one, and the keys by which each is sent once."""

import sqlite3
from collections.abc import Callable, Mapping
from typing import Any

import msgspec
from msgspec import Raw, Struct, field

from ...conversation.continuation import Recorded
from ...errors import StoreError
from ...launch import Launch, TurnPlan
from ...model import StoppedBy

AGAIN = ", attempt "
"""Between a prompt's key and the number of an attempt to send it; callers choose keys, which rarely contain this."""


class QueuedPrompt(Struct, frozen=True, kw_only=True):
    """A prompt in the queue, or one that left it."""

    id: int
    session: str
    key: str
    """Given with the request; a second request to the session with the same key adds nothing."""
    text: str
    recorded_plan: Raw = field(name="plan")
    """:attr:`plan` as JSON."""
    state: str
    """``queued``, ``taken`` (it became a turn), ``cancelled``; in a running turn ``sending``, ``sent`` or ``seen``, and
    ``unconfirmed`` and what follows from it.
    """
    at_once: bool = False
    """It is sent although the queue is held."""
    turn: int | None = None
    """The turn that it became, or into which it was written."""
    steers: bool = False
    """It may be written into a running turn."""
    asked_by: str | None = None
    """The session from inside which it was requested."""
    created_at: int
    changed_at: int

    @property
    def shown(self) -> str:
        """Its text for a list, behind the name of agentdash if that wrote it; not cleaned."""
        return f"{self.asked_by}: {self.text}" if self.asked_by == StoppedBy.AGENTDASH else self.text

    @property
    def plan(self) -> TurnPlan:
        """The settings of its turn.

        Raises:
            StoreError: a version with another format recorded them.
        """
        try:
            return msgspec.json.decode(self.recorded_plan, type=TurnPlan)
        except msgspec.MsgspecError as error:
            raise StoreError(f"The settings of a queued prompt cannot be read: {error}.") from None


Build = Callable[[QueuedPrompt, int, Recorded], Launch]
"""Makes the start of a turn from a prompt, the number of the turn, and the records of the conversation."""


class Request(Struct, frozen=True, kw_only=True):
    """A prompt to add."""

    session: str
    key: str
    text: str
    plan: TurnPlan
    asked_by: str | None = None
    resends: int | None = None
    """The turn whose prompt this sends again; None for a new prompt."""
    steered: int | None = None
    """The number in the queue of the prompt that this sends again, if it was written into the running turn."""
    first: bool = False
    """It goes before all others."""
    at_once: bool = False
    """It is sent although the queue is held."""
    steers: bool = False
    """It may be written into the running turn of a live agent."""
    options: Mapping[str, Any] | None = None
    """Options that replace the session's from now on; None leaves them."""
    only_after: int | None = None
    """The turn that must be the newest, and ended; None for any."""
    over_budget: bool = False
    """The user sends it although the budget of a day or a week is spent."""


def prompt_of(row: sqlite3.Row) -> QueuedPrompt:
    """Return the prompt of a row of the queue."""
    names = ("id", "session", "key", "text", "state", "turn", "asked_by", "created_at", "changed_at")
    return QueuedPrompt(
        recorded_plan=Raw(row["plan"].encode()),
        at_once=bool(row["at_once"]),
        steers=bool(row["steers"]),
        **{name: row[name] for name in names},
    )


def attempt_of(key: str) -> tuple[str, int]:
    """Return the key of a prompt as it was requested, and the number of this attempt to send it."""
    original, again, attempt = key.rpartition(AGAIN)
    return (original, int(attempt)) if again and attempt.isdecimal() else (key, 1)


def resend_key(turn: int, steered: int | None = None) -> str:
    """Return the key under which an unconfirmed prompt is sent again, once for all requests.

    ``steered`` is its number in the queue, if it was written into the running turn.
    """
    return f"resend {turn}" if steered is None else f"resend {turn} steered {steered}"
