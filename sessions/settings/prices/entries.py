"""The price of each model in force, with its origin and its date."""

from collections.abc import Mapping
from typing import Literal

from msgspec import Struct

from ...costs.price_table import AS_OF, TABLE
from ...costs.prices import Price
from ...costs.pricing import OWN, price_of, stated_price
from .imported import Imported, with_imported

Origin = Literal["built-in", "imported", "settings"]

_MOST_NAMES = 5
"""Models that a sentence names."""


class PriceEntry(Struct, frozen=True, kw_only=True):
    """The price of a model, or of a pattern of the settings."""

    model: str
    origin: Origin
    as_of: str
    price: Price


def entries(settings: Mapping[str, Price], found: Imported) -> list[PriceEntry]:
    """Return the price of each model with its origin, by name; patterns of the settings come with their own values."""
    force = with_imported(settings, found)
    names = sorted({*TABLE, *found.prices, *settings})
    return [one for name in names if (one := _entry(name, settings, found, force)) is not None]


def entry_of(model: str, settings: Mapping[str, Price], found: Imported) -> PriceEntry | None:
    """Return the price of a model with its origin; None if it has none."""
    return _entry(model, settings, found, with_imported(settings, found))


def outdated(found: Imported) -> str | None:
    """Return a sentence if the imported prices are older than the built-in ones that they replace; else None."""
    if not found.prices or not found.as_of or found.as_of >= AS_OF:
        return None
    replaced = sorted(TABLE.keys() & with_imported({}, found).keys())
    win = f", and replace them for {names_of(replaced)}" if replaced else ""
    return f"the imported prices are those of {found.as_of}, older than the built-in ones of {AS_OF}{win}"


def names_of(models: list[str]) -> str:
    """Return the first names, and a sign if there are more."""
    return ", ".join(models[:_MOST_NAMES]) + (", …" if len(models) > _MOST_NAMES else "")


def _entry(name: str, settings: Mapping[str, Price], found: Imported, force: Mapping[str, Price]) -> PriceEntry | None:
    price = price_of(name, force) or settings.get(name)
    if price is None:
        return None
    if name in settings or stated_price(name, settings) != Price():
        return PriceEntry(model=name, origin="settings", as_of=price.as_of or OWN, price=price)
    # An imported price that equals the list confirms it, unless it is older.
    if stated_price(name, found.prices) != Price() and (price.as_of is not None or found.as_of >= AS_OF):
        return PriceEntry(model=name, origin="imported", as_of=found.as_of, price=price)
    return PriceEntry(model=name, origin="built-in", as_of=price.as_of or AS_OF, price=price)
