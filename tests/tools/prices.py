"""Write the list prices that agentdash ships from those of the genai-prices library: ``make prices``.

The library needs pydantic and a third of a second to load, so that only this script loads it.  To take a newer
release: change the version in ``pyproject.toml``, :data:`RELEASE` and :data:`RELEASED`, run ``make prices``, and read
the difference of the written module, which has a line for each model.
"""

import sys
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from decimal import Decimal
from importlib.metadata import version
from pathlib import Path
from typing import Any

from genai_prices.data import providers
from genai_prices.types import ClauseEquals, ClauseOr, ModelInfo, TieredPrices
from msgspec import structs

from agentdash.sessions.rules.costs.prices import Price
from agentdash.sessions.rules.costs.pricing import plain_name

RELEASE = "0.2.3"
RELEASED = datetime(2026, 11, 10, 21, 51, tzinfo=UTC)
"""The time of that release, by https://pypi.org/project/genai-prices/#history; the prices are those of that time."""

FILE = Path(__file__).parents[2] / "sessions" / "rules" / "costs" / "price_table.py"

HEAD = '''\
"""The list prices of the models of OpenAI and Anthropic, in US dollars per million tokens.  Pure.

``make prices`` writes this module from genai-prices {release}, and what that lacks from ``tests/tools/prices.py``.

Batch, flex, fast and priority tiers, regional surcharges and subscriptions have other prices; the user can set them.
"""
# fmt: off
# ruff: noqa: E501

from agentdash.sessions.rules.costs.prices import Price

AS_OF = "{day}"
"""The day of that release."""

TABLE: dict[str, Price] = {{
'''

PROVIDERS = ("anthropic", "openai")
LEAST_CONTEXT = 200_000
"""The least context, in tokens, of a model that is listed: smaller ones are not for agents."""

SAME_AS = {
    # https://platform.claude.com/docs/en/models/fable-5-1/overview and .../fable-5/overview: each shares its prices.
    "claude-mythos-5-1": "claude-fable-5-1",
    "claude-mythos-5": "claude-fable-5",
}
"""Models that the library lacks, and the models with their prices."""

LACKING = {
    # https://developers.openai.com/api/docs/models/gpt-6.2-sol, on 2026-11-22.
    "gpt-6.2-sol": Price(
        input=2.0,
        cached_input=0.1,
        cache_write=2.5,
        output=10.0,
        long_prompt_tokens=272_000,
        long_input_factor=2.0,
        long_output_factor=1.5,
    ),
}
"""The prices of other models that the library lacks."""

NEVER_LONG = {"claude-sonnet-4-5"}
"""Models whose prices of long prompts are history: https://platform.claude.com/docs/en/release-notes/overview says that
their context ends at 200,000 tokens since 2026-04-30."""

_AMOUNTS = {
    "input": "input_mtok",
    "cached_input": "cache_read_mtok",
    "cache_write": "cache_write_mtok",
    "cache_write_1h": "cache_write_1h_mtok",
    "output": "output_mtok",
}
"""The fields of :class:`Price`, and those of the library."""


def made() -> str:
    """Return the text of the module.

    Raises:
        ValueError: another release of the library is installed, it has a model of the supplement, or one of its prices
            cannot be expressed.
    """
    if (installed := version("genai-prices")) != RELEASE:
        raise ValueError(f"genai-prices {installed} is installed: set RELEASE and RELEASED in {__file__} to it")
    rows = "".join(f'    "{name}": {_call(price)},\n' for name, price in sorted(_prices().items()))
    return HEAD.format(release=RELEASE, day=RELEASED.date()) + rows + "}\n"


def _prices() -> dict[str, Price]:
    """Return the price of each name: those of the library, and what it lacks."""
    listed = {name: _price(model) for model in models() for name in _names(model)}
    added = LACKING | {name: listed[other] for name, other in SAME_AS.items()}
    if known := sorted(added.keys() & listed.keys()):
        raise ValueError(f"the library has {', '.join(known)} now: remove it from SAME_AS or LACKING in {__file__}")
    return listed | added


def models() -> Iterator[ModelInfo]:
    """Yield the models for agents: their input can be cached, and their context is large."""
    for provider in providers:
        if provider.id in PROVIDERS:
            for model in provider.models:
                if (model.context_window or 0) >= LEAST_CONTEXT and _amount(model, "cached_input") is not None:
                    yield model


def _names(model: ModelInfo) -> set[str]:
    """Return the exact names of a model, without the date of a snapshot.

    What the library finds by the beginning of a name is left out: it may be a similar model.
    """
    clauses = model.match.or_ if isinstance(model.match, ClauseOr) else [model.match]
    exact = {model.id, *(clause.equals for clause in clauses if isinstance(clause, ClauseEquals))}
    return {plain if model.is_match(plain := plain_name(name)) else name for name in exact}


def _amount(model: ModelInfo, field: str) -> TieredPrices | Decimal | None:
    amount: TieredPrices | Decimal | None = getattr(model.get_prices(RELEASED), _AMOUNTS[field])
    return amount


def _price(model: ModelInfo) -> Price:
    amounts = {field: amount for field in _AMOUNTS if (amount := _amount(model, field)) is not None}
    usual: dict[str, Any] = {
        field: float(one.base if isinstance(one, TieredPrices) else one) for field, one in amounts.items()
    }
    tiered = {field: one for field, one in amounts.items() if isinstance(one, TieredPrices)}
    if not tiered or model.id in NEVER_LONG:
        return Price(**usual)
    if tiered.keys() != amounts.keys():
        raise ValueError(f"{model.id}: a part of its price is the same for long prompts, which a Price cannot express")
    return structs.replace(_long(model.id, tiered), **usual)


def _long(name: str, tiered: Mapping[str, TieredPrices]) -> Price:
    """Return the price of long prompts: one factor for all input, one for the output."""
    above = {tier.start for one in tiered.values() for tier in one.tiers}
    factors = {field: {float(tier.price / one.base) for tier in one.tiers} for field, one in tiered.items()}
    outward, inward = factors.pop("output"), set[float]().union(*factors.values())
    if not len(above) == len(inward) == len(outward) == 1:
        raise ValueError(f"{name}: its prices of long prompts are not one factor for all input and one for the output")
    return Price(long_prompt_tokens=above.pop(), long_input_factor=inward.pop(), long_output_factor=outward.pop())


def _call(price: Price) -> str:
    stated = {field: value for field, value in structs.asdict(price).items() if value is not None}
    return f"Price({', '.join(f'{field}={value}' for field, value in stated.items())})"


if __name__ == "__main__":
    try:
        FILE.write_text(made(), encoding="utf-8")
    except ValueError as error:
        sys.exit(str(error))
