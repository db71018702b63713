"""The rows of costs that are computed again: reports, their sums, the turns and the sessions that show them.

A batch of turns is one transaction, in which the costs are computed from the rows as they then are: runners and front
ends see the earlier costs or the new ones, and never wait long.
"""

import sqlite3
from collections.abc import Iterator, Sequence

from msgspec import Struct

from agentdash.sessions.model.session import ENDED
from agentdash.sessions.model.usage import known_sum
from agentdash.sessions.rules.costs.reports import RECORD, Report
from agentdash.sessions.rules.costs.repricing import Estimates, KeptReport, Repricing, TurnCost
from agentdash.sessions.storage.database import DatabasePart
from agentdash.sessions.storage.rows import OPEN, struct_from, usage_from
from agentdash.sessions.storage.use.report_log import ADD_UP

MOST_TURNS = 100
MOST_REPORTS = 2_000
"""The bounds of a batch; a turn with more reports is a batch of its own."""

_ENDED = frozenset(str(status) for status in ENDED)
_CANDIDATES = (
    "SELECT session, turn, (SELECT count(*) FROM reports AS r WHERE r.session = c.session AND r.turn = c.turn) AS n"
    " FROM reports AS c WHERE counted AND kind <> 'thread' AND reported_usd IS NULL"
    " AND (?1 OR computed_usd IS NULL) GROUP BY session, turn HAVING max(at) >= ?2 ORDER BY session, turn"
)
_MODELS = (
    "SELECT model FROM (SELECT model FROM reports UNION SELECT model FROM sessions UNION SELECT model FROM tombstones)"
    " WHERE model IS NOT NULL ORDER BY model"
)
_MODEL = "SELECT model FROM sessions WHERE id = ?1 UNION ALL SELECT model FROM tombstones WHERE session = ?1"
_REPORTS = "SELECT * FROM reports WHERE session = ? AND turn = ? AND kind <> 'thread' ORDER BY source, key"
_ESTIMATES = "SELECT cost_about_usd FROM turns WHERE session = ?"
_OF_DELETED = (  # the turns' own sums stay when the session is deleted
    "SELECT turn, computed_usd AS cost_about_usd FROM reports WHERE session = ? AND source = 'record'"
)
_LACKING = "(SELECT count(DISTINCT turn) FROM use_sums WHERE session = ?2 AND missing)"
_BASE = (
    "UPDATE shares SET base_cost_usd = (SELECT total(earlier.cost_usd) + total(earlier.cost_about_usd) FROM turns"  # noqa: S608
    " AS earlier WHERE earlier.session = shares.session AND earlier.n < shares.turn)"
    f" WHERE session = ?1 AND turn IN (SELECT n FROM turns WHERE session = ?1 AND status IN ({OPEN}))"
)
"""Sets the money that a session had spent before its open turn: else the turn's reservation would shrink by it."""


class TurnRef(Struct, frozen=True):
    """A turn, by its session and number."""

    session: str
    n: int


class Computed(Struct, frozen=True, kw_only=True):
    """The result for one turn."""

    turn: TurnRef
    cost: TurnCost
    ended: bool

    @property
    def changes(self) -> bool:
        """True if the rows of the turn change."""
        return self.ended and bool(self.cost.reports)


class RepricedRows(DatabasePart):
    """Reads the costs that can be computed again, and writes them."""

    def models(self) -> list[str]:
        """Return the names of all models that sessions used."""
        return [row["model"] for row in self._database.rows(_MODELS)]

    def batches(self, since: int, *, every: bool) -> Iterator[list[TurnRef]]:
        """Yield the turns with a cost that is not known, or with ``every`` also those with a computed one.

        Args:
            since: the time (UTC ms) before which a turn's last such report is left out.
        """
        batch: list[TurnRef] = []
        reports = 0
        for row in self._database.rows(_CANDIDATES, (every, since)):
            if batch and (len(batch) >= MOST_TURNS or reports + row["n"] > MOST_REPORTS):
                yield batch
                batch, reports = [], 0
            batch.append(TurnRef(row["session"], row["turn"]))
            reports += row["n"]
        if batch:
            yield batch

    def computed(self, turns: Sequence[TurnRef], repricing: Repricing) -> list[Computed]:
        """Compute the costs of turns; nothing is written."""
        with self._database.snapshot():
            return [self._computed(turn, repricing) for turn in turns]

    def write(self, turns: Sequence[TurnRef], repricing: Repricing) -> list[Computed]:
        """Compute the costs of turns and write those that change, in one transaction."""
        with self._database.transaction() as db:
            found = [self._computed(turn, repricing) for turn in turns]
            for one in found:
                if one.changes:
                    _write_turn(db, one)
            for session in dict.fromkeys(one.turn.session for one in found if one.changes):
                _add_up(db, session)
        return found

    def at_work(self, session: str) -> bool:
        """Return whether a turn of the session has not ended."""
        return bool(
            self._database.rows(f"SELECT 1 FROM turns WHERE session = ? AND status IN ({OPEN})", (session,))  # noqa: S608
        )

    def estimates(self, session: str) -> Estimates | None:
        """Return the estimated costs of a deleted session and its turns; None if it has no tombstone."""
        with self._database.snapshot():
            turns = self._database.rows(_OF_DELETED, (session,))
            found = self._database.rows(
                "SELECT cost_about_usd, cost_missing FROM tombstones WHERE session = ?", (session,)
            )
        if not found:
            return None
        return Estimates(
            turns={row["turn"]: row["cost_about_usd"] for row in turns},
            whole=found[0]["cost_about_usd"],
            missing=found[0]["cost_missing"],
        )

    def _computed(self, turn: TurnRef, repricing: Repricing) -> Computed:
        status = self._database.rows("SELECT status FROM turns WHERE session = ? AND n = ?", (turn.session, turn.n))
        models = self._database.rows(_MODEL, (turn.session,))
        model = models[0]["model"] if models else None
        kept = [_kept(row, model) for row in self._database.rows(_REPORTS, (turn.session, turn.n))]
        # A session without rows was deleted, which only an ended one can be.
        return Computed(turn=turn, cost=repricing.turn(kept), ended=not status or status[0]["status"] in _ENDED)


def _write_turn(db: sqlite3.Connection, computed: Computed) -> None:
    """Write the costs of a turn; a trigger writes its own sum with the session's model, so the reports come after."""
    turn, cost = (computed.turn.session, computed.turn.n), computed.cost
    if cost.about_usd is not None:
        db.execute("UPDATE turns SET cost_about_usd = ? WHERE session = ? AND n = ?", (cost.about_usd, *turn))
    db.executemany(
        "UPDATE reports SET model = ?, computed_usd = ?, price = ?, price_as_of = ?"
        " WHERE session = ? AND turn = ? AND source = ? AND key = ?",
        [(one.model, one.computed_usd, one.price, one.price_as_of, *turn, one.source, one.key) for one in cost.reports],
    )
    db.execute("DELETE FROM use_sums WHERE session = ? AND turn = ?", turn)
    db.execute(ADD_UP, turn)


def _add_up(db: sqlite3.Connection, session: str) -> None:
    """Write the sum of a session, or of the tombstone of a deleted one.

    A trigger counts the turns of a session that have no complete cost.
    """
    there = db.execute("SELECT 1 FROM sessions WHERE id = ?", (session,)).fetchone() is not None
    rows = db.execute(_ESTIMATES if there else _OF_DELETED, (session,)).fetchall()
    about = known_sum(*(row["cost_about_usd"] for row in rows))
    if there:
        db.execute("UPDATE sessions SET cost_about_usd = ? WHERE id = ?", (about, session))
        db.execute(_BASE, (session,))
    else:
        sql = f"UPDATE tombstones SET cost_about_usd = ?1, cost_missing = {_LACKING} WHERE session = ?2"  # noqa: S608
        db.execute(sql, (about, session))


def _kept(row: sqlite3.Row, model: str | None) -> KeptReport:
    """Return a recorded report; a turn's own sum that names no model has that of its session."""
    report = struct_from(
        Report,
        row,
        kind="call" if row["kind"] == "call" else "turn",
        model=model if row["model"] is None and row["source"] == RECORD else row["model"],
        usage=usage_from(row),
        written_1h=row["cache_write_1h_tokens"],
    )
    return KeptReport(report=report, counted=bool(row["counted"]))
