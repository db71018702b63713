"""The verb that shows and changes the budget of a lead: budget."""

import math

import click

from ....sessions.errors import UsageError
from ....sessions.membership import Budget
from . import common

_NONE = "none"
_MOST_TOKENS = 10**15


def budget_of(usd: str | None, tokens: str | None, usd_option: str, tokens_option: str) -> Budget:
    """Return a budget as the user types it: ``2.50`` and ``500k``; None leaves a kind unlimited.

    Raises:
        UsageError: an amount that is not valid; the error names the option.
    """
    from ....sessions.rules.limits import parsed

    try:
        pairs = [f"{name}={value}" for name, value in (("cost", usd), ("tokens", tokens)) if value is not None]
        amounts = parsed(pairs)
    except UsageError as error:
        raise UsageError(f"{usd_option}, {tokens_option}: {error}") from None
    cost, most = amounts.get("cost_usd"), amounts.get("tokens")
    if isinstance(cost, float) and not (0 < cost < math.inf):
        raise UsageError(f"{usd_option} must be greater than 0.")
    if isinstance(most, int) and not (0 < most < _MOST_TOKENS):
        raise UsageError(f"{tokens_option} must be greater than 0, and less than {_MOST_TOKENS:,}.")
    return Budget(tokens=most if isinstance(most, int) else None, cost_usd=cost if isinstance(cost, float) else None)


@click.command()
@click.option("--usd", metavar="N", help='Set the budget in US dollars; "none" removes it.')
@click.option("--tokens", metavar="N", help='Set the budget in tokens, such as 500k; "none" removes it.')
@common.json_option
@common.id_argument
def budget(ref: str, usd: str | None, tokens: str | None, as_json: bool) -> None:
    """Show or change the budget of a lead and all its workers.

    ID can also be the key of a lead outside agentdash, such as claude:CONVERSATION.  Its budget is in the settings.
    """
    from ...render.budget import budget_json, budget_line

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
    if as_json:
        common.print_json(budget_json(state))
    else:
        common.print_lines([budget_line(state)])
