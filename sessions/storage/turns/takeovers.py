"""The rows about sessions that the user has taken over: the holder, and afterwards the turn by hand and its mark.

Only the process that holds the session's lock writes here.  Each method is one transaction.
"""

import sqlite3

from msgspec import Struct

from agentdash.sessions.model.clock import now_ms
from agentdash.sessions.model.session import Left, Status, TakenBy, left_text
from agentdash.sessions.model.taken_by import BY_HAND, HAND
from agentdash.sessions.rules.conversation.marks import Mark, MarkKind
from agentdash.sessions.rules.launch import Command, Launch, plan_like
from agentdash.sessions.rules.turn_facts import Facts
from agentdash.sessions.storage.marks import add_mark
from agentdash.sessions.storage.prompts.new_turn import take
from agentdash.sessions.storage.prompts.queued_prompt import UNDER_WAY, Build
from agentdash.sessions.storage.rows import ENDED_ONES, dump
from agentdash.sessions.storage.store import ALL_SEEN, Store
from agentdash.sessions.storage.turns.claim import Owner
from agentdash.sessions.storage.turns.turn_log import TurnLog


class ByHand(Struct, frozen=True, kw_only=True):
    """The result of a takeover."""

    session: str
    turn: int | None = None
    """The turn with what was said by hand; None if nothing was said by hand, or it cannot be read."""
    prompts: int = 0
    seconds: float
    """The time for which the interface was open."""
    reason: str | None = None
    """One line: why what was said by hand is not recorded, or not all of it; None if all is."""
    exit_code: int | None = None
    """The exit code of the interface; None if this process did not wait for it."""


class Slice(Struct, frozen=True, kw_only=True):
    """The content of a turn by hand, as it was read from its file."""

    facts: Facts
    steps: int
    left: tuple[Left, ...] = ()


class Takeovers:
    """The sessions that users have taken over, in a database."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._database = store.database

    def take(self, session_id: str, taken: TakenBy) -> bool:
        """Record the holder of a session; False if it began another turn, was archived, deleted or taken first."""
        return self._database.run(
            "UPDATE sessions SET taken_by = ? WHERE id = ? AND turn = ? AND taken_by IS NULL"  # noqa: S608
            f" AND status IN ({ENDED_ONES}) AND archived_at IS NULL AND warm_since IS NULL"
            f" AND NOT EXISTS (SELECT 1 FROM queue WHERE session = sessions.id AND {UNDER_WAY})",
            (dump(taken), session_id, taken.turn),
        )

    def update(self, session_id: str, taken: TakenBy) -> bool:
        """Record more of the same holder: its process, or the conversation that it shows; False if it is not taken."""
        return self._database.run(
            "UPDATE sessions SET taken_by = ? WHERE id = ? AND json_extract(taken_by, '$.run_id') = ?",
            (dump(taken), session_id, taken.run_id),
        )

    def finish(
        self, session_id: str, taken: TakenBy, done: ByHand, content: Slice | None, owner: Owner, build: Build
    ) -> bool:
        """Record the turn by hand, the mark and that the session is free; then its queue goes on.

        Args:
            done: what happened; its turn is the next one of the session.
            content: the content of that turn; None if there is none.
            build: makes the start of the queue's next turn.

        Returns:
            False if another process recorded it, or the session was deleted.
        """
        now = now_ms()
        with self._database.transaction() as db:
            freed = db.execute(
                "UPDATE sessions SET taken_by = NULL WHERE id = ? AND turn = ?"
                " AND json_extract(taken_by, '$.run_id') = ?",
                (session_id, taken.turn, taken.run_id),
            ).rowcount
            if not freed:
                return False
            if content is not None and done.turn is not None:
                self._insert(db, session_id, taken, done.turn, content, owner, now)
            if done.turn is not None or done.reason is not None:
                reason = {"reason": done.reason} if done.reason is not None else {}
                data = {"prompts": done.prompts, "seconds": round(done.seconds, 1), **reason}
                mark = Mark(
                    id=0, session=session_id, kind=MarkKind.TAKEOVER, after=taken.turn, turn=done.turn, data=data,
                    asked_by=taken.user, at=now,
                )  # fmt: skip
                add_mark(db, mark)
            take(db, session_id, build)
        return True

    def _insert(
        self, db: sqlite3.Connection, session_id: str, taken: TakenBy, n: int, content: Slice, owner: Owner, now: int
    ) -> None:
        """Insert the turn by hand, as done and as seen: the user was there."""
        # The record of the interface's start; the settings of the turn before stay those of the session.
        usual = self._store.launch(session_id, taken.turn) or Launch(argv=taken.argv)
        by_hand = Command(argv=taken.argv, env=usual.env, model=usual.model, transport=BY_HAND)
        launch = plan_like(usual).on(warnings=()).launch(by_hand)
        db.execute(
            "INSERT INTO turns (session, n, status, rule, run_id, launch, launches, launched_at, created_at,"
            " started_at, ended_at, duration_ms, boot_id, pid_ns, asked_by, left)"
            " VALUES (?, ?, 'done', 'by hand', ?, ?, 1, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                session_id, n, taken.run_id, dump(launch), taken.since, taken.since, taken.since, now,
                max(0, now - taken.since), owner.boot_id, owner.pid_ns, HAND, dump(content.left),
            ),
        )  # fmt: skip
        db.execute(
            "UPDATE sessions SET status = ?, reason = NULL, turn = ?, exit_code = NULL, signal = NULL, started_at = ?,"
            " ended_at = ?, last_event_at = ?, stuck = NULL, stuck_at = NULL, denied = 0, asks = NULL,"
            " activity = NULL, plan = NULL, mode = NULL, left = ?, left_note = ?, updated_at = ? WHERE id = ?",
            (
                Status.DONE, n, taken.since, now, now, len(content.left), left_text(content.left), now, session_id,
            ),
        )  # fmt: skip
        content.facts.cost_usd = _cost(db, session_id, content.facts)
        TurnLog(self._store, session_id, n, owner).write_facts(db, content.facts, content.steps)
        db.execute(ALL_SEEN, (now, session_id))


def _cost(db: sqlite3.Connection, session_id: str, facts: Facts) -> float | None:
    """Return the cost of what was said by hand: the total of the conversation minus that of the turns before.

    The total of claude 2.1.330 counts the whole conversation; 2.1.197 records none in its transcript.
    """
    total = facts.running_cost_usd
    if total is None:
        return facts.cost_usd
    row = db.execute(
        "SELECT COALESCE(MAX(running_cost_usd), SUM(cost_usd), 0.0) AS cost FROM turns"
        " WHERE session = ? AND agent_session = ?",
        (session_id, facts.agent_session),
    ).fetchone()
    return total - row["cost"] if row["cost"] <= total else total
