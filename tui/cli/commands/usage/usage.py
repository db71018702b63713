"""The verbs of the money: what sessions used, how much of the plans is used, and at which prices (usage)."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from agentdash.sessions.model.errors import UnknownPriceError, UsageError
from agentdash.sessions.rules.costs.usage_table import GROUPS, UsageQuery
from agentdash.tui.cli.commands import common
from agentdash.tui.cli.commands.usage.times import TIME, complete_times, since_of, until_of
from agentdash.tui.cli.verb_group import SuggestingGroup

if TYPE_CHECKING:
    from collections.abc import Iterable

    from agentdash.sessions.rules.costs.usage_table import UsageTable


_FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""Beginnings of a text that a spreadsheet would run as a formula."""


@click.group(cls=SuggestingGroup, invoke_without_command=True)
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
@click.pass_context
def usage(
    context: click.Context,
    by: str,
    since: str | None,
    until: str | None,
    family: str | None,
    most: int | None,
    as_csv: bool,
    as_json: bool,
) -> None:
    """Sum up the tokens and the money that sessions used.

    $0.31 is what agents reported, ~$0.31 has a part computed from tokens and prices, ≥$0.31 lacks unknown parts, and ?
    is not known.  Days are those of the local time zone; a time of hours is rounded down to a quarter of an hour.

    For example: agentdash usage --by model --since 2026-10 --until yesterday
    """
    if (subject := context.invoked_subcommand) is not None:
        if stated := common.stated(context):
            raise click.UsageError(f"{stated[0]} is an option of usage alone, not of {subject}; put options behind it.")
        return
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
        from agentdash.tui.cli.schemas.usage_record import usage_record

        common.print_json(usage_record(table))
    elif as_csv:
        common.print_lines(_csv(table), painted=False)
    else:
        _say(table)


@usage.command("plan")
@common.json_option
def usage_plan(as_json: bool) -> None:
    """Show how much of the plans of agents is used.

    Of the five hours and of the week, for example.

    The figures are the newest that claude and codex reported in a session; agentdash asks no server.
    """
    from agentdash.sessions.model.clock import now_ms
    from agentdash.sessions.model.plan_windows import current, window_words

    with common.open_reader() as reader:
        now = now_ms()
        windows = current(reader.plan_windows(), now)
    if as_json:
        common.print_json(windows)
    elif windows:
        from agentdash.sessions.text.units import age

        common.print_lines([f"{window_words(one, now)}, reported {age(now - one.seen_at)} ago" for one in windows])
    else:
        common.print_lines(["No agent has reported how much of its plan is used."])


@usage.command("prices")
@click.argument("model", required=False)
@click.option("--import", "file", metavar="FILE", help="Replace the imported prices by those of FILE.")
@common.json_option
def usage_prices(model: str | None, file: str | None, as_json: bool) -> None:
    """Show the prices of models and their origin.

    --import reads a file in the JSON form of models.dev: US dollars per million tokens.  The file that it writes is
    beside the settings; [prices."MODEL"] of the settings wins.  agentdash itself opens no connection.
    """
    if model is not None and file is not None:
        raise UsageError("Give a model or --import, not both.")
    if file is not None:
        _import(file, as_json=as_json)
        return
    from agentdash.sessions.settings.config import load_config
    from agentdash.sessions.settings.prices import entries, entry_of, imported

    own = load_config().prices
    if model is None:
        listed = entries(own, imported())
    else:
        one = entry_of(model, own, imported())
        if one is None:
            raise UnknownPriceError(model)
        listed = [one]
    if as_json:
        common.print_json(listed)
    else:
        from agentdash.tui.render.setup.prices import price_lines

        common.print_lines(price_lines(listed, common.style()))


@usage.command("reprice")
@click.option("--all", "every", is_flag=True, help="Also replace costs that were computed with another price.")
@click.option(
    "--since", metavar=TIME, shell_complete=complete_times, help="Only turns that used something since its start."
)
@click.option("--model", metavar="PATTERN", help="Only this model, or those that match, such as gpt-*.")
@click.option("--dry-run", is_flag=True, help="Only show what would change.")
@common.json_option
def usage_reprice(every: bool, since: str | None, model: str | None, dry_run: bool, as_json: bool) -> None:
    """Compute unknown costs with the prices in force now.

    A computed cost keeps the price of its time.  This verb fills in the costs of ended turns whose model had no price;
    --all also replaces computed ones.  What an agent reported never changes.  The prices are those of
    `agentdash usage prices`.
    """
    from agentdash.sessions.rules.costs.repricing import Choice

    begin = since_of(since)
    with common.settled_manager() as manager:
        found = manager.prices.reprice(
            Choice(every=every, model=model),
            None if begin is None else round(begin.timestamp() * 1000),
            dry_run=dry_run,
        )
    if as_json:
        from msgspec import to_builtins

        from agentdash.sessions.rules.json_schema import rounded

        asked = {"since": None if begin is None else begin.isoformat(), "model": model}
        common.print_json(rounded(to_builtins(found)) | {"dry_run": dry_run, "all": every} | asked)
        return
    from agentdash.tui.render.setup.prices import repriced_lines

    common.print_lines(repriced_lines(found, dry_run=dry_run))


def _csv(table: "UsageTable") -> list[str]:
    """Return the rows of a file for spreadsheets: a heading, then a row for each group.

    A key stays as it is, with its control characters, so that no two groups have the same; a label is cleaned.
    """
    from msgspec import structs

    from agentdash.sessions.text.sanitize import one_line
    from agentdash.tui.cli.schemas.usage_record import UsedRecord, used

    records = [used(row, table.query.by) for row in table.rows]
    return [
        _csv_row(field.name for field in structs.fields(UsedRecord)),
        *(_csv_row(structs.astuple(structs.replace(one, label=one_line(one.label)))) for one in records),
    ]


def _csv_row(values: "Iterable[object]") -> str:
    import csv
    from io import StringIO

    file = StringIO(newline="")
    inert = (f"'{one}" if isinstance(one, str) and one.startswith(_FORMULA) else one for one in values)
    csv.writer(file).writerow(inert)
    return file.getvalue().removesuffix("\r\n")  # with this line end, a carriage return in a key is quoted too


def _say(table: "UsageTable") -> None:
    from agentdash.sessions.rules.costs.cost import marks_explained
    from agentdash.sessions.text.sanitize import cell_width
    from agentdash.tui.texts import usage_texts

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
    if marks := marks_explained(lines, style.width):
        lines.append(style.paint(marks, "dim"))
    common.print_lines(lines)


def _import(file: str, *, as_json: bool) -> None:
    from agentdash.sessions.settings.prices import outdated
    from agentdash.sessions.text.sanitize import one_line
    from agentdash.sessions.text.units import count

    with common.open_manager() as manager:
        found = manager.prices.import_file(Path(file).expanduser())
    if (why := outdated(found)) is not None:
        common.notice(one_line(f"warning: {why}."))
    record = {"source": found.source, "as_of": found.as_of, "models": len(found.prices)}
    line = f"{count(len(found.prices), 'price')} of {found.as_of} from {one_line(found.source)}"
    common.print_one(record, line, as_json=as_json)
