"""The queries of use over time: the sums of local days, grouped by SQLite."""

import json
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from datetime import date
from itertools import groupby
from operator import itemgetter
from typing import Any, TypeVar

from agentdash.sessions.model.usage import Usage
from agentdash.sessions.rules.costs.cost import Cost
from agentdash.sessions.rules.costs.pricing import OWN
from agentdash.sessions.rules.costs.usage_table import STEPS, Group, Step, UsageColumn, UsageQuery, UsageRow, UsageTable
from agentdash.sessions.storage import local_days
from agentdash.sessions.storage.database import Database
from agentdash.sessions.storage.families.family_budgets import FAMILY
from agentdash.sessions.storage.rows import WITHOUT_FIGURES, Query, inside
from agentdash.sessions.storage.use.day_sums import COLUMNS, FIGURES, FLAGS, DaySums, by_days

OTHERS = "\0others"
"""The group, in a column, of all groups beyond the most; no other one has a NUL."""

_OTHERS = "char(0) || 'others'"
"""The same as SQL, whose text cannot have a NUL."""

_VALUES = "SELECT value FROM json_each(?2)"
"""The values that a query was given as JSON."""

_TOKENS = FIGURES[:-2]
_COLUMNS = ", ".join(COLUMNS)
_SUMS = ", ".join(f"sum(used.{name}) AS {name}" for name in FIGURES)
_COUNTS = "count(DISTINCT used.session) AS sessions, " + ", ".join(
    f"count(DISTINCT iif(used.{name}, used.session, NULL)) AS {name}" for name in FLAGS
)
_GREATEST_FIRST = "total(reported_usd) + total(computed_usd) DESC, total(total_tokens) DESC, grouped"

_TOPS = """tops (id, top) AS (
    SELECT named.id, named.id FROM (SELECT parent AS id FROM sessions WHERE parent IS NOT NULL
        UNION SELECT parent FROM tombstones WHERE parent IS NOT NULL) AS named
    WHERE NOT EXISTS (SELECT 1 FROM sessions WHERE id = named.id AND (parent IS NOT NULL OR lead IS NOT NULL))
        AND NOT EXISTS (SELECT 1 FROM tombstones WHERE session = named.id AND (parent IS NOT NULL OR lead IS NOT NULL))
    UNION SELECT id, lead FROM sessions WHERE parent IS NULL AND lead IS NOT NULL
    UNION SELECT session, lead FROM tombstones WHERE parent IS NULL AND lead IS NOT NULL
    UNION SELECT sessions.id, tops.top FROM tops JOIN sessions ON sessions.parent = tops.id
    UNION SELECT gone.session, tops.top FROM tops JOIN tombstones AS gone ON gone.parent = tops.id)"""
"""The sessions of families with the highest lead of each."""

_JOIN_TOPS = " LEFT JOIN tops ON tops.id = used.session"
_KEYS: dict[Group, str] = {
    "agent": "used.agent",
    "folder": "used.folder",
    "model": "used.model",
    "session": "used.session",
    "lead": "coalesce(tops.top, '')",
    **{step: local_days.period_sql("used.day", step) for step in STEPS},
}
_NAMED: frozenset[Group] = frozenset({"lead", "session"})
"""The groups that have the name of a session."""

T = TypeVar("T")


class UseQueries:
    """Answers the questions of :mod:`...rules.costs.usage_table` from the database.

    Args:
        days: the sums of days; None to add them up for each question.
    """

    def __init__(self, database: Database, days: DaySums | None = None) -> None:
        self._database = database
        self._days = days

    def close(self) -> None:
        """Close the file of the sums of days."""
        if self._days is not None:
            self._days.close()

    def table(self, query: UsageQuery) -> UsageTable:
        """Return the use by groups, with columns if the query has a step.

        Raises:
            StoreError: the database cannot be read.
        """
        return self._answer(query, lambda asked: _table(query, asked))

    def sessions(self, query: UsageQuery, group: str | None, column: date | None) -> list[str]:
        """Return the ids of the sessions of a group, a column, or a group in a column; the greatest use first.

        None stands for all groups, or for the whole time.  Deleted sessions are among them.

        Raises:
            StoreError: the database cannot be read.
        """
        return self._answer(query, lambda asked: _sessions(query, asked, group, column))

    def _answer(self, query: UsageQuery, ask: "Callable[[_Asked], T]") -> T:
        """Return an answer whose parts see one state of the database, by the sums of days if they can be read."""
        if self._days is not None:
            try:
                with self._days.opened() as connection:
                    if connection is not None:
                        return ask(_Asked(query, inside(connection), days=True))
            except sqlite3.Error as error:
                self._days.give_up(error)
        with self._database.snapshot():
            return ask(_Asked(query, self._database.rows, days=False))


def _table(query: UsageQuery, asked: "_Asked") -> UsageTable:
    rows, more = asked.groups()
    shown = [row.group for row in rows] if more else None
    total, dates = asked.total()
    dated = tuple(one for one in dates if one != OWN)
    return UsageTable(
        query=query,
        rows=tuple(rows),
        more=more,
        columns=tuple(asked.columns(query.step, shown)) if query.step is not None else (),
        total=total,
        prices_as_of=dated,
        prices_of_settings=dated != dates,
    )


def _sessions(query: UsageQuery, asked: "_Asked", group: str | None, column: date | None) -> list[str]:
    if column is not None:
        asked.within(column, query.step or "day")
    if group is not None and query.by in STEPS:
        try:
            asked.within(date.fromisoformat(group), query.by)
        except ValueError:
            return []
        group = None
    return asked.sessions(group)


class _Asked:
    """A question as SQL.

    Args:
        days: the table ``days`` is there.
    """

    def __init__(self, query: UsageQuery, rows: Query, *, days: bool) -> None:
        self._query = query
        self._rows = rows
        self._has_days = days
        self._begin = local_days.quarter_of(query.since) if query.since is not None else None
        self._end = local_days.quarter_of(query.until) if query.until is not None else None

    def within(self, day: date, step: Step) -> None:
        """Restrict the question to the period that begins with a local day."""
        begin, end = local_days.beginning(day), local_days.beginning(local_days.after(day, step))
        self._begin = begin if self._begin is None else max(begin, self._begin)
        self._end = end if self._end is None else min(end, self._end)

    def total(self) -> tuple[UsageRow, tuple[str, ...]]:
        """Return the sum of all groups, and the dates of the prices with which costs were computed, or :data:`OWN`."""
        dates = "group_concat(DISTINCT iif(price_as_of NOT IN ('', '-'), price_as_of, NULL)) AS dates"
        (row,) = self._ask(f"SELECT {_SUMS}, {_COUNTS}, {dates} FROM used")  # noqa: S608
        total = UsageRow(group="", label="", sessions=row["sessions"], **_figures(row))
        return total, tuple(sorted(row["dates"].split(","))) if row["dates"] else ()

    def groups(self) -> tuple[list[UsageRow], int]:
        """Return the sums of each group, and the number of the groups beyond the most.

        Periods are in their order, others with the greatest first.  The most are the newest periods, or the greatest.
        """
        by, most = self._query.by, self._query.most
        greatest, more = self._greatest_sessions(most) if by == "session" and most is not None else (None, 0)
        where = f" WHERE {_KEYS[by]} IN ({_VALUES})" if greatest is not None else ""
        order = "grouped DESC" if by in STEPS else _GREATEST_FIRST
        limit = f" LIMIT {most}" if most is not None else ""
        sql = f"{self._grouped()}{where} GROUP BY grouped ORDER BY {order}{limit}"
        if by in _NAMED:
            sql = (
                "SELECT found.*, coalesce(nullif(sessions.title, ''), substr(sessions.task, 1, 200), gone.title)"  # noqa: S608
                f" AS label, coalesce(sessions.id, gone.session) AS named FROM ({sql}) AS found"
                " LEFT JOIN sessions ON sessions.id = grouped LEFT JOIN tombstones AS gone ON gone.session = grouped"
            )
        rows = [_row(by, row, named=by in _NAMED) for row in self._ask(sql, greatest)]
        if greatest is None and len(rows) == most:
            (row,) = self._ask(f"SELECT count(DISTINCT {_KEYS[by]}) AS number FROM {self._used}")  # noqa: S608
            more = row["number"] - len(rows)
        return rows[::-1] if by in STEPS else rows, more

    def _greatest_sessions(self, most: int) -> tuple[list[str], int]:
        """Return the ids of the sessions with the greatest use, and the number of the others.

        The full sums of these few are found by their key; those of all sessions take twice as long.
        """
        number = "count(*) OVER () AS number"
        sql = f"SELECT used.session AS grouped, {number} FROM used GROUP BY 1 ORDER BY {_GREATEST_FIRST} LIMIT {most}"  # noqa: S608
        rows = self._ask(sql)
        return [row["grouped"] for row in rows], rows[0]["number"] - len(rows) if rows else 0

    def columns(self, step: Step, shown: Sequence[str] | None) -> Iterator[UsageColumn]:
        """Yield the sums of each group in each period; groups that are not shown are one group, :data:`OTHERS`."""
        sql = f"{self._grouped(step, shown)} GROUP BY period, grouped ORDER BY period, {_GREATEST_FIRST}"
        for number, rows in groupby(self._ask(sql, shown), key=itemgetter("period")):
            yield UsageColumn(start=local_days.day_of(number), rows=tuple(_row(self._query.by, row) for row in rows))

    def sessions(self, group: str | None) -> list[str]:
        """Return the ids of the sessions of a group, or of all groups, with the greatest use first."""
        where = f" WHERE {_KEYS[self._query.by]} = ?2" if group is not None else ""
        sql = f"SELECT used.session AS id FROM {self._used}{where} GROUP BY used.session"  # noqa: S608
        order = " ORDER BY total(used.total_tokens) DESC, used.session"
        return [row["id"] for row in self._ask(f"{sql}{order}", group)]

    @property
    def _used(self) -> str:
        return f"used{_JOIN_TOPS if self._query.by == 'lead' else ''}"

    def _grouped(self, step: Step | None = None, shown: Sequence[str] | None = None) -> str:
        key = _KEYS[self._query.by]
        if shown is not None:
            key = f"iif({key} IN ({_VALUES}), {key}, {_OTHERS})"
        period = f", {local_days.period_sql('used.day', step)} AS period" if step is not None else ""
        return f"SELECT {key} AS grouped{period}, {_SUMS}, {_COUNTS} FROM {self._used}"  # noqa: S608

    def _ask(self, sql: str, value: object = None) -> Sequence[sqlite3.Row]:
        """Run a query over ``used``: ``?1`` is the family, ``?2`` the value.

        It has the sums of days, and the turns at work without figures.
        """
        parts = [*self._sums(), without_figures(self._condition("quarter", self._begin, self._end))]
        used = " UNION ALL ".join(f"SELECT {_COLUMNS} FROM ({one})" for one in parts)  # noqa: S608
        tables = [f"used AS ({used})"]
        if "tops." in sql:
            tables.append(_TOPS)
        if self._query.family is not None:
            tables.insert(0, FAMILY.removeprefix("WITH RECURSIVE "))
        values = (self._query.family, value if isinstance(value, str) else json.dumps(value))
        whole = f"WITH RECURSIVE {', '.join(tables)} {sql}"
        return self._rows(whole, values[: 2 if "?2" in sql else 1 if "?1" in whole else 0])

    def _sums(self) -> list[str]:
        """Return queries of the sums of days: whole days from their table, parts of days added up."""
        if not self._has_days:
            return [by_days(self._condition("quarter", self._begin, self._end))]
        first, begins_at = _whole(self._begin, up=True)
        last, ends_at = _whole(self._end, up=False)
        if first is not None and last is not None and first > last:
            return [by_days(self._condition("quarter", self._begin, self._end))]
        condition = self._condition("day", first, last)
        parts = [f"SELECT * FROM days{f' WHERE {condition}' if condition else ''}"]  # noqa: S608
        if begins_at != self._begin:
            parts.append(by_days(self._condition("quarter", self._begin, begins_at)))
        if ends_at != self._end:
            parts.append(by_days(self._condition("quarter", ends_at, self._end)))
        return parts

    def _condition(self, column: str, begin: int | None, end: int | None) -> str:
        conditions = ["session IN (SELECT id FROM family)"] if self._query.family is not None else []
        conditions += [f"{column} >= {begin}"] if begin is not None else []
        conditions += [f"{column} < {end}"] if end is not None else []
        return " AND ".join(conditions)


def _whole(quarter: int | None, *, up: bool) -> tuple[int | None, int | None]:
    """Return the local day of a moment, or the next one (``up``) if it did not begin then, and its beginning."""
    if quarter is None:
        return None, None
    day = date.fromtimestamp(quarter * local_days.QUARTER_SECONDS)  # noqa: DTZ012 - local time is meant
    if up and local_days.beginning(day) < quarter:
        day = local_days.after(day, "day")
    return local_days.day_number(day), local_days.beginning(day)


def _row(by: Group, row: sqlite3.Row, *, named: bool = False) -> UsageRow:
    group = local_days.day_of(row["grouped"]).isoformat() if by in STEPS else str(row["grouped"])
    return UsageRow(
        group=group,
        label=(row["label"] if named else None) or group,
        sessions=row["sessions"],
        **_figures(row),
        session=row["named"] if named else None,
    )


def _figures(row: sqlite3.Row) -> dict[str, Any]:
    """Return the tokens and the cost of a row, and the numbers of the sessions that lack them."""
    return {
        "usage": Usage(**{name: row[name] for name in _TOKENS}),
        "cost": Cost(reported_usd=row["reported_usd"], computed_usd=row["computed_usd"], missing=row["missing"]),
        "tokens_missing": row["tokens_missing"],
    }


def without_figures(condition: str = "") -> str:
    """Return the query of the turns at work without a figure: they use something, so no sum with them is exact.

    It has the columns of :data:`.day_sums.COLUMNS`; the turns count at the time of their start.
    """
    unknown = ", ".join(f"NULL AS {name}" for name in FIGURES)
    return (
        f"SELECT {', '.join(COLUMNS)} FROM (SELECT sessions.id AS session, turns.started_at / 900000 AS quarter,"  # noqa: S608
        f" {local_days.day_sql('(turns.started_at / 900000)')} AS day, coalesce(sessions.model, '') AS model,"
        " '' AS price_as_of,"
        f" sessions.agent AS agent, sessions.cwd AS folder, {unknown}, 1 AS missing, 1 AS tokens_missing"
        " FROM sessions JOIN turns ON turns.session = sessions.id AND turns.n = sessions.turn"
        f" WHERE turns.started_at IS NOT NULL AND {WITHOUT_FIGURES})"
        f"{f' WHERE {condition}' if condition else ''}"
    )
