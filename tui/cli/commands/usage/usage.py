"""The verb usage: the tokens and the money of sessions, by time, agent, model, folder, lead or session."""

from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING

import click

from .. import common
from .days import date_of, midnight_of, since_of

if TYPE_CHECKING:
    from .....sessions.costs.usage_table import UsageTable

_GROUPS = ("day", "week", "month", "agent", "model", "folder", "lead", "session")
_FORMULA = ("=", "+", "-", "@")
"""Beginnings of a text that a spreadsheet would run as a formula."""


@click.command()
@click.option("--by", type=click.Choice(_GROUPS), default="day", show_default=True, help="One row for each.")
@click.option("--since", metavar="7d|DATE", help="From the start of this day, or this long ago.")
@click.option("--until", metavar="DATE", help="Up to the end of this day.")
@click.option("--family", metavar="ID", help="Only this session and its workers.", shell_complete=common.complete_ids)
@click.option("--csv", "as_csv", is_flag=True, help="Output CSV.")
@common.json_option
def usage(by: str, since: str | None, until: str | None, family: str | None, as_csv: bool, as_json: bool) -> None:
    """Sum up the tokens and the money that sessions used.

    $0.31 is what agents reported, ≈$0.31 has a part computed from tokens and prices, ≥$0.31 lacks unknown parts, and ?
    is not known.  Days are those of the local time zone.
    """
    from .....sessions.costs.usage_table import UsageQuery

    if as_csv and as_json:
        raise click.UsageError("--csv and --json cannot be combined.")
    begin, end = since_of(since), _until(until)
    if begin is not None and end is not None and begin >= end:
        raise click.UsageError("--until must not be before --since.")
    with common.settled_reader() as reader:
        session = reader.get(family).id if family is not None else None
        table = reader.usage(UsageQuery(by=by, since=begin, until=end, family=session))  # type: ignore[arg-type]
    if as_json:
        from ...schemas.usage_record import usage_record

        common.print_json(usage_record(table))
    elif as_csv:
        common.print_lines(_csv(table), painted=False)
    else:
        _say(table)


def _until(text: str | None) -> datetime | None:
    if text is None:
        return None
    day = date_of(text)
    if day is None or day == date.max:
        raise click.BadParameter(f"{text!r} is not a date such as 2026-11-03.", param_hint="--until")
    return midnight_of(day + timedelta(days=1))


def _csv(table: "UsageTable") -> list[str]:
    """Return the lines of a file for spreadsheets: a heading, then a line for each group."""
    import csv
    from io import StringIO

    from msgspec import structs

    from .....sessions.text.sanitize import one_line
    from ...schemas.usage_record import UsedRecord, used

    file = StringIO(newline="")
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(field.name for field in structs.fields(UsedRecord))
    for row in table.rows:
        values = structs.astuple(used(row))
        writer.writerow(_inert(one_line(one)) if isinstance(one, str) else one for one in values)
    return file.getvalue().splitlines()


def _inert(text: str) -> str:
    return f"'{text}" if text.startswith(_FORMULA) else text


def _say(table: "UsageTable") -> None:
    from .....sessions.text.sanitize import cell_width
    from ....texts import usage_texts

    style = common.style()
    if not table.rows:
        common.print_lines(["no usage"])
        return
    by = table.query.by
    wide = usage_texts.name_cells(style.width)
    longest = max(cell_width(usage_texts.name(row, by, 200).rstrip()) for row in table.rows)
    wide = max(len(by), min(wide, longest))
    cells = usage_texts.cells(table, "cost", room=style.width - wide)
    lines = [style.paint(usage_texts.heading(by, cells, wide), "dim")]
    lines += [usage_texts.name(row, by, wide) + usage_texts.line(row, cells) for row in table.rows]
    lines.append(style.paint(usage_texts.fitting(usage_texts.sums(table), style.width), "strong"))
    common.print_lines(map(style.signs.plain, lines))
