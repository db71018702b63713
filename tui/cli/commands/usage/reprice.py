"""The verb that computes the costs of ended turns again: reprice."""

import click

from .. import common
from .time_options import TIME, complete_times, since_of


@click.command()
@click.option("--all", "every", is_flag=True, help="Also replace costs that were computed with another price.")
@click.option(
    "--since", metavar=TIME, shell_complete=complete_times, help="Only turns that used something since its start."
)
@click.option("--model", metavar="PATTERN", help="Only this model, or those that match, such as gpt-*.")
@click.option("--dry-run", is_flag=True, help="Only show what would change.")
@common.json_option
def reprice(every: bool, since: str | None, model: str | None, dry_run: bool, as_json: bool) -> None:
    """Compute unknown costs with the prices in force now.

    A computed cost keeps the price of its time.  This verb fills in the costs of ended turns whose model had no price;
    --all also replaces computed ones.  What an agent reported never changes.  The prices are those of `agentdash
    prices`.
    """
    from .....sessions.costs.repricing import Choice

    begin = since_of(since)
    with common.settled_manager() as manager:
        found = manager.prices.reprice(
            Choice(every=every, model=model),
            None if begin is None else round(begin.timestamp() * 1000),
            dry_run=dry_run,
        )
    if as_json:
        from msgspec import to_builtins

        from .....sessions.json_schema import rounded

        asked = {"since": None if begin is None else begin.isoformat(), "model": model}
        common.print_json(rounded(to_builtins(found)) | {"dry_run": dry_run, "all": every} | asked)
        return
    from ....render.setup.prices import repriced_lines

    common.print_lines(repriced_lines(found, dry_run=dry_run))
