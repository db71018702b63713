"""The list prices of the models of OpenAI and Anthropic, in US dollars per million tokens, and the price of a model.

``make prices`` writes ``price_table.json`` from a release of the genai-prices library, which only that command loads.

Batch, flex, fast and priority tiers, regional surcharges and subscriptions have other prices; the user can set them.
A model that is not here has no price: none is derived from a model with a similar name.
"""

from collections.abc import Mapping
from fnmatch import fnmatchcase
from pathlib import Path

import msgspec

from .model_names import plain_name, without_context
from .prices import Price, PriceList

_LIST = msgspec.json.decode(Path(__file__).with_suffix(".json").read_bytes(), type=PriceList)

TABLE: dict[str, Price] = _LIST.prices
"""The list prices, by the name of the model."""

AS_OF = _LIST.as_of
"""The day of the list prices, ISO."""


def list_price(model: str) -> Price | None:
    """Return the list price of a model by any of its names (:mod:`.model_names`); None if it is not here."""
    return TABLE.get(model) or TABLE.get(plain_name(model))


def price_of(model: str, overrides: Mapping[str, Price]) -> Price | None:
    """Return a model's price: the user's, longest pattern first, then the list price; None if it has none."""
    price = stated_price(model, overrides).over(list_price(model) or Price())
    return price if price.known else None


def stated_price(model: str, overrides: Mapping[str, Price]) -> Price:
    """Return the values that the user's prices state for a model, longest pattern first."""
    matching = [key for key in overrides if is_meant(model, key)]
    price = Price()
    for key in sorted(matching, key=len, reverse=True):
        price = price.over(overrides[key])
    return price


def is_meant(model: str, pattern: str) -> bool:
    """Return whether a pattern means a model: its name, or a pattern that one of its names matches."""
    name, meant = model.lower(), pattern.lower()
    return name == meant or any(fnmatchcase(one, meant) for one in (without_context(name), plain_name(name)))
