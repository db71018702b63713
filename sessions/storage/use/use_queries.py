"""The queries of use over time: the sums of quarters of an hour, grouped by SQLite."""

import sqlite3
from collections.abc import Iterator
from datetime import date
from itertools import groupby
from operator import itemgetter

from msgspec import structs

from ...costs.cost import Cost
from ...costs.usage_table import STEPS, Group, Step, UsageColumn, UsageQuery, UsageRow, UsageTable
from ...values.usage import Usage
from ..database import Database
from ..families.family_budgets import FAMILY
from ..local_days import after, beginning, day_of, period_sql, quarter_of

NO_LEAD = ""
"""The group of the sessions that have no lead and lead none."""

_FIGURES = (
    "input_tokens",
    "cached_input_tokens",
    "cache_write_tokens",
    "output_tokens",
    "reasoning_output_tokens",
    "total_tokens",
)
_SUMS = ", ".join(f"sum(used.{name}) AS {name}" for name in (*_FIGURES, "reported_usd", "computed_usd"))
_COUNTS = (
    "count(DISTINCT iif(used.missing, used.session || used.turn, NULL)) AS missing,"
    " count(DISTINCT used.session) AS sessions"
)
_NO_SUMS = ", ".join(f"NULL AS {name}" for name in (*_FIGURES, "reported_usd", "computed_usd"))
_MISSING_OF_SESSION = "count(DISTINCT iif(used.missing, used.turn, NULL)) AS missing"
_SESSION_COUNTS = "sum(used.missing) AS missing, count(*) AS sessions"
_BY_SESSION: frozenset[Group] = frozenset({"agent", "folder", "session", "lead"})
"""Each session is in one group: its sums are made in the order of the table, and only they are joined and sorted."""

_TOPS = """tops (id, top) AS (
    SELECT named.id, named.id FROM (SELECT parent AS id FROM sessions WHERE parent IS NOT NULL
        UNION SELECT parent FROM tombstones WHERE parent IS NOT NULL) AS named
    WHERE NOT EXISTS (SELECT 1 FROM sessions WHERE id = named.id AND (parent IS NOT NULL OR lead IS NOT NULL))
        AND NOT EXISTS (SELECT 1 FROM tombstones WHERE session = named.id AND (parent IS NOT NULL OR lead IS NOT NULL))
    UNION SELECT id, lead FROM sessions WHERE parent IS NULL AND lead IS NOT NULL
    UNION SELECT session, lead FROM tombstones WHERE parent IS NULL AND lead IS NOT NULL
    UNION SELECT sessions.id, tops.top FROM tops JOIN sessions ON sessions.parent = tops.id
    UNION SELECT gone.session, tops.top FROM tops JOIN tombstones AS gone ON gone.parent = tops.id)"""

_KEYS: dict[Group, str] = {
    "agent": "coalesce(sessions.agent, gone.agent, '')",
    "folder": "coalesce(sessions.cwd, gone.cwd, '')",
    "model": "used.model",
    "session": "used.session",
    "lead": "coalesce(tops.top, '')",
}
_JOIN = " LEFT JOIN sessions ON sessions.id = used.session LEFT JOIN tombstones AS gone ON gone.session = used.session"
_JOINS: dict[Group, str] = {
    "agent": _JOIN,
    "folder": _JOIN,
    "session": _JOIN,
    "lead": " LEFT JOIN tops ON tops.id = used.session LEFT JOIN sessions ON sessions.id = tops.top"
    " LEFT JOIN tombstones AS gone ON gone.session = tops.top",
}
_LABEL = "coalesce(nullif(sessions.title, ''), substr(sessions.task, 1, 200), gone.title)"


class UseQueries:
    """Answers the questions of :mod:`..costs.usage_table` from the database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def table(self, query: UsageQuery) -> UsageTable:
        """Return the use by groups, with columns if the query has a step.

        Raises:
            StoreError: the database cannot be read.
        """
        with self._database.snapshot():
            columns = tuple(self._columns(query)) if query.step is not None else ()
            rows = [_row(query.by, found) for found in self._rows(_Asked(query), None, sums=query.step is None)]
            rows = _with_sums(rows, columns) if query.step is not None else rows
            total, dates = self._total(query, rows)
        rows = _sorted(query.by, rows)
        return UsageTable(query=query, rows=tuple(rows), columns=columns, total=total, prices_as_of=dates)

    def sessions(self, query: UsageQuery, group: str | None, column: date | None) -> list[str]:
        """Return the ids of the sessions of a group, a column, or a group in a column; the greatest use first.

        None stands for all groups, or for the whole time.  Deleted sessions are among them.

        Raises:
            StoreError: the database cannot be read.
        """
        asked = _Asked(query)
        if column is not None:
            asked.within(column, query.step or "day")
        if group is not None and query.by in STEPS:
            try:
                asked.within(date.fromisoformat(group), query.by)
            except ValueError:
                return []
            group = None
        if group is not None:
            asked.require(f"{_KEYS[query.by]} = {asked.value(group)}")
        found = self._database.rows(
            asked.sql("used.session AS id", "used.session", "sum(used.total_tokens) DESC, used.session"), asked.values
        )
        return [row["id"] for row in found]

    def _columns(self, query: UsageQuery) -> Iterator[UsageColumn]:
        found = self._rows(_Asked(query), query.step)
        for number, rows in groupby(found, key=itemgetter("period")):
            yield UsageColumn(
                start=day_of(number), rows=tuple(_sorted(query.by, [_row(query.by, row) for row in rows]))
            )

    def _rows(self, asked: "_Asked", step: Step | None, *, sums: bool = True) -> list[sqlite3.Row]:
        """Return the sums of each group, or of each group in each period; without ``sums`` only what it counts."""
        added = _SUMS if sums else _NO_SUMS
        by = asked.query.by
        named = by in ("lead", "session")
        key = period_sql("used.quarter", by) if by in STEPS else _KEYS[by]
        label = _LABEL if named else "NULL"
        session = "coalesce(sessions.id, gone.session)" if named else "NULL"
        each = "period, grouped" if step is not None else "grouped"
        if by in _BY_SESSION:
            period = "used.period AS period, " if step is not None else ""
            inner = f"used.session AS session, {added}, {_MISSING_OF_SESSION}"
            inner += f", {period_sql('used.quarter', step)} AS period" if step is not None else ""
            columns = f"{period}{key} AS grouped, {label} AS label, {session} AS session, {added}, {_SESSION_COUNTS}"
            sessions = f"used.session{', period' if step is not None else ''}"
            return self._database.rows(asked.sql(columns, each, each, (inner, sessions)), asked.values)
        period = f"{period_sql('used.quarter', step)} AS period, " if step is not None else ""
        columns = f"{period}{key} AS grouped, {label} AS label, {session} AS session, {added}, {_COUNTS}"
        return self._database.rows(asked.sql(columns, each, each), asked.values)

    def _total(self, query: UsageQuery, rows: list[UsageRow]) -> tuple[UsageRow, tuple[str, ...]]:
        """Return the sum of all groups, and the dates of the prices; a session can be in several groups."""
        usage, cost = Usage(), Cost()
        for row in rows:
            usage, cost = usage.plus(row.usage), cost.plus(row.cost)
        sessions = sum(row.sessions for row in rows)
        if query.by not in _BY_SESSION:
            counted = _Asked(query)
            (found,) = self._database.rows(counted.sql(_COUNTS, "", ""), counted.values)
            sessions, cost = found["sessions"], structs.replace(cost, missing=found["missing"])
        asked = _Asked(query)
        asked.require("used.price_as_of <> ''")
        dates = self._database.rows(asked.sql("DISTINCT used.price_as_of AS as_of", "", ""), asked.values)
        total = UsageRow(group="", label="", sessions=sessions, usage=usage, cost=cost)
        return total, tuple(sorted(row["as_of"] for row in dates))


class _Asked:
    """A query as SQL."""

    def __init__(self, query: UsageQuery) -> None:
        self.query = query
        self._values: list[object] = []
        self._conditions: list[str] = []
        if query.family is not None:
            self._values.append(query.family)
            self._conditions.append("used.session IN (SELECT id FROM family)")
        if query.since is not None:
            self._conditions.append(f"used.quarter >= {quarter_of(query.since)}")
        if query.until is not None:
            self._conditions.append(f"used.quarter < {quarter_of(query.until)}")

    @property
    def values(self) -> tuple[object, ...]:
        """The values of the parameters."""
        return tuple(self._values)

    def value(self, value: object) -> str:
        """Add a parameter; return its name."""
        self._values.append(value)
        return f"?{len(self._values)}"

    def within(self, day: date, step: Step) -> None:
        """Restrict the query to the period that begins with a local day."""
        self._conditions += [f"used.quarter >= {beginning(day)}", f"used.quarter < {beginning(after(day, step))}"]

    def require(self, condition: str) -> None:
        """Add a condition."""
        self._conditions.append(condition)

    def sql(self, columns: str, each: str, order: str, inner: tuple[str, str] | None = None) -> str:
        """Return the query: these columns of each group, in this order; without groups, of everything.

        ``inner`` has the columns and the groups of a query whose rows are grouped; None for the sums as they are.
        """
        tables = [FAMILY.removeprefix("WITH RECURSIVE ")] if self.query.family is not None else []
        joins = _JOINS.get(self.query.by, "") if each else ""
        if joins and self.query.by == "lead":
            tables.append(_TOPS)
        where = f" WHERE {' AND '.join(self._conditions)}" if self._conditions else ""
        source = f"use_sums AS used{joins}{where}"
        if inner is not None:
            source = f"(SELECT {inner[0]} FROM use_sums AS used{where} GROUP BY {inner[1]}) AS used{joins}"  # noqa: S608
        parts = [
            f"WITH RECURSIVE {', '.join(tables)}" if tables else "",
            f"SELECT {columns} FROM {source}",  # noqa: S608
            f"GROUP BY {each}" if each else "",
            f"ORDER BY {order}" if order else "",
        ]
        return " ".join(filter(None, parts))


def _row(by: Group, row: sqlite3.Row) -> UsageRow:
    group = day_of(row["grouped"]).isoformat() if by in STEPS else str(row["grouped"])
    return UsageRow(
        group=group,
        label=row["label"] or group,
        sessions=row["sessions"],
        usage=Usage(**{name: row[name] for name in _FIGURES}),
        cost=Cost(reported_usd=row["reported_usd"], computed_usd=row["computed_usd"], missing=row["missing"]),
        session=row["session"],
    )


def _with_sums(rows: list[UsageRow], columns: tuple[UsageColumn, ...]) -> list[UsageRow]:
    """Return rows, which only count, with the sums of their groups in all columns."""
    usages: dict[str, Usage] = {}
    costs: dict[str, Cost] = {}
    for column in columns:
        for part in column.rows:
            usages[part.group] = usages.get(part.group, _NOTHING).plus(part.usage)
            costs[part.group] = costs.get(part.group, _FREE).plus(part.cost)
    return [
        structs.replace(
            row,
            usage=usages.get(row.group, _NOTHING),
            cost=structs.replace(costs.get(row.group, _FREE), missing=row.cost.missing),
        )
        for row in rows
    ]


_NOTHING = Usage()
_FREE = Cost()


def _sorted(by: Group, rows: list[UsageRow]) -> list[UsageRow]:
    if by in STEPS:
        return rows
    return sorted(rows, key=lambda row: (-(row.cost.known_usd or 0.0), -(row.usage.total_tokens or 0), row.label))
