"""The verb usage: the tokens and the money of sessions, by time, agent, model, folder, lead or session."""

from typing import TYPE_CHECKING

import click

from .....sessions.costs.usage_table import GROUPS, UsageQuery
from .. import common
from .time_options import TIME, complete_times, since_of, until_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from .....sessions.costs.usage_table import UsageTable

_FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""Beginnings of a text that a spreadsheet would run as a formula."""


@click.command()
@click.option("--by", type=click.Choice(GROUPS), default="day", show_default=True, help="One row for each.")
@click.option(
    "--since", metavar=TIME, help="From its start; also 12h, 4w, 1y, yesterday.", shell_complete=complete_times
)
@click.option("--until", metavar=TIME, help="Up to its end.", shell_complete=complete_times)
@click.option(
    "--family", metavar="ID", shell_complete=common.complete_ids,
    help="Only this session, or outside lead (claude:ID), and its workers.",
)  # fmt: skip
@click.option(
    "--most", metavar="N", type=click.IntRange(1, common.MOST_NUMBER),
    help="Only N rows: the newest days, weeks or months, or the groups that cost most.",
)  # fmt: skip
@click.option("--csv", "as_csv", is_flag=True, help="Output CSV.")
@common.json_option
def usage(
    by: str,
    since: str | None,
    until: str | None,
    family: str | None,
    most: int | None,
    as_csv: bool,
    as_json: bool,
) -> None:
    """Sum up the tokens and the money that sessions used.

    $0.31 is what agents reported, ≈$0.31 has a part computed from tokens and prices, ≥$0.31 lacks unknown parts, and ?
    is not known.  Days are those of the local time zone; a time of hours is rounded down to a quarter of an hour.

    For example: agentdash usage --by model --since 2026-10 --until yesterday
    """
    if as_csv and as_json:
        raise click.UsageError("--csv and --json cannot be combined.")
    begin, end = since_of(since), until_of(until)
    if begin is not None and end is not None and begin >= end:
        raise click.UsageError("--until must not be before --since.")
    with common.settled_reader() as reader:
        lead = None
        if family is not None:
            lead = reader.budget(family).id if ":" in family else reader.get(family).id
        table = reader.usage(UsageQuery(by=by, since=begin, until=end, family=lead, most=most))  # type: ignore[arg-type]
    if as_json:
        from ...schemas.usage_record import usage_record

        common.print_json(usage_record(table))
    elif as_csv:
        common.print_lines(_csv(table), painted=False)
    else:
        _say(table)


def _csv(table: "UsageTable") -> list[str]:
    """Return the rows of a file for spreadsheets: a heading, then a row for each group.

    A key stays as it is, with its control characters, so that no two groups have the same; a label is cleaned.
    """
    from msgspec import structs

    from .....sessions.text.sanitize import one_line
    from ...schemas.usage_record import UsedRecord, used

    records = [used(row, table.query.by) for row in table.rows]
    return [
        _csv_row(field.name for field in structs.fields(UsedRecord)),
        *(_csv_row(structs.astuple(structs.replace(one, label=one_line(one.label)))) for one in records),
    ]


def _csv_row(values: "Iterable[object]") -> str:
    import csv
    from io import StringIO

    file = StringIO(newline="")
    csv.writer(file).writerow(_inert(one) if isinstance(one, str) else one for one in values)
    return file.getvalue().removesuffix("\r\n")  # with this line end, a carriage return in a key is quoted too


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
    wide = usage_texts.widened(wide, style.width - wide - sum(cell.width for cell in cells), table.rows, by)
    lines = [style.paint(usage_texts.heading(by, cells, wide), "dim")]
    lines += [usage_texts.name(row, by, wide) + usage_texts.line(row, cells) for row in table.rows]
    if table.more:
        lines.append(style.paint(usage_texts.MORE.format(count=table.more), "dim"))
    lines.append(style.paint(usage_texts.fitting(usage_texts.sums(table), style.width), "strong"))
    common.print_lines(lines)
