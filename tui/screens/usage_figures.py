"""The figures of the screen of usage: its query, the sums of today, week and month, and its plot.  Pure."""

from collections.abc import Sequence
from datetime import date
from functools import partial

from msgspec import Struct

from agentdash.sessions.model.usage import known_sum
from agentdash.sessions.rules.costs.cost import Cost, cost_words, tokens_words
from agentdash.sessions.rules.costs.usage_table import (
    Group,
    Step,
    UsageColumn,
    UsageQuery,
    UsageRow,
    UsageTable,
    begin,
    midnight,
    periods,
)
from agentdash.sessions.storage.use.use_queries import OTHERS
from agentdash.sessions.text.sanitize import one_line
from agentdash.tui.texts import usage_texts
from agentdash.widgets.drawing.short_forms import place
from agentdash.widgets.usage import bars
from agentdash.widgets.usage.plot import Picture

GROUPS: tuple[Group, ...] = ("model", "agent", "folder", "lead", "session")
"""The groups in the order in which their key chooses them."""

MOST = 500
"""The most groups in the list."""


class UsageView(Struct, frozen=True):
    """The choices of the user."""

    by: Group = "model"
    step: Step = "day"
    unit: str = "cost"
    column: date | None = None
    """The column under the cursor; None is the newest."""
    group: str | None = None
    """The row under the cursor; None is the first."""
    in_plot: bool = False
    """True if the keys act on the columns."""


class Figures(Struct, frozen=True):
    """The figures of a view."""

    table: UsageTable
    days: UsageTable
    """The days of this week and this month."""
    today: date


def query(view: UsageView, today: date) -> UsageQuery:
    """Return the query of a view."""
    return UsageQuery(by=view.by, step=view.step, since=midnight(starts(view.step, today)[0]), most=MOST)


def days_query(today: date) -> UsageQuery:
    """Return the query of the sums of today, this week and this month."""
    return UsageQuery(by="day", since=midnight(min(begin(today, "week"), begin(today, "month"))))


def starts(step: Step, today: date) -> list[date]:
    """Return the first days of all columns up to today, the oldest first."""
    return periods(step, today, usage_texts.SPANS[step][0])


def recent(figures: Figures, unit: str) -> list[str]:
    """Return the sums of today, this week and this month."""
    parts = []
    for name, first in (
        ("today", figures.today),
        ("this week", begin(figures.today, "week")),
        ("this month", begin(figures.today, "month")),
    ):
        rows = [row for row in figures.days.rows if row.group >= first.isoformat()]
        parts.append(f"{name} {_sum(rows, unit)}")
    return parts


def _sum(rows: Sequence[UsageRow], unit: str) -> str:
    if not rows:
        return "-"
    if unit == "tokens":
        known = known_sum(*(row.usage.total_tokens for row in rows))
        return tokens_words(known, sum(row.tokens_missing for row in rows))
    cost = Cost()
    for row in rows:
        cost = cost.plus(row.cost)
    return cost_words(cost)


def column_rows(figures: Figures, start: date) -> dict[str, UsageRow]:
    """Return the rows of a column by their groups."""
    found = next((one for one in figures.table.columns if one.start == start), UsageColumn(start=start, rows=()))
    return {row.group: row for row in found.rows}


def picture(figures: Figures, view: UsageView) -> Picture:
    """Return the plot: a column for each period, also for those without usage."""
    ranked, own = _ranked(figures, view)
    columns = []
    shown = starts(view.step, figures.today)
    for start in shown:
        rows = column_rows(figures, start).values()
        values = {row.group: usage_texts.value(row, view.unit) for row in rows}
        columns.append(bars.bar(values, own, unknown=any(usage_texts.lacks(row, view.unit) for row in rows)))
    return Picture(
        tuple(columns),
        tuple(usage_texts.day_label(start, view.step, figures.today) for start in shown),
        tuple(_legend(ranked, own, figures, view)),
        partial(usage_texts.axis_words, unit=view.unit),
        ends=view.by == "folder",
    )


def _ranked(figures: Figures, view: UsageView) -> tuple[Sequence[UsageRow], Sequence[str]]:
    """Return the rows, the largest first, and the groups that have a series of their own.

    Groups that are not in the list need the series of others.
    """
    ranked = sorted(figures.table.rows, key=lambda row: -(usage_texts.value(row, view.unit) or 0.0))
    return ranked, bars.leading([*(row.group for row in ranked), *([OTHERS] if figures.table.more else ())])


def _legend(
    ranked: Sequence[UsageRow], own: Sequence[str], figures: Figures, view: UsageView
) -> list[tuple[int, str, str]]:
    named = []
    for number, row in enumerate(ranked[: len(own)]):
        name = place(row.label) if view.by == "folder" else usage_texts.label(row, view.by)
        named.append((number, one_line(name) or "-", usage_texts.words(row, view.unit)))
    beyond = [row for column in figures.table.columns for row in column.rows if row.group == OTHERS]
    others = [*ranked[len(own) :], *beyond]
    number = len(ranked) - len(named) + figures.table.more
    return [*named, (bars.MOST - 1, f"{number:,} others", _sum(others, view.unit))] if number else named


def series_of(figures: Figures, view: UsageView) -> dict[str, int]:
    """Return the number of the series of each group."""
    ranked, own = _ranked(figures, view)
    return {row.group: bars.number_of(row.group, own) for row in ranked}
