"""The rows of reports: written with the other facts of their turn, in the same transaction.

Of each turn the reports of one source count; their sums are kept by quarters of an hour, so that a year of use can be
added up for a screen.
"""

import sqlite3
from collections.abc import Iterable

from msgspec import Struct

from agentdash.sessions.model.clock import now_ms
from agentdash.sessions.model.usage import Usage
from agentdash.sessions.rules.costs import reports
from agentdash.sessions.rules.turn_facts import Facts
from agentdash.sessions.storage.rows import USAGE_COLUMNS, usage_from
from agentdash.sessions.storage.use.turn_accounts import TurnAccounts

_GREATEST = 1 << 62

_SUMS = f"""SELECT source, {", ".join(f"sum({name}) AS {name}" for name in USAGE_COLUMNS)},
    sum(reported_usd) AS reported, sum(computed_usd) AS computed,
    sum(reported_usd IS NULL AND computed_usd IS NULL AND key <> '') AS missing
    FROM reports WHERE session = ? AND turn = ? AND kind <> 'thread' AND source <> 'record' GROUP BY source"""  # noqa: S608
"""The sums of each source; a report without figures (key '') takes away no cost of the others."""

_HAS_RUNNING = "SELECT 1 FROM reports WHERE session = ? AND turn = ? AND source = 'running'"

_ADD_MESSAGES = """INSERT INTO reports (session, turn, source, key, kind, at, model, input_tokens,
    cached_input_tokens, cache_write_tokens, cache_write_1h_tokens, output_tokens, reasoning_output_tokens,
    total_tokens, reported_usd, computed_usd, price, price_as_of)
    SELECT session, turn, 'transcript', key, kind, at, model, input_tokens, cached_input_tokens, cache_write_tokens,
    cache_write_1h_tokens, output_tokens, reasoning_output_tokens, total_tokens, reported_usd, computed_usd, price,
    price_as_of FROM reports WHERE session = ?1 AND turn = ?2 AND source = 'message' AND key NOT IN
    (SELECT key FROM reports WHERE session = ?1 AND turn = ?2 AND source = 'transcript')"""
"""Adds the messages that only the stream has to those of the transcript."""

_PRICED = "iif(total_tokens IS NULL, '-', coalesce(price_as_of, ''))"
"""The date of the price; ``-`` keeps reports without tokens apart from those that have tokens and no price."""

ADD_UP = f"""INSERT INTO use_sums SELECT session, turn, at / 900000, coalesce(model, ''), {_PRICED},
    sum(input_tokens), sum(cached_input_tokens), sum(cache_write_tokens), sum(output_tokens),
    sum(reasoning_output_tokens), sum(total_tokens), sum(reported_usd), sum(computed_usd),
    max(reported_usd IS NULL AND computed_usd IS NULL)
    FROM reports WHERE session = ?1 AND turn = ?2 AND counted
    GROUP BY at / 900000, coalesce(model, ''), {_PRICED}"""  # noqa: S608
"""Adds up the reports of turn ``?2`` of session ``?1`` that count."""


_COUNT_LACKING = """UPDATE sessions SET
    cost_missing = (SELECT count(DISTINCT turn) FROM use_sums WHERE session = sessions.id AND missing),
    tokens_missing = (SELECT count(DISTINCT turn) FROM use_sums WHERE session = sessions.id AND total_tokens IS NULL)
    WHERE id = ?1 AND EXISTS (SELECT 1 FROM use_sums WHERE session = ?1)"""


def count_lacking(db: sqlite3.Connection, session_id: str) -> None:
    """Count the turns of a restored session that lack a cost or tokens: its record can be older than its reports."""
    db.execute(_COUNT_LACKING, (session_id,))


class TurnUse(Struct, frozen=True, kw_only=True):
    """The tokens and the cost of a turn, from the source that counts."""

    source: str
    usage: Usage
    reported_usd: float | None = None
    computed_usd: float | None = None
    """The computed cost beyond the reported one; None if it is not complete."""


class ReportLog:
    """The reports of one turn.

    Args:
        accounts: the sums of earlier turns of the conversation.
    """

    def __init__(self, session_id: str, n: int, accounts: TurnAccounts) -> None:
        self._turn = (session_id, n)
        self._accounts = accounts

    def write(self, db: sqlite3.Connection, facts: Facts, record: TurnUse) -> TurnUse:
        """Write what was reported since the last time, and return what counts for the turn.

        Args:
            record: the turn's own sum, which counts if no finer source is complete.
        """
        reported = facts.reported
        if reported is None:
            return record
        if reported.pending:
            self._insert(db, reported.reports())
            self._insert_compactions(db, reported)
        sums = self._sums(db)
        running = [report for report in reported.reports() if report.source == reports.RUNNING]
        if running:
            result = usage_from(sums[reports.RESULT]) if reports.RESULT in sums else Usage()
            self._own_models(db, running, result, facts)
            sums = self._sums(db)
        source = reports.counted_source({name: usage_from(row) for name, row in sums.items()}, record.usage)
        if reported.broken_off and facts.unsummed:
            source = self._broken_off(db, compacted=facts.compacted is not None)
            sums = self._sums(db)
        elif reported.misses_call and source in (reports.CALL, reports.ROLLOUT):
            self._insert_rest(db, source)
        if source in sums:
            row = sums[source]
            computed = row["computed"] if not row["missing"] else None
            mixed = row["reported"] is not None and row["computed"] is None
            beyond = record.computed_usd if mixed else computed
            return TurnUse(source=source, usage=usage_from(row), reported_usd=row["reported"], computed_usd=beyond)
        if reports.MODELS not in sums and db.execute(_HAS_RUNNING, self._turn).fetchone() is not None:
            # The running totals did not grow: the cost that the agent reports is that of earlier turns.
            return TurnUse(source=source, usage=record.usage, reported_usd=0.0)
        if record.reported_usd is None and record.computed_usd is None and reports.MESSAGE in sums:
            row = sums[reports.MESSAGE]
            if not row["missing"]:
                return TurnUse(source=source, usage=record.usage, computed_usd=row["computed"])
        return record

    def count(self, db: sqlite3.Connection, facts: Facts, use: TurnUse) -> None:
        """Let the reports of one source count, and add them up; call this when the turn's own sum is written."""
        reported = facts.reported
        if reported is None:
            return
        changed = db.execute(
            "UPDATE reports SET counted = (source = ?3) WHERE session = ?1 AND turn = ?2 AND kind <> 'thread'"
            " AND counted <> (source = ?3)",
            (*self._turn, use.source),
        ).rowcount
        (model,) = db.execute("SELECT model FROM sessions WHERE id = ?", self._turn[:1]).fetchone() or (None,)
        model = facts.turn_model or model
        named = facts.turn_model or facts.model or model
        priced = reported.pricing.entry(named) if use.computed_usd is not None else None
        changed += db.execute(
            "UPDATE reports SET model = ?3, price = ?4, price_as_of = ?5"
            " WHERE session = ?1 AND turn = ?2 AND source = 'record'"
            " AND (model IS NOT ?3 OR price IS NOT ?4 OR price_as_of IS NOT ?5)",
            (*self._turn, model, *(priced or (None, None))),
        ).rowcount
        if changed or reported.pending:
            db.execute("DELETE FROM use_sums WHERE session = ? AND turn = ?", self._turn)
            db.execute(ADD_UP, self._turn)

    def _sums(self, db: sqlite3.Connection) -> dict[str, sqlite3.Row]:
        """Return the sums of each source."""
        return {row["source"]: row for row in db.execute(_SUMS, self._turn)}

    def _own_models(self, db: sqlite3.Connection, running: list[reports.Report], result: Usage, facts: Facts) -> None:
        """Write the turn's part of the running totals of claude's models."""
        own = reports.own_part(running, self._accounts.base(db, facts), result)
        db.execute("DELETE FROM reports WHERE session = ? AND turn = ? AND source = ?", (*self._turn, reports.MODELS))
        self._insert(db, map(facts.reported.pricing.priced, own) if facts.reported is not None else own)

    def _broken_off(self, db: sqlite3.Connection, *, compacted: bool) -> str:
        """Return the source that counts for a turn without a sum: the calls of the transcript, with all others known.

        A message that only the stream has counts as it was at its start, and something is missing.  So it is if the
        sums of the turn's results are more than its calls, or if the turn has compacted its conversation.
        """
        partly = bool(db.execute(_ADD_MESSAGES, self._turn).rowcount) or compacted
        totals = {name: row["total_tokens"] or 0 for name, row in self._sums(db).items()}
        more = totals.get(reports.MODELS, 0) > totals.get(reports.TRANSCRIPT, 0)
        source = reports.MODELS if more else reports.TRANSCRIPT
        if partly or more:
            self._insert_rest(db, source)
        return source

    def _insert_rest(self, db: sqlite3.Connection, source: str) -> None:
        """Write the report without figures that stands for the use that the others of a source lack."""
        newest = "SELECT model FROM reports WHERE session = ? AND turn = ? AND source = ? ORDER BY at DESC LIMIT 1"
        (model,) = db.execute(newest, (*self._turn, source)).fetchone() or (None,)
        self._insert(db, [reports.Report(source=source, key=reports.REST, kind="call", model=model, usage=Usage())])

    def _insert(self, db: sqlite3.Connection, new: Iterable[reports.Report]) -> None:
        now = now_ms()
        db.executemany(
            "INSERT INTO reports (session, turn, source, key, kind, at, model, input_tokens, cached_input_tokens,"
            " cache_write_tokens, cache_write_1h_tokens, output_tokens, reasoning_output_tokens, total_tokens,"
            " reported_usd, computed_usd, price, price_as_of)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
            " ON CONFLICT DO UPDATE SET model = excluded.model, input_tokens = excluded.input_tokens,"
            " cached_input_tokens = excluded.cached_input_tokens, cache_write_tokens = excluded.cache_write_tokens,"
            " cache_write_1h_tokens = excluded.cache_write_1h_tokens, output_tokens = excluded.output_tokens,"
            " reasoning_output_tokens = excluded.reasoning_output_tokens, total_tokens = excluded.total_tokens,"
            " reported_usd = excluded.reported_usd, computed_usd = excluded.computed_usd, price = excluded.price,"
            " price_as_of = excluded.price_as_of",
            [
                (
                    *self._turn, one.source, _text(one.key), one.kind, one.at or now, _text(one.model),
                    _number(one.usage.input_tokens), _number(one.usage.cached_input_tokens),
                    _number(one.usage.cache_write_tokens), _number(one.written_1h), _number(one.usage.output_tokens),
                    _number(one.usage.reasoning_output_tokens), _number(one.usage.total_tokens), one.reported_usd,
                    one.computed_usd, one.price, one.price_as_of,
                )
                for one in new
            ],
        )  # fmt: skip

    def _insert_compactions(self, db: sqlite3.Connection, reported: reports.Reported) -> None:
        now = now_ms()
        db.executemany(
            "INSERT INTO compactions VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
            [
                (
                    *self._turn, one.n, one.at or now, _text(one.trigger), one.step, _number(one.tokens_before),
                    _number(one.tokens_after),
                )
                for one in reported.compactions()
            ],
        )  # fmt: skip


def _number(value: int | None) -> int | None:
    """Return a count whose sums fit into a column; None for a greater one, which an agent may print."""
    return value if value is not None and value < _GREATEST >> 20 else None


def _text(text: str | None) -> str | None:
    """Return the text as far as it is kept, without halves of characters, which SQLite refuses."""
    return None if text is None else text[:200].encode("utf-8", "replace").decode()
