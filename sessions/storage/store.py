"""The writes by which front ends request something; their reads are in :mod:`.queries`.

Each method is one transaction and one decision.  A state changes only by compare-and-set inside it, so that exactly
one of several competing processes succeeds.
"""

import sqlite3
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from msgspec import Struct, structs

from agentdash.sessions.model.clock import now_ms
from agentdash.sessions.model.errors import RefusalError
from agentdash.sessions.model.session import Budget, Membership, Receipt, Session, Status
from agentdash.sessions.rules.conversation.marks import Mark
from agentdash.sessions.rules.launch import Launch, Start
from agentdash.sessions.rules.limits.period_budgets import (
    agent_refusal_words,
    refusal_words,
    waits_words,
    warning_words,
)
from agentdash.sessions.rules.prompts.due import until
from agentdash.sessions.storage.families.admission import admit
from agentdash.sessions.storage.families.families import above_of, hand_up
from agentdash.sessions.storage.marks import add_mark
from agentdash.sessions.storage.prompts.chains import Chains, give_up
from agentdash.sessions.storage.prompts.new_turn import insert_turn
from agentdash.sessions.storage.prompts.queued_prompt import hold_after, put_back
from agentdash.sessions.storage.prompts.timed import Ripe, Timed
from agentdash.sessions.storage.queries import Queries
from agentdash.sessions.storage.rows import ENDED_ONES, OPEN, dump
from agentdash.sessions.storage.use.period_budgets import PeriodAdmission
from agentdash.sessions.storage.wakes import Wakes, note_end

PATIENCE_MS = 60_000
"""A younger request may be on its way: its front end starts a runner for it."""

_BUSY = (
    "SELECT COUNT(*) FROM turns JOIN sessions ON sessions.id = turns.session"  # noqa: S608
    f" WHERE sessions.host = ? AND turns.status IN ({OPEN}) AND (turns.status <> 'queued' OR turns.launches > 0)"
    " AND NOT EXISTS (SELECT 1 FROM turns AS asked WHERE asked.asked_by = turns.session"
    f" AND asked.session <> turns.session AND asked.status IN ({OPEN}))"
)
_WAITING = (
    "SELECT turns.session, turns.n FROM turns JOIN sessions ON sessions.id = turns.session"
    " JOIN prompts ON prompts.session = turns.session AND prompts.turn = turns.n"
    " WHERE sessions.host = ? AND turns.status = 'queued' AND turns.launches = 0 AND prompts.due_at IS NULL"
    " ORDER BY prompts.id"
)
_FREE = "(taken_by IS NULL OR json_extract(taken_by, '$.run_id') IN (SELECT value FROM json_each(?)))"
"""The condition that no user has taken a session over, except those whose ``run_id`` is in the array."""


ALL_SEEN = (
    "INSERT INTO seen (session, at, steps, handled_at)"
    " SELECT sessions.id, given.at, steps, given.at FROM sessions, (SELECT ? AS at) AS given WHERE sessions.id = ?"
    " ON CONFLICT (session) DO UPDATE SET at = excluded.at, steps = excluded.steps, handled_at = excluded.handled_at"
)
"""Records that the user has seen all steps of a session at a time (UTC ms), and needs nothing more of its end."""


class Places(Struct, frozen=True, kw_only=True):
    """The queued turns that may start now, and those that a budget holds."""

    taken: list[tuple[str, int]]
    """The sessions and their turns, in the order they were requested."""
    waits: tuple[str, int] | None = None
    """A session that waits, and the time (UTC ms) at which to serve the queue again; None if a process waits."""


class Store(Queries):
    """The writes of front ends; those of runners are in :mod:`.turns.turn_log`."""

    def __init__(self, path: Path, cache_kib: int | None = None) -> None:
        super().__init__(path, cache_kib)
        self.chains = Chains(self.database)
        """The sessions that wait for the end of others."""
        self.wakes = Wakes(self.database)
        """The leads whose workers have ended."""
        self.timed = Timed(self.database)
        """The prompts that wait for a time."""
        self.ripened: list[Ripe] = []
        """Those whose time had come when this process served the queue."""

    def create(
        self,
        start: Start,
        launch: Launch,
        run_id: str,
        *,
        host: str,
        env: Mapping[str, str | None] | None = None,
        membership: Membership | None = None,
        mark: Mark | None = None,
    ) -> None:
        """Record the intent: a session with its first turn queued, before any process is started.

        Args:
            start: the completed request: with agent, folder, title and id, and the id of the session it waits for.
            launch: the exact start of the first turn.
            host: the machine on which the session runs.
            env: the variables that later turns need.
            membership: its place in a family; None outside any.  A start that an agent requests is admitted by
                ``launch.family``.
            mark: the mark of a fork; its number and its session are not used.

        Raises:
            RefusalError: its lead may not start it now, or the budget of a day or a week is spent.  If the budget is
                only reserved for what runs, a start by hand waits in the queue.
        """
        now = now_ms()
        with self.database.transaction() as db:
            admission = PeriodAdmission(db)
            warnings = tuple(warning_words(state) for state in admission.warnings(start.cwd))
            launch = structs.replace(launch, warnings=(*launch.warnings, *warnings)) if warnings else launch
            place, share = admit(db, membership or Membership(), launch.family, start.agent or "")
            db.execute(
                "INSERT INTO sessions (id, agent, title, task, cwd, model, options, command, env, source, parent,"
                " status, turn, host, created_at, updated_at, after, lead, depth, lifecycle, key, call, budget, share)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'queued', 1, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    start.session_id, start.agent, start.title, start.prompt, start.cwd, launch.model,
                    dump(start.options), dump(start.argv), dump(env or {}), start.source, place.parent, host, now,
                    now, start.after or None, place.lead, place.depth, place.lifecycle, place.key,
                    place.call, dump(place.budget) if place.budget else None, dump(share) if share else None,
                ),
            )  # fmt: skip
            if mark is not None:
                add_mark(db, structs.replace(mark, id=0, session=start.session_id or "", after=0, undoes=None, at=now))
            prompt = None if start.after else start.prompt
            insert_turn(db, start.session_id, 1, prompt, launch, run_id, now, place.parent, start.due_at)
            if start.due_at is not None:
                _note(db, start.session_id, f"queued {until(start.due_at, now)}", now)
            held = None if start.after or start.due_at else admission.admit(start.session_id, 1, free=start.over_budget)
            by_agent = place.parent is not None or place.lead is not None
            # An agent waits for nothing: its own turn may be what holds the budget.
            if held is not None and (by_agent or not held.lacking.for_turns):
                words = agent_refusal_words if by_agent else refusal_words
                raise RefusalError("over_budget", words(held.lacking))

    def launch_age_ms(self, session_id: str, n: int) -> int | None:
        """Return how long ago a runner was last started for a queued turn; None if the turn is no longer queued."""
        launched_at = self.database.value(
            "SELECT coalesce(launched_at, 0) FROM turns WHERE session = ? AND n = ? AND status = 'queued'",
            (session_id, n),
        )
        return None if launched_at is None else now_ms() - int(launched_at)

    def begin_launch(self, session_id: str, n: int, patience_ms: int) -> int | None:
        """Record that a runner is being started for a queued turn; return how many were started before.

        None if the turn is no longer queued, or the last runner was started less than ``patience_ms`` ago: if several
        front ends miss a runner, only one of them starts the next.
        """
        now = now_ms()
        with self.database.transaction() as db:
            row = db.execute(
                "UPDATE turns SET launches = launches + 1, launched_at = ? WHERE session = ? AND n = ?"
                " AND status = 'queued' AND (launched_at IS NULL OR launched_at NOT BETWEEN ? AND ?)"
                " RETURNING launches - 1 AS before",
                (now, session_id, n, now - patience_ms, now),
            ).fetchone()
        return None if row is None else int(row["before"])

    def keep(self, settings: Mapping[str, int]) -> None:
        """Store settings for runners, which never read the settings file."""
        known = {row["name"]: row["value"] for row in self.database.rows("SELECT name, value FROM settings")}
        changed = [(name, value) for name, value in settings.items() if known.get(name) != value]
        if not changed:
            return
        with self.database.transaction() as db:
            db.executemany("INSERT OR REPLACE INTO settings (name, value) VALUES (?, ?)", changed)
            if "wakes" in dict(changed):  # it decides for whom the ends of workers are
                db.execute("UPDATE sessions SET seq = seq WHERE lifecycle <> 'detached'")

    def kept(self, name: str) -> int | None:
        """Return a stored setting; None if it was never stored."""
        return self.database.value("SELECT value FROM settings WHERE name = ?", (name,))

    def escalate(self) -> list[str]:
        """Record the workers whose leads did not answer in time, so that they count for the user; return their ids."""
        due = (
            "FROM sessions WHERE escalates_at IS NOT NULL AND NOT escalated"
            " AND (escalates_at <= ? OR escalates_at > ? + (SELECT value FROM settings WHERE name = 'escalate_ms'))"
        )  # the second: the clock went back
        times = (now_ms(),) * 2
        if not self.database.rows(f"SELECT 1 {due} LIMIT 1", times):
            return []
        with self.database.transaction() as db:
            ids = [row["id"] for row in db.execute(f"SELECT id {due}", times)]
            db.executemany("UPDATE sessions SET escalated = 1 WHERE id = ?", [(one,) for one in ids])
        return ids

    def take_places(self, host: str) -> Places:
        """Return the queued turns that may start now; each goes to one caller.

        A session takes no place while a turn that was requested from inside it is queued or runs.  The session waits
        for that turn; if all places were taken by such sessions, none could ever continue.  A turn that does not fit
        into the budget of a day or a week waits, and holds up no other.
        """
        if not self.database.rows("SELECT 1 FROM turns WHERE status = 'queued' AND launches = 0 LIMIT 1"):
            return Places(taken=[])
        now = now_ms()
        with self.database.transaction() as db:
            places = db.execute("SELECT value FROM settings WHERE name = 'max_running'").fetchone()
            busy = db.execute(_BUSY, (host,)).fetchone()[0]
            waiting = db.execute(_WAITING, (host,)).fetchall()
            free = max(0, places["value"] - busy) if places else len(waiting)
            chosen: list[sqlite3.Row] = []
            due: dict[str, int] = {}
            admission = PeriodAdmission(db)
            for row in waiting:
                held = admission.admit(row["session"], row["n"]) if len(chosen) < free else None
                if held is not None:
                    due[row["session"]] = held.due_at
                    _note(db, row["session"], waits_words(held.lacking), now)
                elif len(chosen) < free:
                    chosen.append(row)
                    db.execute(
                        "UPDATE turns SET launches = 1, launched_at = ? WHERE session = ? AND n = ?",
                        (now, row["session"], row["n"]),
                    )
            reason = f"queued: {busy + len(chosen)} of {places['value'] if places else 0} slots in use"
            for row in waiting:
                if row not in chosen and row["session"] not in due:
                    _note(db, row["session"], reason, now)
            waits = _begin_wait(db, due, now)
        return Places(taken=[(row["session"], row["n"]) for row in chosen], waits=waits)

    def give_place_back(self, session_id: str, n: int) -> None:
        """Release the place of a turn for which no runner could be started."""
        self.database.run(
            "UPDATE turns SET launches = 0, launched_at = NULL WHERE session = ? AND n = ? AND status = 'queued'",
            (session_id, n),
        )

    def cancel_queued(
        self,
        session_id: str,
        n: int,
        status: Status,
        reason: str,
        rule: str,
        *,
        by: str | None = None,
        again: bool = False,
    ) -> bool:
        """End a turn that no runner has taken; False if a runner took it first.

        ``by`` names who requested it; None if it was not requested.  ``again``: its prompt returns to the queue.
        """
        now = now_ms()
        with self.database.transaction() as db:
            changed = db.execute(
                "UPDATE turns SET status = ?, reason = ?, rule = ?, ended_at = ?, stop_by = ?, stop_requested_at = ?"
                " WHERE session = ? AND n = ? AND status = 'queued'",
                (status, reason, rule, now, by, now if by else None, session_id, n),
            ).rowcount
            if changed:
                give_up(db, session_id)
                db.execute("UPDATE prompts SET state = 'unsent' WHERE session = ? AND turn = ?", (session_id, n))
                db.execute(
                    "UPDATE sessions SET status = ?, reason = ?, ended_at = ?, updated_at = ?"
                    " WHERE id = ? AND turn = ?",
                    (status, reason, now, now, session_id, n),
                )
                if again or status is Status.FAILED:
                    put_back(db, session_id, n, always=again)  # no agent was started: nothing can have seen it
                hold_after(db, session_id, n, status, by_user=by is not None)
                note_end(db, session_id)
        return bool(changed)

    def request(self, session_id: str, turn: int, kind: str, asked_by: str) -> int:
        """Record a request to the runner of a turn; return the request's number."""
        with self.database.transaction() as db:
            row = db.execute(
                "INSERT INTO requests (session, turn, kind, asked_by, created_at) VALUES (?, ?, ?, ?, ?) RETURNING id",
                (session_id, turn, kind, asked_by, now_ms()),
            ).fetchone()
        return int(row["id"])

    def answer_old(self, has_runner: Callable[[str], bool]) -> None:
        """Answer the requests that no runner will: the turn has ended, and the process that waited is gone.

        Args:
            has_runner: whether the runner of a session lives, which answers by itself.
        """
        rows = self.database.rows(
            "SELECT requests.id, requests.session, turns.status FROM requests"
            " JOIN turns ON turns.session = requests.session AND turns.n = requests.turn"
            " WHERE done_at IS NULL AND requests.created_at < ?",
            (now_ms() - PATIENCE_MS,),
        )
        for row in rows:
            status = Status(row["status"])
            if status.ended and not has_runner(row["session"]):
                self.database.run(
                    "UPDATE requests SET done_at = ?, receipt = ? WHERE id = ? AND done_at IS NULL",
                    (
                        now_ms(),
                        dump(Receipt(session=row["session"], status=status, note="the turn had ended")),
                        row["id"],
                    ),
                )

    def request_close(self, session: Session, asked_by: str) -> None:
        """Request that the live agent of a session is closed, unless it began to serve another turn."""
        self.database.run(
            "INSERT INTO requests (session, turn, kind, asked_by, created_at) SELECT id, turn, 'close', ?, ?"
            " FROM sessions WHERE id = ? AND turn = ? AND warm_since IS NOT NULL",
            (asked_by, now_ms(), session.id, session.turn),
        )

    def delete(self, session_id: str, turn: int, *, archived: bool = True, holder: str = "") -> bool:
        """Remove an ended session's rows; False if a new turn started first or the session is gone.

        Without ``archived``, also False if the session is archived.  Also False if a user has taken it over, unless
        ``holder`` is the ``run_id`` of that user.
        """
        with self.database.transaction() as db:
            above = above_of(db, session_id)
            changed = db.execute(
                f"DELETE FROM sessions WHERE id = ? AND turn = ? AND status IN ({ENDED_ONES})"  # noqa: S608
                f" AND {_FREE} AND (? OR archived_at IS NULL)",
                (session_id, turn, dump([holder]), archived),
            ).rowcount
            if changed:
                db.execute("DELETE FROM requests WHERE session = ?", (session_id,))
                hand_up(db, session_id, *above)
                touch_children(db, session_id)
        return bool(changed)

    def archive(self, session_id: str, at: int | None, *, holder: str = "") -> bool:
        """Archive an ended session (``at``: UTC ms) or take it out of the archive (None); False if it has not ended.

        Also False if a user has taken it over, unless ``holder`` is the ``run_id`` of that user.
        """
        return self.database.run(
            f"UPDATE sessions SET archived_at = ? WHERE id = ? AND status NOT IN ({OPEN})"  # noqa: S608
            f" AND ({_FREE} OR ? IS NULL)",
            (at, session_id, dump([holder]), at),
        )

    def archive_all(self, session_ids: Iterable[str], at: int | None, *, holders: Iterable[str] = ()) -> list[str]:
        """Archive ended sessions (``at``: UTC ms), or take them out of the archive (None).

        Args:
            at: the time, or None.
            holders: the ``run_id`` of each user whose takeover does not prevent it.

        Returns:
            The ids of the sessions that changed; those that have not ended or were already there are left out.
        """
        changed, gone = [], dump(list(holders))
        with self.database.transaction() as db:
            for session_id in session_ids:
                cursor = db.execute(
                    f"UPDATE sessions SET archived_at = ? WHERE id = ? AND status NOT IN ({OPEN})"  # noqa: S608
                    f" AND (archived_at IS NULL) <> (? IS NULL) AND ({_FREE} OR ? IS NULL)",
                    (at, session_id, at, gone, at),
                )
                changed += [session_id] if cursor.rowcount else []
        return changed

    def rename(self, session_id: str, title: str) -> bool:
        """Give a session a new title; False if it is gone.  A new title needs no attention."""
        return self.database.run("UPDATE sessions SET title = ? WHERE id = ?", (title, session_id))

    def set_budget(self, session_id: str, budget: Budget) -> bool:
        """Set the budget of a session; without tokens and money it has none.  False if the session is gone."""
        stored = dump(budget) if budget != Budget() else None
        return self.database.run("UPDATE sessions SET budget = ? WHERE id = ?", (stored, session_id))

    def pin(self, session_id: str, at: int | None) -> bool:
        """Pin a session (``at``: UTC ms; an earlier time stays), or unpin it (None); False if it is gone."""
        return self.database.run(
            "UPDATE sessions SET pinned_at = CASE WHEN ? IS NULL THEN NULL ELSE COALESCE(pinned_at, ?) END"
            " WHERE id = ?",
            (at, at, session_id),
        )

    def count_left(self, session_id: str, left: int, note: str | None) -> None:
        """Correct the number of processes that an ended session has left, if its runner is gone."""
        self.database.run(
            f"UPDATE sessions SET left = ?, left_note = ? WHERE id = ? AND left <> ? AND status NOT IN ({OPEN})",  # noqa: S608
            (left, note, session_id, left),
        )

    def mark_seen(self, session_id: str, steps: int | None = None) -> None:
        """Record that the user has seen ``steps`` steps (default: all), capped at the number recorded.

        The number never decreases.
        """
        self.database.run(
            "INSERT INTO seen (session, at, steps)"
            " SELECT id, ?, MIN(COALESCE(?, steps), steps) FROM sessions WHERE id = ?"
            " ON CONFLICT (session) DO UPDATE SET at = excluded.at,"
            " steps = MAX(COALESCE(seen.steps, 0), excluded.steps)",
            (now_ms(), steps, session_id),
        )

    def mark_all_seen(self, session_ids: Iterable[str]) -> None:
        """Record in one transaction that the user has seen all steps of these sessions."""
        with self.database.transaction() as db:
            db.executemany(ALL_SEEN, [(now_ms(), session_id) for session_id in session_ids])

    def mark_handled(self, session_id: str) -> None:
        """Record that the user dealt with the end of a session; the steps that are read stay the same."""
        self.database.run(
            "INSERT INTO seen (session, at, steps, handled_at) SELECT id, created_at, 0, ? FROM sessions WHERE id = ?"
            " ON CONFLICT (session) DO UPDATE SET handled_at = excluded.handled_at",
            (now_ms(), session_id),
        )

    def recall_seen(self, seen: Mapping[str, tuple[int | None, int | None, int | None]]) -> None:
        """Record again in one transaction when the user saw sessions (UTC ms), how many of their steps, and dealt
        with their ends (UTC ms)."""
        with self.database.transaction() as db:
            db.executemany("DELETE FROM seen WHERE session = ?", [(key,) for key in seen])
            db.executemany(
                "INSERT INTO seen (session, at, steps, handled_at) SELECT id, ?, ?, ? FROM sessions WHERE id = ?",
                [(at, steps, handled, key) for key, (at, steps, handled) in seen.items() if at is not None],
            )

    def mark_all_unseen(self, session_ids: Iterable[str]) -> None:
        """Record in one transaction that the user has not seen how these sessions ended; their steps stay read."""
        with self.database.transaction() as db:
            db.executemany(
                "UPDATE seen SET at = 0, handled_at = NULL WHERE session = ?", [(key,) for key in session_ids]
            )


def touch_children(db: sqlite3.Connection, session_id: str) -> None:
    """Put a session's children into the change feed: their parent is gone, or back."""
    db.execute("UPDATE sessions SET seq = seq WHERE parent = ?", (session_id,))


def _note(db: sqlite3.Connection, session_id: str, reason: str, now: int) -> None:
    """Record why a queued session waits."""
    db.execute(
        "UPDATE sessions SET reason = ?, updated_at = ? WHERE id = ? AND reason IS NOT ?",
        (reason, now, session_id, reason),
    )


def _begin_wait(db: sqlite3.Connection, due: Mapping[str, int], now: int) -> tuple[str, int] | None:
    """Return the session and the time for which the caller has a process wait; None if one waits for that time."""
    if not due:
        return None
    session, at = min(due.items(), key=lambda one: one[1])
    row = db.execute("SELECT value FROM settings WHERE name = 'budgets_due'").fetchone()
    if row is not None and now < row["value"] <= at:
        return None
    db.execute("INSERT OR REPLACE INTO settings (name, value) VALUES ('budgets_due', ?)", (at,))
    return session, at
