"""The verb budget: budgets of days and weeks, and of a lead with its workers."""

import math
from typing import TYPE_CHECKING, NamedTuple

import click

from agentdash.sessions.model.errors import UsageError
from agentdash.sessions.model.membership import Budget
from agentdash.sessions.text.sanitize import clean
from agentdash.tui.cli.commands import common

if TYPE_CHECKING:
    from agentdash.sessions.rules.limits.period_budgets import Kind, Period

_NONE = "none"
_MOST_TOKENS = 10**15


def budget_of(
    usd: str | None, tokens: str | None, usd_option: str, tokens_option: str, *, or_zero: bool = False
) -> Budget:
    """Return a budget as the user types it: ``2.50`` and ``500k``; None leaves a kind unlimited.

    ``or_zero``: 0 is a budget too, with which nothing starts.

    Raises:
        UsageError: an amount that is not valid; the error names the option.
    """
    from agentdash.sessions.rules.limits.limits import parsed

    try:
        pairs = [f"{name}={value}" for name, value in (("cost", usd), ("tokens", tokens)) if value is not None]
        amounts = parsed(pairs)
    except UsageError as error:
        raise UsageError(f"{usd_option}, {tokens_option}: {error}") from None
    cost, most = amounts.get("cost_usd"), amounts.get("tokens")
    if isinstance(cost, float) and not (0 < cost < math.inf or (or_zero and cost == 0)):
        raise UsageError(f"{usd_option} must be greater than 0.")
    if isinstance(most, int) and not (0 < most < _MOST_TOKENS or (or_zero and most == 0)):
        raise UsageError(f"{tokens_option} must be greater than 0, and less than {_MOST_TOKENS:,}.")
    return Budget(tokens=most if isinstance(most, int) else None, cost_usd=cost if isinstance(cost, float) else None)


@click.command()
@click.option("--usd", metavar="N", help='Set the budget in US dollars; "none" removes it.')
@click.option("--tokens", metavar="N", help='Set the budget in tokens, such as 500k; "none" removes it.')
@click.option(
    "--day-usd", metavar="N",
    help="Raise or lower today's budget in US dollars, for today only; 0: nothing starts; \"none\": take it back.",
)  # fmt: skip
@click.option("--day-tokens", metavar="N", help="The same for today's budget in tokens.")
@click.option("--week-usd", metavar="N", help="The same for this week's budget in US dollars.")
@click.option("--week-tokens", metavar="N", help="The same for this week's budget in tokens.")
@click.option("--folder", metavar="DIR", help="The budget of [budgets.folders.DIR] that --day-… or --week-… changes.")
@common.json_option
@click.argument("ref", metavar="[ID]", required=False, shell_complete=common.complete_ids)
def budget(
    ref: str | None,
    usd: str | None,
    tokens: str | None,
    day_usd: str | None,
    day_tokens: str | None,
    week_usd: str | None,
    week_tokens: str | None,
    folder: str | None,
    as_json: bool,
) -> None:
    """Show or change the budgets of leads, days and weeks.

    With ID: the budget of a lead and all its workers.  Without ID: the budgets of days and weeks, of all sessions and
    of folders, which are in the settings.  A session whose cost is unknown does not count; their number is shown.

    ID can also be the key of a lead outside agentdash, such as claude:CONVERSATION.  Its budget is in the settings.
    """
    from agentdash.tui.render.setup.budget import budget_json, budget_line

    changes = [*_changes("day", day_usd, day_tokens), *_changes("week", week_usd, week_tokens)]
    if ref is None:
        if usd is not None or tokens is not None:
            raise click.UsageError("--usd and --tokens need an ID.")
        if folder is not None and not changes:
            raise click.UsageError("--folder needs --day-usd, --day-tokens, --week-usd or --week-tokens.")
        _periods(changes, folder or "", as_json=as_json)
        return
    if folder is not None or changes:
        raise click.UsageError("--folder, --day-… and --week-… go without an ID.")
    with common.settled_manager() as manager:
        state = manager.reader.budget(ref)
        if usd is not None or tokens is not None:
            amounts = (usd if usd != _NONE else None, tokens if tokens != _NONE else None)
            named = budget_of(*amounts, "--usd", "--tokens")
            now = state.budget if state.own and state.budget is not None else Budget()
            wanted = Budget(
                tokens=now.tokens if tokens is None else named.tokens,
                cost_usd=now.cost_usd if usd is None else named.cost_usd,
            )
            state = manager.budgets.change(ref, wanted)
    common.print_one(budget_json(state), budget_line(state), as_json=as_json)


class _Change(NamedTuple):
    """A change of the budget of a period."""

    period: "Period"
    most: Budget
    back: list["Kind"]
    """The kinds of which an earlier change is taken back."""


def _changes(period: "Period", usd: str | None, tokens: str | None) -> list[_Change]:
    """Return the change of the budget of a period as the user types it; empty if there is none."""
    typed: dict[Kind, str | None] = {"cost_usd": usd, "tokens": tokens}
    new_usd, new_tokens = (None if one == _NONE else one for one in typed.values())
    most = budget_of(new_usd, new_tokens, f"--{period}-usd", f"--{period}-tokens", or_zero=True)
    back = [kind for kind, one in typed.items() if one == _NONE]
    return [_Change(period, most, back)] if back or most != Budget() else []


def _periods(changes: list[_Change], folder: str, *, as_json: bool) -> None:
    """Change the budgets of the day and the week, and print all."""
    from agentdash.tui.render.setup.budget import period_json, period_line

    with common.settled_manager() as manager:
        manager.reader.settings.config()  # broken settings are an error here, not a list of earlier budgets
        for one in changes:
            manager.budgets.raise_to(folder, one.period, one.most, one.back)
        states = manager.reader.period_budgets()
    if as_json:
        common.print_json([period_json(state) for state in states])
    elif states:
        common.print_lines([clean(period_line(state)) for state in states])
    else:
        common.print_lines(["No budget of a day or a week. Set one in the settings: [budgets] day_usd = 20"])
