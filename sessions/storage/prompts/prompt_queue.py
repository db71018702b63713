"""The queue of a session: prompts that wait for the end of a turn, and the one place where a prompt becomes a turn.

Each method is one transaction.  A prompt changes only while it is ``queued``, so that of several processes that edit,
move, cancel or send it, exactly one has its way, and each prompt is sent or cancelled once.
"""

import sqlite3
from collections.abc import Callable, Mapping
from typing import Any

import msgspec
from msgspec import Raw, Struct, field

from ...clock import now_ms
from ...conversation.continuation import Recorded
from ...errors import AgentdashError, RefusalError, SessionBusyError, StoreError, UnknownSessionError
from ...launch import Launch, TurnPlan
from ...model import ENDED, Status, StoppedBy, short_id
from ...rules.limits.period_budgets import agent_refusal_words, refusal_words
from ...rules.prompts.delivery import HELD_BY_USER, PromptState
from ..database import Database
from ..families.admission import admit_prompt
from ..families.rounds import admit_round
from ..marks import recorded
from ..rows import dump
from ..use.period_budgets import admit_turn
from .unconfirmed import decide

_AGAIN = ", attempt "
"""Between the key of a prompt and the number of an attempt; callers choose keys, which rarely contain this."""

UNDER_WAY = "state IN ('sending', 'sent')"
"""A prompt on its way into a running turn."""

_WAITING = "FROM queue WHERE session = ? AND state = 'queued'"
_ORDER = "ORDER BY at_once DESC, place, id"
"""The order in which the prompts of a session are sent."""

MOST_ATTEMPTS = 3
"""The number of times that one prompt is put back after a crash before it reached the agent."""


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


class PromptQueue:
    """The queues of all sessions in a database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def waiting(self, session_id: str) -> list[QueuedPrompt]:
        """Return the prompts of a session that wait, in the order in which they will be sent."""
        rows = self._database.rows(f"SELECT * {_WAITING} {_ORDER}", (session_id,))
        return [_prompt(row) for row in rows]

    def unconfirmed(self, session_id: str) -> list[QueuedPrompt]:
        """Return the prompts written into running turns of which it is not known whether the agent got them."""
        rows = self._database.rows(
            "SELECT * FROM queue WHERE session = ? AND state = 'unconfirmed' ORDER BY id", (session_id,)
        )
        return [_prompt(row) for row in rows]

    def prompt(self, prompt_id: int) -> QueuedPrompt | None:
        """Return a prompt of any state; None if its session was deleted."""
        rows = self._database.rows("SELECT * FROM queue WHERE id = ?", (prompt_id,))
        return _prompt(rows[0]) if rows else None

    def of_turn(self, session_id: str, turn: int) -> QueuedPrompt | None:
        """Return the prompt that became a turn; None for a first turn, which was never queued."""
        rows = self._database.rows(
            "SELECT * FROM queue WHERE session = ? AND turn = ? AND state = 'taken'", (session_id, turn)
        )
        return _prompt(rows[0]) if rows else None

    def waiting_again(self, session_id: str, turn: int) -> QueuedPrompt | None:
        """Return the waiting prompt that was put back from a turn; None if none was, or it was sent or cancelled."""
        taken = self.of_turn(session_id, turn)
        if taken is None:
            return None
        original, attempt = _attempt(taken.key)
        again = f"{original}{_AGAIN}{attempt + 1}"
        return next((prompt for prompt in self.waiting(session_id) if prompt.key == again), None)

    def under_way(self) -> list[str]:
        """Return the sessions with a prompt on its way into a running turn."""
        rows = self._database.rows(f"SELECT DISTINCT session FROM queue WHERE {UNDER_WAY}")  # noqa: S608
        return [row["session"] for row in rows]

    def stalled(self) -> list[str]:
        """Return the sessions whose next prompt could be sent now: their runner was killed, or knows no queue."""
        ended = ", ".join(f"'{status}'" for status in sorted(ENDED))
        rows = self._database.rows(
            "SELECT DISTINCT queue.session FROM queue JOIN sessions ON sessions.id = queue.session"  # noqa: S608
            f" WHERE queue.state = 'queued' AND sessions.status IN ({ended})"
            " AND sessions.taken_by IS NULL AND (sessions.held IS NULL OR queue.at_once)"
        )
        return [row["session"] for row in rows]

    def add(self, request: Request, build: Build) -> QueuedPrompt:
        """Add a prompt, and begin its turn if the session is free.

        Raises:
            UnknownSessionError: the session was deleted.
            SessionBusyError: another turn began after ``request.only_after``, or the prompt that it sends again was
                sent again before.
            RefusalError: a budget that counts what the session spends is used up and the turn would begin at once, or
                an agent sent it enough prompts.
        """
        with self._database.transaction() as db:
            known = db.execute(
                "SELECT * FROM queue WHERE session = ? AND key = ?", (request.session, request.key)
            ).fetchone()
            if known is not None:
                return _prompt(known)
            _check_session(db, request)
            limits = request.plan.frame.family
            admit_prompt(db, request.session, limits)
            admit_round(db, request.session, limits, asked_by=request.asked_by, key=request.key)
            _mark_resent(db, request)
            cursor = insert_prompt(db, request)
            if request.options is not None:
                db.execute("UPDATE sessions SET options = ? WHERE id = ?", (dump(request.options), request.session))
            begun = take(db, request.session, build)
            added = _prompt(db.execute("SELECT * FROM queue WHERE id = ?", (cursor.lastrowid,)).fetchone())
            if begun is not None and added.turn == begun:
                held = admit_turn(db, request.session, begun, free=request.over_budget)
                if held is not None:
                    words = refusal_words if request.asked_by is None else agent_refusal_words
                    raise RefusalError("over_budget", words(held.state))
            return added

    def add_waiting(self, request: Request) -> bool:
        """Add a prompt of the runner itself, and begin no turn with it; False if it was added before.

        Raises:
            UnknownSessionError: the session was deleted.
        """
        with self._database.transaction() as db:
            _check_session(db, request)
            return bool(insert_prompt(db, request).rowcount)

    def edit(self, prompt_id: int, text: str, plan: TurnPlan | None = None) -> bool:
        """Replace the text of a waiting prompt, and its plan if one is given; False if it no longer waits."""
        with self._database.transaction() as db:
            changed = db.execute(
                "UPDATE queue SET text = ?, plan = COALESCE(?, plan), changed_at = ? WHERE id = ? AND state = 'queued'",
                (text, dump(plan) if plan is not None else None, now_ms(), prompt_id),
            ).rowcount
        return bool(changed)

    def move(self, prompt_id: int, position: int) -> bool:
        """Move a waiting prompt to a position (1 is the next); False if it no longer waits."""
        with self._database.transaction() as db:
            row = db.execute("SELECT session FROM queue WHERE id = ? AND state = 'queued'", (prompt_id,)).fetchone()
            if row is None:
                return False
            order = [
                other["id"]
                for other in db.execute(f"SELECT id {_WAITING} AND id <> ? {_ORDER}", (row["session"], prompt_id))
            ]
            order.insert(max(0, position - 1), prompt_id)
            db.executemany("UPDATE queue SET place = ? WHERE id = ?", [(place, key) for place, key in enumerate(order)])
            db.execute("UPDATE queue SET at_once = 0, changed_at = ? WHERE id = ?", (now_ms(), prompt_id))
        return True

    def cancel(self, prompt_id: int) -> bool:
        """Cancel a waiting prompt; False if it no longer waits."""
        with self._database.transaction() as db:
            row = db.execute("SELECT session FROM queue WHERE id = ?", (prompt_id,)).fetchone()
            changed = db.execute(
                "UPDATE queue SET state = 'cancelled', changed_at = ? WHERE id = ? AND state = 'queued'",
                (now_ms(), prompt_id),
            ).rowcount
            if changed:
                _let_go_if_empty(db, row["session"])
        return bool(changed)

    def hold(self, session_id: str, reason: str = HELD_BY_USER) -> None:
        """Hold the queue of a session: nothing of it is sent until it is released."""
        with self._database.transaction() as db:
            hold(db, session_id, reason)

    def release(self, session_id: str, build: Build) -> int | None:
        """Release the queue of a session, and return the turn that begins at once; None if none does."""
        with self._database.transaction() as db:
            db.execute("UPDATE sessions SET held = NULL WHERE id = ? AND held IS NOT NULL", (session_id,))
            return take(db, session_id, build)

    def send_now(self, prompt_id: int, build: Build) -> int | None:
        """Make a waiting prompt the next one, although the queue is held; return the turn that begins at once."""
        with self._database.transaction() as db:
            row = db.execute("SELECT session FROM queue WHERE id = ? AND state = 'queued'", (prompt_id,)).fetchone()
            if row is None:
                return None
            db.execute(
                "UPDATE queue SET place = ?, at_once = 1, changed_at = ? WHERE id = ?",
                (_place(db, row["session"], first=True), now_ms(), prompt_id),
            )
            return take(db, row["session"], build)

    def advance(self, session_id: str, build: Build) -> int | None:
        """Begin the turn of the next prompt, if the session is free; return its number."""
        with self._database.transaction() as db:
            return take(db, session_id, build)


def take(db: sqlite3.Connection, session_id: str, build: Build) -> int | None:
    """Make the next prompt of an ended session its next turn, inside the caller's transaction; return its number.

    None if the user works in the agent's own interface, which the turn would disturb.  If its start cannot be built (a
    setting that the agent does not take), or a budget is used up, the queue is held with the reason.
    """
    session = db.execute("SELECT status, turn, held, taken_by FROM sessions WHERE id = ?", (session_id,)).fetchone()
    if session is None or Status(session["status"]) not in ENDED or session["taken_by"] is not None:
        return None
    row = _next(db, session_id)
    if db.execute(f"SELECT 1 FROM queue WHERE session = ? AND {UNDER_WAY}", (session_id,)).fetchone():  # noqa: S608
        return None  # the agent has it, and begins a turn with it
    if row is None or not (row["at_once"] or session["held"] is None):
        return None
    prompt, n = _prompt(row), int(session["turn"]) + 1
    try:
        admit_prompt(db, session_id, prompt.plan.frame.family)
        launch = build(prompt, n, recorded(lambda sql, values: db.execute(sql, values).fetchall(), session_id))
    except AgentdashError as error:
        db.execute("UPDATE queue SET at_once = 0 WHERE id = ?", (prompt.id,))
        hold(db, session_id, str(error))
        return None
    import uuid  # most runners send no second prompt

    now = now_ms()
    insert_turn(db, session_id, n, prompt.text, launch, str(uuid.uuid4()), now, prompt.asked_by)
    begin_turn(db, session_id, n, launch.model, now)
    db.execute("UPDATE queue SET state = 'taken', turn = ?, changed_at = ? WHERE id = ?", (n, now, prompt.id))
    _let_go_if_empty(db, session_id)
    return n


def put_back(db: sqlite3.Connection, session_id: str, turn: int) -> bool:
    """Queue the prompt of a turn again, before all others; False if it was tried too often or never queued."""
    row = db.execute(
        "SELECT * FROM queue WHERE session = ? AND turn = ? AND state = 'taken'", (session_id, turn)
    ).fetchone()
    if row is None:
        return False
    original, attempt = _attempt(row["key"])
    if attempt >= MOST_ATTEMPTS:
        return False
    now = now_ms()
    db.execute(
        "INSERT OR IGNORE INTO queue (session, key, place, text, plan, state, at_once, asked_by, created_at,"
        " changed_at) VALUES (?, ?, ?, ?, ?, 'queued', 0, ?, ?, ?)",
        (
            session_id, f"{original}{_AGAIN}{attempt + 1}", _place(db, session_id, first=True), row["text"],
            row["plan"], row["asked_by"], row["created_at"], now,
        ),
    )  # fmt: skip
    return True


def _attempt(key: str) -> tuple[str, int]:
    """Return the key of a prompt as it was requested, and the number of this attempt to send it."""
    original, again, attempt = key.rpartition(_AGAIN)
    return (original, int(attempt)) if again and attempt.isdecimal() else (key, 1)


def hold_after(db: sqlite3.Connection, session_id: str, turn: int, status: Status, *, by_user: bool) -> None:
    """Hold the prompts that wait after a turn that did not end well, unless the first of them is to be sent anyway.

    After a stop by the user they are always held.
    """
    if status is Status.DONE and not by_user:
        return
    row = _next(db, session_id)
    if row is not None and (by_user or row["on_failure"] != "send"):
        hold(db, session_id, f"turn {turn} {_ENDINGS[status]}")


def hold(db: sqlite3.Connection, session_id: str, reason: str) -> None:
    """Hold the queue of a session; an earlier reason stays."""
    db.execute("UPDATE sessions SET held = ? WHERE id = ? AND held IS NULL", (reason, session_id))


def insert_turn(
    db: sqlite3.Connection,
    session_id: str,
    n: int,
    prompt: str | None,
    launch: Launch,
    run_id: str,
    now: int,
    asked_by: str | None,
) -> None:
    """Insert a queued turn with its prompt; without one it gets no place (:mod:`.chains`)."""
    db.execute(
        "INSERT INTO turns (session, n, status, run_id, launch, created_at, asked_by)"
        " VALUES (?, ?, 'queued', ?, ?, ?, ?)",
        (session_id, n, run_id, dump(launch), now, asked_by),
    )
    if prompt is None:
        return
    db.execute(
        "INSERT INTO prompts (session, turn, text, state, created_at) VALUES (?, ?, ?, 'queued', ?)",
        (session_id, n, prompt, now),
    )


def begin_turn(db: sqlite3.Connection, session_id: str, n: int, model: str | None, now: int) -> None:
    """Make a queued turn the newest of its session, which is then as if it had not ended."""
    db.execute(
        "UPDATE sessions SET status = 'queued', reason = NULL, turn = ?, exit_code = NULL, signal = NULL,"
        " archived_at = NULL, started_at = NULL, ended_at = NULL, model = COALESCE(?, model), updated_at = ?,"
        " stuck = NULL, stuck_at = NULL, denied = 0, asks = NULL, activity = NULL, plan = NULL, mode = NULL"
        " WHERE id = ?",
        (n, model, now, session_id),
    )


_ENDINGS = {
    Status.DONE: "was stopped",
    Status.FAILED: "failed",
    Status.STOPPED: "was stopped",
    Status.LOST: "was lost",
}


def _next(db: sqlite3.Connection, session_id: str) -> sqlite3.Row | None:
    """Return the first prompt that waits, and its plan's ``on_failure``; None if none waits."""
    row: sqlite3.Row | None = db.execute(
        f"SELECT *, json_extract(plan, '$.on_failure') AS on_failure {_WAITING} {_ORDER} LIMIT 1", (session_id,)
    ).fetchone()
    return row


def insert_prompt(db: sqlite3.Connection, request: Request) -> sqlite3.Cursor:
    """Insert a prompt that waits, unless its key is known, inside the caller's transaction."""
    now, place = now_ms(), _place(db, request.session, first=request.first or request.at_once)
    return db.execute(
        "INSERT INTO queue (session, key, place, text, plan, state, at_once, asked_by, created_at, changed_at, steers)"
        " VALUES (?, ?, ?, ?, ?, 'queued', ?, ?, ?, ?, ?) ON CONFLICT (session, key) DO NOTHING",
        (
            request.session, request.key, place, request.text, dump(request.plan), request.at_once,
            request.asked_by, now, now, request.steers,
        ),
    )  # fmt: skip


def _check_session(db: sqlite3.Connection, request: Request) -> None:
    row = db.execute("SELECT status, turn FROM sessions WHERE id = ?", (request.session,)).fetchone()
    if row is None:
        raise UnknownSessionError(f"Session {short_id(request.session)} was deleted.")
    after = request.only_after
    if after is not None and (row["turn"] != after or Status(row["status"]) not in ENDED):
        state = f"{row['status']} (turn {row['turn']})"
        raise SessionBusyError(f"Session {short_id(request.session)} is {state}: another prompt came first.")


def _mark_resent(db: sqlite3.Connection, request: Request) -> None:
    """Record that an unconfirmed prompt is sent again; refuse if a copy of it waits already."""
    if request.resends is None:
        return
    if request.steered is not None:
        if not decide(db, request.session, request.resends, request.steered, PromptState.RESENT):
            raise SessionBusyError("The prompt was sent again or dismissed before.")
        return
    copies = (resend_key(request.resends), f"{resend_key(request.resends)}{_AGAIN}%")
    if db.execute(f"SELECT 1 {_WAITING} AND (key = ? OR key LIKE ?)", (request.session, *copies)).fetchone():
        what = f"The prompt of turn {request.resends} of session {short_id(request.session)}"
        raise SessionBusyError(f"{what} waits to be sent again already.")
    decide(db, request.session, request.resends, None, PromptState.RESENT)


def resend_key(turn: int, steered: int | None = None) -> str:
    """Return the key under which an unconfirmed prompt is sent again, once for all requests.

    ``steered`` is its number in the queue, if it was written into the running turn.
    """
    return f"resend {turn}" if steered is None else f"resend {turn} steered {steered}"


def _place(db: sqlite3.Connection, session_id: str, *, first: bool) -> float:
    """Return a place before or behind all prompts that wait."""
    edge = "MIN(place) - 1" if first else "MAX(place) + 1"
    row = db.execute(
        f"SELECT {edge} AS place FROM queue WHERE session = ? AND state = 'queued'",  # noqa: S608
        (session_id,),
    ).fetchone()
    return float(row["place"]) if row["place"] is not None else 0.0


def _let_go_if_empty(db: sqlite3.Connection, session_id: str) -> None:
    """End a hold that holds nothing, unless the user asked for it: a later prompt would wait for no reason."""
    db.execute(
        "UPDATE sessions SET held = NULL WHERE id = ? AND queued = 0 AND held IS NOT NULL AND held <> ?",
        (session_id, HELD_BY_USER),
    )


def _prompt(row: sqlite3.Row) -> QueuedPrompt:
    names = ("id", "session", "key", "text", "state", "turn", "asked_by", "created_at", "changed_at")
    return QueuedPrompt(
        recorded_plan=Raw(row["plan"].encode()),
        at_once=bool(row["at_once"]),
        steers=bool(row["steers"]),
        **{name: row[name] for name in names},
    )
