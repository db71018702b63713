"""The user's own prices: whether each of them, with the lists, prices any model."""

from collections.abc import Mapping

from ...costs.price_table import TABLE
from ...costs.prices import Price
from ...costs.pricing import price_of, stated_price
from ...errors import ConfigError
from ..config import Loaded, unusable
from .imported import Imported, imported, with_imported


def check_prices(loaded: Loaded) -> None:
    """Check the prices, without a profile and under each profile of the file.

    Only a check reports it: an agent can work without a cost.

    Raises:
        ConfigError: a price would have no effect; names file, line and key.
    """
    for name in ("", *loaded.profiles):
        settings = loaded.under(name)
        if (lacking := incomplete(settings.config.prices)) is not None:
            entry, field = lacking
            under = f" (under the profile {name})" if name else ""
            why = f"{field} is missing. No list has the price of such a model, so that its use has no cost.{under}"
            raise unusable(settings, ("prices", entry), why)


def incomplete(prices: Mapping[str, Price]) -> tuple[str, str] | None:
    """Return the first entry with which no model has a price, and the field that it lacks; None if there is none.

    A part of a price is enough if a list, or another entry, has the rest.
    """
    partial = [name for name, price in prices.items() if not price.known]
    if not partial:
        return None
    found = _imported()
    force = with_imported(prices, found)
    models = {*TABLE, *found.prices, *prices}
    for name in partial:
        own = {name: prices[name]}
        if not any(stated_price(model, own) != Price() and price_of(model, force) for model in models):
            return name, "input" if prices[name].input is None else "output"
    return None


def _imported() -> Imported:
    try:
        return imported()
    except ConfigError:
        return Imported()  # a start reports it
