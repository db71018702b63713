"""The leads whose workers have ended, and the one place where these ends become a prompt of the lead.

The transaction that ends a turn notes the end (:func:`note_end`).  The ends are gathered for a while, and then written
as one prompt into the queue of the lead.  The row of ``wakes`` is deleted by the transaction that writes the prompt, so
that of several processes exactly one writes it.
"""

import sqlite3

from msgspec import Struct

from agentdash.sessions.model.clock import now_ms
from agentdash.sessions.model.session import Status, StoppedBy
from agentdash.sessions.rules.launch import TurnPlan
from agentdash.sessions.storage.database import DatabasePart
from agentdash.sessions.storage.prompts.new_turn import take
from agentdash.sessions.storage.prompts.queued_prompt import Build, Request, insert_prompt
from agentdash.sessions.storage.rows import (
    ENDED_ONES,
    MOST_WAKES,
    WAKES_USED,
    Query,
    S,
    inside,
    status_from,
    struct_from,
)

GATHER_MS = 5_000
"""Time for which the ends of workers are gathered."""

BY_AGENTDASH = StoppedBy.AGENTDASH.value
"""``queue.asked_by`` and ``turns.asked_by`` of a prompt that wakes a lead."""

_LED = "lifecycle <> 'detached'"
_UNTOLD = f"sessions.{_LED} AND sessions.status IN ({ENDED_ONES}) AND max(reported_turn, woken_turn) < sessions.turn"
_STOP_BY = "(SELECT stop_by FROM turns WHERE turns.session = sessions.id AND turns.n = sessions.turn) AS stop_by"
_LEAD_STOP_BY = _STOP_BY.replace("sessions.", "leads.")
_LEAD = (
    f"SELECT id, agent, host, status, turn, archived_at, {_LEAD_STOP_BY},"  # noqa: S608
    f" {WAKES_USED} AS used, {MOST_WAKES} AS most FROM sessions AS leads WHERE id = ?"
)
_UNSENT = "queue.state = 'queued' AND queue.changed_at = queue.created_at"
"""A prompt that waits and that the user did not change, as SQL."""

_WAITS = (
    "EXISTS (SELECT 1 FROM wake_ends JOIN queue ON queue.id = wake_ends.prompt"  # noqa: S608
    f" WHERE wake_ends.session = sessions.id AND wake_ends.turn = sessions.turn AND {_UNSENT})"
)
_ENDS = (
    f"SELECT id, agent, title, task, cwd, status, turn, reason, last_message, {_STOP_BY},"  # noqa: S608
    f" woken_turn >= turn AS waits FROM sessions WHERE parent = ? AND sessions.{_LED}"
    f" AND sessions.status IN ({ENDED_ONES}) AND reported_turn < turn AND (woken_turn < turn OR {_WAITS})"
    " ORDER BY ended_at, id"
)


class Gather(Struct, frozen=True, kw_only=True):
    """A lead whose workers have ended."""

    lead: str
    due_at: int
    """UTC ms."""
    sent: bool
    """True if a process was started that waits for that time; it may have been killed."""


class Lead(Struct, frozen=True, kw_only=True):
    """The facts of a lead that decide whether it is woken."""

    id: str
    agent: str
    host: str
    status: Status
    turn: int
    archived: bool = False
    stopped_by: StoppedBy | None = None
    """The requester of its newest turn's stop, also of one that came after its final event."""
    used: int = 0
    """Number of prompts that woke it, without those that were cancelled."""
    most: int
    """``orchestration.wakes``."""


class WorkerEnd(Struct, frozen=True, kw_only=True):
    """The end of a worker's turn that its lead has not read.  Texts are the agents' own, and not cleaned."""

    session: str
    agent: str
    title: str
    cwd: str
    status: Status
    turn: int
    reason: str | None = None
    last_message: str | None = None
    stopped_by: StoppedBy | None = None
    waits: bool = False
    """True if it is in a prompt of agentdash that waits, and that can still name more ends."""


class Family(Struct, frozen=True, kw_only=True):
    """A lead and the ends of its workers that it has not read."""

    lead: Lead
    ends: tuple[WorkerEnd, ...] = ()


class Wakes(DatabasePart):
    """The gathered ends of a database."""

    def exist(self) -> bool:
        """Return whether ends are gathered; cheap, because every process that serves the queue asks."""
        return bool(self._database.rows("SELECT 1 FROM wakes LIMIT 1"))

    def gathers(self) -> list[Gather]:
        """Return the leads whose workers have ended."""
        return [_gather(row) for row in self._database.rows("SELECT * FROM wakes ORDER BY due_at, lead")]

    def gather(self, lead_id: str) -> Gather | None:
        """Return the ends that are gathered for a lead; None if none are."""
        rows = self._database.rows("SELECT * FROM wakes WHERE lead = ?", (lead_id,))
        return _gather(rows[0]) if rows else None

    def family(self, lead_id: str) -> Family | None:
        """Return a lead and the ends that it has not read; None if it was deleted."""
        with self._database.snapshot():
            return _family(self._database.rows, lead_id)

    def is_lead(self, session_id: str) -> bool:
        """Return whether a session has workers that end with it, at work or not."""
        return bool(
            self._database.rows(f"SELECT 1 FROM sessions WHERE parent = ? AND {_LED} LIMIT 1", (session_id,))  # noqa: S608
        )

    def begin_wait(self, lead_id: str) -> bool:
        """Record that a process is started that waits for the end of the gathering; False if one was."""
        return self._database.run("UPDATE wakes SET sent = 1 WHERE lead = ? AND NOT sent", (lead_id,))

    def drop(self, family: Family) -> bool:
        """End a gathering without a prompt; False if the family changed since it was read."""
        with self._database.transaction() as db:
            return _is_unchanged(db, family) and _finish(db, family.lead.id)

    def wake(self, family: Family, text: str, plan: TurnPlan, build: Build) -> bool:
        """Queue the prompt that reports the ends, at least a new one, and begin its turn if the lead is free.

        If such a prompt waits already, it reports all of them.
        False if the family changed since it was read, or another process queued the prompt.
        """
        lead = family.lead.id
        with self._database.transaction() as db:
            if not _is_unchanged(db, family) or not _finish(db, lead):
                return False
            prompt = _waiting_prompt(db, family, text)
            if prompt is None:
                new = next(end for end in family.ends if not end.waits)
                key = f"wake-{new.session}-{new.turn}"
                request = Request(session=lead, key=key, text=text, plan=plan, asked_by=BY_AGENTDASH)
                added = insert_prompt(db, request)
                prompt = added.lastrowid if added.rowcount else None  # a restored lead may have it
            if prompt is not None:
                db.executemany(
                    "INSERT OR REPLACE INTO wake_ends (prompt, session, turn) VALUES (?, ?, ?)",
                    [(prompt, end.session, end.turn) for end in family.ends],
                )
            db.executemany(
                "UPDATE sessions SET woken_turn = ? WHERE id = ?", [(end.turn, end.session) for end in family.ends]
            )
            take(db, lead, build)
        return True

    def waive(self, lead_id: str) -> None:
        """Wake a lead neither by the turns that its workers have now, nor by a prompt that waits: it is stopped."""
        with self._database.transaction() as db:
            db.execute("DELETE FROM wakes WHERE lead = ?", (lead_id,))
            db.execute(f"UPDATE sessions SET woken_turn = turn WHERE parent = ? AND {_LED}", (lead_id,))  # noqa: S608
            db.execute(
                "UPDATE queue SET state = 'cancelled', changed_at = ? WHERE session = ? AND state = 'queued'"
                " AND id IN (SELECT prompt FROM wake_ends)",
                (now_ms(), lead_id),
            )


def note_end(db: sqlite3.Connection, session_id: str) -> None:
    """Begin to gather ends, inside the transaction that ends a turn.

    It may be the turn of a worker whose lead has ended, or of a lead whose workers have.
    """
    due = now_ms() + GATHER_MS
    db.execute(
        "INSERT OR IGNORE INTO wakes (lead, due_at) SELECT sessions.parent, ? FROM sessions"  # noqa: S608
        f" WHERE sessions.id = ? AND {_UNTOLD}"
        " AND EXISTS (SELECT 1 FROM sessions AS leads WHERE leads.id = sessions.parent AND leads.status = 'done')",
        (due, session_id),
    )
    db.execute(
        "INSERT OR IGNORE INTO wakes (lead, due_at) SELECT id, ? FROM sessions AS leads"  # noqa: S608
        " WHERE id = ? AND status = 'done'"
        f" AND EXISTS (SELECT 1 FROM sessions WHERE sessions.parent = leads.id AND {_UNTOLD})",
        (due, session_id),
    )


def _waiting_prompt(db: sqlite3.Connection, family: Family, text: str) -> int | None:
    """Let the prompt that waits and reports some of the ends report all; None if there is none."""
    if not any(end.waits for end in family.ends):
        return None
    row = db.execute(
        f"SELECT id FROM queue WHERE session = ? AND {_UNSENT} AND id IN (SELECT prompt FROM wake_ends)",  # noqa: S608
        (family.lead.id,),
    ).fetchone()
    if row is None:
        return None
    db.execute("UPDATE queue SET text = ? WHERE id = ?", (text, row["id"]))
    return int(row["id"])


def _family(rows: Query, lead_id: str) -> Family | None:
    found = rows(_LEAD, (lead_id,))
    if not found:
        return None
    row = found[0]
    archived = row["archived_at"] is not None
    ends = tuple(
        _judged(WorkerEnd, one, session=one["id"], title=one["title"] or one["task"], waits=bool(one["waits"]))
        for one in rows(_ENDS, (lead_id,))
    )
    return Family(lead=_judged(Lead, row, archived=archived), ends=ends)


def _judged(kind: type[S], row: sqlite3.Row, **converted: object) -> S:
    """Return a value of a row with a status and who stopped the turn."""
    status, stopper = status_from(row["status"]), StoppedBy.recorded(row["stop_by"])
    return struct_from(kind, row, status=status, stopped_by=stopper, **converted)


def _is_unchanged(db: sqlite3.Connection, family: Family) -> bool:
    return _family(inside(db), family.lead.id) == family


def _finish(db: sqlite3.Connection, lead_id: str) -> bool:
    """Delete the gathering; False if another process did."""
    return bool(db.execute("DELETE FROM wakes WHERE lead = ?", (lead_id,)).rowcount)


def _gather(row: sqlite3.Row) -> Gather:
    return struct_from(Gather, row, sent=bool(row["sent"]))
