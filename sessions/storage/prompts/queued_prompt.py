"""A prompt in the queue, the keys by which each is sent once, and its row: which is next, and how it is held.

Of an unconfirmed prompt it is not known whether its agent got it: it began a turn, or was written into a running one.
Only the user sends it again, or dismisses it.  The functions for rows work inside the transaction of their caller."""

import sqlite3
from collections.abc import Callable, Mapping
from typing import Any

import msgspec
from msgspec import Raw, Struct, field

from agentdash.sessions.model import typed
from agentdash.sessions.model.clock import now_ms
from agentdash.sessions.model.errors import StoreError
from agentdash.sessions.model.session import Status, StoppedBy
from agentdash.sessions.rules.conversation.continuation import Recorded
from agentdash.sessions.rules.launch import Launch, TurnPlan, plan_like
from agentdash.sessions.rules.prompts.delivery import HELD_BY_USER, PromptState
from agentdash.sessions.storage.rows import dump, launch_from, struct_from

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
    due_at: int | None = None
    """It is not sent before this time (UTC ms); None for no time, or if that has come."""
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
            return typed.decode(self.recorded_plan, TurnPlan)
        except msgspec.MsgspecError as error:
            raise StoreError(f"The settings of a queued prompt cannot be read: {error}.") from None


class Unconfirmed(Struct, frozen=True, kw_only=True):
    """An unconfirmed prompt."""

    session: str
    turn: int
    """The turn that it began, or into which it was written."""
    text: str
    created_at: int
    steered: int | None = None
    """Its number in the queue, if it was written into a running turn."""


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
    due_at: int | None = None
    """It is not sent before this time (UTC ms)."""
    options: Mapping[str, Any] | None = None
    """Options that replace the session's from now on; None leaves them."""
    only_after: int | None = None
    """The turn that must be the newest, and ended; None for any."""
    over_budget: bool = False
    """The user sends it although the budget of a day or a week is spent."""


def prompt_of(row: sqlite3.Row) -> QueuedPrompt:
    """Return the prompt of a row of the queue."""
    plan = Raw(row["plan"].encode())
    at_once, steers = bool(row["at_once"]), bool(row["steers"])
    return struct_from(QueuedPrompt, row, recorded_plan=plan, at_once=at_once, steers=steers)


def attempt_of(key: str) -> tuple[str, int]:
    """Return the key of a prompt as it was requested, and the number of this attempt to send it."""
    original, again, attempt = key.rpartition(AGAIN)
    return (original, int(attempt)) if again and attempt.isdecimal() else (key, 1)


def resend_key(turn: int, steered: int | None = None) -> str:
    """Return the key under which an unconfirmed prompt is sent again, once for all requests.

    ``steered`` is its number in the queue, if it was written into the running turn.
    """
    return f"resend {turn}" if steered is None else f"resend {turn} steered {steered}"


UNDER_WAY = "state IN ('sending', 'sent')"
"""A prompt on its way into a running turn."""

WAITING = "FROM queue WHERE session = ? AND state = 'queued'"
"""The prompts of a session that wait."""
ORDER = "ORDER BY at_once DESC, place, id"
"""The order in which the prompts of a session are sent."""

MOST_ATTEMPTS = 3
"""The number of times that one prompt is put back after a crash before it reached the agent."""

_ENDINGS = {
    Status.DONE: "was stopped",
    Status.FAILED: "failed",
    Status.STOPPED: "was stopped",
    Status.LOST: "was lost",
}


def next_row(db: sqlite3.Connection, session_id: str, *, timed: bool = False) -> sqlite3.Row | None:
    """Return the first prompt that waits, and its plan's ``on_failure``; None if none waits.

    ``timed`` includes those that wait for a time.
    """
    which = WAITING if timed else f"{WAITING} AND due_at IS NULL"
    row: sqlite3.Row | None = db.execute(
        f"SELECT *, json_extract(plan, '$.on_failure') AS on_failure {which} {ORDER} LIMIT 1", (session_id,)
    ).fetchone()
    return row


def insert_prompt(db: sqlite3.Connection, request: Request) -> sqlite3.Cursor:
    """Insert a prompt that waits, unless its key is known, inside the caller's transaction."""
    now, place = now_ms(), place_at_edge(db, request.session, first=request.first or request.at_once)
    return db.execute(
        "INSERT INTO queue (session, key, place, text, plan, state, at_once, asked_by, created_at, changed_at, steers,"
        " due_at) VALUES (?, ?, ?, ?, ?, 'queued', ?, ?, ?, ?, ?, ?) ON CONFLICT (session, key) DO NOTHING",
        (
            request.session, request.key, place, request.text, dump(request.plan), request.at_once,
            request.asked_by, now, now, request.steers, request.due_at,
        ),
    )  # fmt: skip


def put_back(db: sqlite3.Connection, session_id: str, turn: int, *, always: bool = False) -> bool:
    """Queue the prompt of a turn again, before all others; False if it was tried too often.

    ``always``: it was not a crash that kept it from the agent, so that it may be tried any number of times.
    """
    row = db.execute(
        "SELECT * FROM queue WHERE session = ? AND turn = ? AND state = 'taken'", (session_id, turn)
    ).fetchone()
    row = row or _first_prompt(db, session_id, turn)
    if row is None:
        return False
    original, attempt = attempt_of(row["key"])
    if attempt >= MOST_ATTEMPTS and not always:
        return False
    now = now_ms()
    db.execute(
        "INSERT OR IGNORE INTO queue (session, key, place, text, plan, state, at_once, asked_by, created_at,"
        " changed_at) VALUES (?, ?, ?, ?, ?, 'queued', 0, ?, ?, ?)",
        (
            session_id, f"{original}{AGAIN}{attempt + 1}", place_at_edge(db, session_id, first=True), row["text"],
            row["plan"], row["asked_by"], row["created_at"], now,
        ),
    )  # fmt: skip
    return True


def first_key(turn: int) -> str:
    """Return the key of a turn's prompt that was never queued: that of a session's first turn."""
    return f"turn {turn}"


def _first_prompt(db: sqlite3.Connection, session_id: str, turn: int) -> dict[str, Any] | None:
    """Return the prompt of a turn that was never queued as a row of the queue has it; None if the turn has none."""
    row = db.execute(
        "SELECT text, prompts.created_at, launch, asked_by FROM prompts JOIN turns ON turns.session = prompts.session"
        " AND n = turn WHERE prompts.session = ? AND turn = ?",
        (session_id, turn),
    ).fetchone()
    if row is None:
        return None
    return {**dict(row), "key": first_key(turn), "plan": dump(plan_like(launch_from(row)))}


def hold_after(db: sqlite3.Connection, session_id: str, turn: int, status: Status, *, by_user: bool) -> None:
    """Hold the prompts that wait after a turn that did not end well, unless the first of them is to be sent anyway.

    After a stop by the user they are always held.
    """
    if status is Status.DONE and not by_user:
        return
    row = next_row(db, session_id, timed=True)
    if row is not None and (by_user or row["on_failure"] != "send"):
        hold(db, session_id, f"turn {turn} {_ENDINGS[status]}")


def hold(db: sqlite3.Connection, session_id: str, reason: str) -> None:
    """Hold the queue of a session; an earlier reason stays."""
    db.execute("UPDATE sessions SET held = ? WHERE id = ? AND held IS NULL", (reason, session_id))


def let_go_if_empty(db: sqlite3.Connection, session_id: str) -> None:
    """End a hold that holds nothing, unless the user asked for it: a later prompt would wait for no reason."""
    db.execute(
        "UPDATE sessions SET held = NULL WHERE id = ? AND queued = 0 AND held IS NOT NULL AND held <> ?",
        (session_id, HELD_BY_USER),
    )


def place_at_edge(db: sqlite3.Connection, session_id: str, *, first: bool) -> float:
    """Return a place before or behind all prompts that wait."""
    edge = "MIN(place) - 1" if first else "MAX(place) + 1"
    row = db.execute(
        f"SELECT {edge} AS place FROM queue WHERE session = ? AND state = 'queued'",  # noqa: S608
        (session_id,),
    ).fetchone()
    return float(row["place"]) if row["place"] is not None else 0.0


def decide(db: sqlite3.Connection, session_id: str, turn: int, steered: int | None, state: PromptState) -> bool:
    """Record the user's decision about a prompt, inside the caller's transaction; False if it was decided before.

    The arguments are those of :class:`Unconfirmed`.
    """
    if steered is None:
        return bool(
            db.execute(
                "UPDATE prompts SET state = ? WHERE session = ? AND turn = ? AND state = 'unconfirmed'",
                (state, session_id, turn),
            ).rowcount
        )
    return bool(
        db.execute(
            "UPDATE queue SET state = ?, changed_at = ? WHERE session = ? AND id = ? AND state = 'unconfirmed'",
            (state, now_ms(), session_id, steered),
        ).rowcount
    )
