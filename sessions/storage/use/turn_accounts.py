"""A turn's own tokens and cost, of the sums that agents report over several turns of a conversation."""

import sqlite3
from functools import cached_property

from agentdash.sessions.model.session import Usage
from agentdash.sessions.rules.costs.reports import Base, Report, cost_before
from agentdash.sessions.rules.launch import Fork
from agentdash.sessions.rules.turn_facts import Facts
from agentdash.sessions.storage.database import Database
from agentdash.sessions.storage.rows import launch_from, load, struct_from, usage_from

_NAME_CHARACTERS = 200


def name_of(agent_session: str | None) -> str | None:
    """Return an id that fits into the argv of a later start; None for a longer text, which is not a valid id."""
    return agent_session if agent_session is None or len(agent_session) <= _NAME_CHARACTERS else None


class TurnAccounts:
    """The tokens and the cost of one turn."""

    def __init__(self, database: Database, session_id: str, n: int) -> None:
        self._database = database
        self._session = session_id
        self._n = n

    def cost(self, db: sqlite3.Connection, facts: Facts) -> float | None:
        """Return this turn's own cost: a running total minus the part of it that was there before the turn."""
        if facts.cost_usd is not None or facts.running_cost_usd is None:
            return facts.cost_usd
        base = self.base(db, facts)
        if base.certain or base.totals:
            return facts.running_cost_usd - cost_before(facts.running_cost_usd, base)
        before = self._earlier_cost(db, facts.agent_session)  # after a rebuild, which finds no reports
        return facts.running_cost_usd - (before if before is not None and before <= facts.running_cost_usd else 0.0)

    def usage(self, db: sqlite3.Connection, facts: Facts) -> Usage:
        """Return this turn's own tokens: the cumulative counts minus those that the same thread reported before.

        If no earlier turn of agentdash reported any, subtract the thread's tokens at the beginning of the turn: the
        session continues a conversation that ran elsewhere.
        If the turn was also measured on its own, return the larger number: that measurement saw more.  A count that
        did not grow is not the sum 0: a call that failed has used what codex does not report.
        """
        if not facts.thread_usage.known:
            return facts.usage
        before = self._counted_before(db, facts.agent_session)
        rest = facts.thread_usage.minus(before if before.known else facts.thread_before)
        if rest.total_tokens == 0:
            return facts.usage
        return facts.usage if (facts.usage.total_tokens or 0) > (rest.total_tokens or 0) else rest

    def base(self, db: sqlite3.Connection, facts: Facts) -> Base:
        """Return claude's running totals that were there before this turn.

        Those of an earlier turn of the same process are certain.  A new process begins with none, or with those that
        its version finds in the transcript.  If the transcript or the version is not known, they may be those of the
        newest earlier turn of the conversation.
        """
        # Totals of conversations begin with none in a new one in the same process (``/clear``).
        own = name_of(facts.agent_session) if facts.total_counts == "conversation" else None
        earlier = self._of_process(db, own)
        if earlier or facts.total_counts == "process":
            return Base(totals=_totals(earlier), certain=True)
        if facts.total_before is not None:
            return Base(totals=facts.total_before, certain=facts.total_counts is not None)
        return Base(totals=_totals(self._of_conversation(db, facts.agent_session)), certain=False)

    def _of_process(self, db: sqlite3.Connection, conversation: str | None) -> list[sqlite3.Row]:
        """Return the running totals of the newest earlier turn of the process (of one conversation if given)."""
        own = "(SELECT coalesce(stream, n) FROM turns WHERE session = ?1 AND n = ?2 + 1)"
        of = f"coalesce(turns.stream, turns.n) = {own} AND (?3 IS NULL OR turns.agent_session = ?3)"
        return _running(db, self._session, self._n - 1, conversation, of)

    def _of_conversation(self, db: sqlite3.Connection, conversation: str | None) -> list[sqlite3.Row]:
        rows = _running(db, self._session, self._n - 1, conversation)
        if rows or self._origin is None:
            return rows
        fork, forked = self._origin
        return _running(db, fork.session, _last_of_ended_process(db, fork.session), forked)

    def _counted_before(self, db: sqlite3.Connection, agent_session: str | None) -> Usage:
        """Return the tokens of the thread that earlier turns have counted; unknown if none reported the thread's.

        If no turn of this conversation did, those of the conversation of which it is a fork, up to the place of the
        fork: codex 0.169.0 counts on from there.
        """
        own = _counted(db, self._session, self._n - 1, agent_session)
        if own.known or self._origin is None:
            return own
        fork, forked = self._origin
        return _counted(db, fork.session, fork.turn, forked)

    def _earlier_cost(self, db: sqlite3.Connection, agent_session: str | None) -> float | None:
        """Return the newest running total of the cost in earlier turns of the same conversation; None if none has one.

        If there is none, that of the conversation of which this turn's is a fork: claude 2.1.330 counts on from the
        last turn of a process that has ended, because it records its total when its process ends.
        """
        own = _running_cost(db, self._session, self._n - 1, agent_session)
        if own is not None or self._origin is None:
            return own
        fork, forked = self._origin
        return _running_cost(db, fork.session, _last_of_ended_process(db, fork.session), forked)

    @cached_property
    def _origin(self) -> tuple[Fork, str | None] | None:
        """The place and the conversation that the turn forks; None if it forks none.  It is read once."""
        rows = self._database.rows("SELECT launch FROM turns WHERE session = ? AND n = ?", (self._session, self._n))
        launch = launch_from(rows[0]) if rows else None
        return (launch.fork, launch.conversation) if launch is not None and launch.fork is not None else None


def _running(
    db: sqlite3.Connection, session: str, newest: int, conversation: str | None, of: str = "turns.agent_session = ?3"
) -> list[sqlite3.Row]:
    """Return the running totals of the newest turn with some, up to a number, that fits a condition."""
    return db.execute(
        "SELECT * FROM reports WHERE session = ?1 AND source = 'running' AND turn = (SELECT max(reports.turn)"  # noqa: S608
        " FROM reports JOIN turns ON turns.session = reports.session AND turns.n = reports.turn"
        f" WHERE reports.session = ?1 AND reports.source = 'running' AND reports.turn <= ?2 AND {of})",
        (session, newest, name_of(conversation)),
    ).fetchall()


def _counted(db: sqlite3.Connection, session: str, newest: int, conversation: str | None) -> Usage:
    """Return the newest total of a thread, and what turns after it used that reported none: turns that failed."""
    since = Usage()
    for row in db.execute(
        "SELECT thread_usage, usage FROM turns WHERE session = ? AND n <= ? AND agent_session = ? ORDER BY n DESC",
        (session, newest, name_of(conversation)),
    ):
        total = load(row["thread_usage"], Usage)
        if total is not None and total.known:
            return total.plus(since)
        since = since.plus(load(row["usage"], Usage) or Usage())
    return Usage()


def _running_cost(db: sqlite3.Connection, session: str, newest: int, conversation: str | None) -> float | None:
    row = db.execute(
        "SELECT running_cost_usd FROM turns WHERE session = ? AND n <= ? AND agent_session = ?"
        " AND running_cost_usd IS NOT NULL ORDER BY n DESC LIMIT 1",
        (session, newest, name_of(conversation)),
    ).fetchone()
    return row["running_cost_usd"] if row is not None else None


def _totals(rows: list[sqlite3.Row]) -> list[Report]:
    return [
        struct_from(Report, row, kind="thread", usage=usage_from(row), written_1h=row["cache_write_1h_tokens"])
        for row in rows
    ]


def _last_of_ended_process(db: sqlite3.Connection, session_id: str) -> int:
    """Return the number of the last turn of a session whose process has ended; 0 if there is none."""
    row = db.execute(
        "SELECT max(n) AS n FROM turns WHERE session = :id AND COALESCE(stream, n) NOT IN"
        " (SELECT COALESCE(newest.stream, newest.n) FROM turns AS newest JOIN sessions ON sessions.id = newest.session"
        " WHERE newest.session = :id AND newest.n = sessions.turn"
        " AND (warm_since IS NOT NULL OR sessions.ended_at IS NULL))",
        {"id": session_id},
    ).fetchone()
    return row["n"] or 0
