"""Texts about usage, for its screen and its verb: pure functions, so that the words can be tested."""

import math
from collections.abc import Callable, Sequence
from datetime import date

from msgspec import Struct

from agentdash.sessions.rules.costs.cost import Cost, cost_words, tokens_words
from agentdash.sessions.rules.costs.usage_table import UsageRow, UsageTable
from agentdash.sessions.text.sanitize import cell_width, cut, cut_left, one_line, pad
from agentdash.sessions.text.units import count, share, tokens
from agentdash.widgets.drawing.short_forms import place

UNITS = ("cost", "tokens")
"""The units of a plot."""

SPANS = {"day": (30, "last 30 days"), "week": (26, "last 26 weeks"), "month": (12, "last 12 months")}
"""The columns of a plot by their length, and its name."""

EMPTY = "No usage in the {span}. Agents report it when they work."
NO_SESSIONS = "No session used anything here."
NO_LEAD = "no lead"
MORE = "and {count:,} more"
"""The line below the groups, if some are not shown."""

_NAME_CELLS = (12, 40)
"""The least and the most cells of a name."""


class Cell(Struct, frozen=True):
    """A column of the table."""

    heading: str
    width: int
    words: Callable[[UsageRow], str]


def value(row: UsageRow, unit: str) -> float | None:
    """Return the dollars or the tokens of a row; None if they are not known."""
    amount = row.cost.known_usd if unit == "cost" else row.usage.total_tokens
    return amount if amount is not None and math.isfinite(amount) else None


def words(row: UsageRow | None, unit: str) -> str:
    """Return the dollars with their marks, or the tokens, of a row; "" if there is no row."""
    if row is None:
        return ""
    return cost_words(row.cost) if unit == "cost" else tokens_words(row.usage.total_tokens, row.tokens_missing)


def lacks(row: UsageRow, unit: str) -> bool:
    """Return whether a part of the value is not known."""
    missing = row.cost.missing if unit == "cost" else row.tokens_missing
    return missing > 0 or (value(row, unit) is None and bool(words(row, unit)))


def axis_words(amount: float, unit: str) -> str:
    """Return a value of the axis: ``$2.50``, ``$40``, ``1.2M``."""
    if unit == "tokens":
        return tokens(round(amount)) if amount >= 1 else f"{amount:g}"
    return f"${amount:,.0f}" if amount == round(amount) else f"${amount:,.2f}" if amount >= 0.01 else f"${amount:g}"


def day_label(start: date, step: str, today: date) -> str:
    """Return the name of a column: ``Nov 3``, ``Nov``, ``today``."""
    if step == "day" and start == today:
        return "today"
    return f"{start:%b}" if step == "month" else f"{start:%b} {start.day}"


def column_name(start: date, step: str, today: date) -> str:
    """Return the name of a column in a sentence: ``today``, ``Nov 3``, ``week of Nov 3``, ``Nov 2026``."""
    label = day_label(start, step, today)
    return f"week of {label}" if step == "week" else f"{start:%b %Y}" if step == "month" else label


def cells(table: UsageTable, unit: str, chosen: str = "", column: Callable[[str], UsageRow | None] | None = None,
          *, room: int | None = None) -> list[Cell]:  # fmt: skip
    """Return the columns of the table behind the name, the most useful first.

    Args:
        unit: ``cost`` or ``tokens``, of which the share is.
        chosen: the name of the chosen column of the plot; "" leaves it out.
        column: returns the row of a group in that column.
        room: the cells that the columns may take; those that do not fit drop from the right.
    """
    whole = value(table.total, unit)
    every = [Cell("cost", 11, lambda row: cost_words(row.cost)), Cell("share", 6, lambda row: _share(row, unit, whole))]
    if column is not None:
        every.append(Cell(chosen, max(11, len(chosen) + 2), lambda row: words(column(row.group), unit)))
    every += [
        Cell("in", 8, lambda row: tokens(row.usage.input_tokens)),
        Cell("out", 8, lambda row: tokens(row.usage.output_tokens)),
        Cell("cached", 8, lambda row: tokens(row.usage.cached_input_tokens)),
        Cell("written", 9, lambda row: tokens(row.usage.cache_write_tokens)),
        Cell("sessions", 10, lambda row: f"{row.sessions:,}"),
    ]
    while room is not None and len(every) > 1 and sum(one.width for one in every) > room:
        every.pop()
    return every


def name_cells(width: int) -> int:
    """Return the cells of a name in a table of this width."""
    least, most = _NAME_CELLS
    return max(least, min(most, width // 4))


def label(row: UsageRow, by: str) -> str:
    """Return the name of a group for people; not cleaned."""
    return NO_LEAD if by == "lead" and not row.group else row.label


def name(row: UsageRow, by: str, width: int) -> str:
    """Return the name of a group in exactly ``width`` cells; a folder keeps its end."""
    text = one_line(place(row.label) if by == "folder" else label(row, by)) or "-"
    return pad((cut_left if by == "folder" else cut)(text, width), width)


def widened(width: int, spare: int, rows: Sequence[UsageRow], by: str) -> int:
    """Return the cells of a name if ``spare`` cells beside the columns are free: more only if a name needs them."""
    most = _NAME_CELLS[1]
    longest = max((cell_width(name(row, by, most).rstrip()) for row in rows), default=0)
    return max(width, min(longest, width + spare, most))


def heading(by: str, chosen: Sequence[Cell], width: int) -> str:
    """Return the line above the rows."""
    return pad(by, width) + "".join(f"{one.heading:>{one.width}}" for one in chosen)


def line(row: UsageRow, chosen: Sequence[Cell]) -> str:
    """Return the cells of a row behind its name."""
    return "".join(" " * max(1, one.width - cell_width(text)) + text for one in chosen for text in [one.words(row)])


def sums(table: UsageTable) -> list[str]:
    """Return the parts of the line with the sums, the most important first."""
    total = table.total
    parts = [cost_words(total.cost)]
    if total.cost.missing:
        parts.append(f"{count(total.cost.missing, 'session')} unknown")
    if total.cost.computed_usd is not None:
        computed = cost_words(Cost(computed_usd=total.cost.computed_usd))
        parts.append(f"of it {computed} computed{_priced(table)}")
    cached = share(total.usage.cached_input_tokens, total.usage.input_tokens)
    parts.append(f"{tokens(total.usage.input_tokens)} in{f', {cached} cached' if cached else ''}")
    parts.append(f"{tokens(total.usage.output_tokens)} out")
    parts.append(count(total.sessions, "session"))
    return parts


def fitting(parts: Sequence[str], width: int) -> str:
    """Return as many parts as fit, from the left; the first one always."""
    kept = list(parts)
    while len(kept) > 1 and cell_width("   ".join(kept)) > width:
        kept.pop()
    return cut("   ".join(kept), width)


def _priced(table: UsageTable) -> str:
    """Return the origin of the prices: `` (prices of 2026-11-01 to 2026-11-22 and of the settings)``."""
    dates = table.prices_as_of
    origins = [f"of {' to '.join(dict.fromkeys((dates[0], dates[-1])))}"] if dates else []
    origins += ["of the settings"] if table.prices_of_settings else []
    return f" (prices {' and '.join(origins)})" if origins else ""


def _share(row: UsageRow, unit: str, whole: float | None) -> str:
    part = value(row, unit)
    return f"{round(100 * part / whole)}%" if part is not None and whole else ""


def chosen(when: str, by: str, row: UsageRow | None) -> str:
    """Return the reason for which sessions are shown: ``usage of today``, ``usage of last 30 days, model gpt-5.5``."""
    of_group = f", {by} {one_line(label(row, by), _NAME_CELLS[1])}" if row is not None else ""
    return f"usage of {when}{of_group}"
