"""Prices from a file in the JSON form of models.dev: US dollars per million tokens, by provider and model.  Pure."""

from typing import Annotated

import msgspec
from msgspec import Meta, Struct, field

from agentdash.sessions.model import typed
from agentdash.sessions.model.errors import UsageError
from agentdash.sessions.rules.costs.prices import Price

MOST_BYTES = 20_000_000
"""The greatest size of a file, some ten times that of models.dev's own."""

_LEAST_USD, _MOST_USD = 0.001, 10_000.0
"""A price outside of these has another unit: dollars per token, or per thousand tokens in another currency."""
_MOST_NAME = 200

_Amount = Annotated[float, Meta(ge=0)]


class _Rates(Struct, frozen=True):
    input: _Amount | None = None
    output: _Amount | None = None
    cache_read: _Amount | None = None
    cache_write: _Amount | None = None


class _Cost(_Rates, frozen=True):
    context_over_200k: _Rates | None = None


class _Model(Struct, frozen=True):
    cost: _Cost | None = None


class _Provider(Struct, frozen=True):
    models: dict[str, _Model] = field(default_factory=dict)


class _File(Struct, frozen=True):
    anthropic: _Provider | None = None
    openai: _Provider | None = None


def prices_in(data: bytes, as_of: str) -> dict[str, Price]:
    """Return the prices of the models of Anthropic and OpenAI, which the shipped agents run.

    Models without a price, or with a price of 0, are left out: 0 there stands for an unknown price.

    Args:
        as_of: the date of the prices, ISO.

    Raises:
        UsageError: it is not such a file, or a price is not valid; no part of it is used then.
    """
    if len(data) > MOST_BYTES:
        raise UsageError(f"the file is larger than {MOST_BYTES // 10**6} MB, which no list of prices is")
    try:
        file = typed.decode(data, _File)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise UsageError(f"not a valid list of prices in the form of models.dev: {error}") from None
    prices = {}
    for provider, is_claude in ((file.anthropic, True), (file.openai, False)):
        for name, model in (provider.models if provider is not None else {}).items():
            if model.cost is not None and model.cost.input and model.cost.output:
                if not name or len(name) > _MOST_NAME or not name.isprintable():
                    raise UsageError("the name of a model is empty, too long or not printable")
                prices[name.lower()] = _price(name, model.cost, as_of, is_claude=is_claude)
    if not prices:
        raise UsageError("it has no priced model of anthropic or openai")
    return prices


def _price(name: str, cost: _Cost, as_of: str, *, is_claude: bool) -> Price:
    rates = (cost.input, cost.output, cost.cache_read, cost.cache_write)
    if any(rate and not _LEAST_USD <= rate <= _MOST_USD for rate in rates):
        raise UsageError(f"{name}: a price is not in US dollars per million tokens")
    long = cost.context_over_200k or _Rates()
    has_long = bool(long.input and long.output)
    return Price(
        input=cost.input,
        cached_input=cost.cache_read,
        cache_write=cost.cache_write,
        cache_write_1h=2 * cost.input if is_claude and cost.input else None,  # not in the file; Anthropic's own rule
        output=cost.output,
        long_prompt_tokens=200_000 if has_long else None,
        long_input_factor=_factor(name, long.input, cost.input) if has_long else None,
        long_output_factor=_factor(name, long.output, cost.output) if has_long else None,
        as_of=as_of,
    )


def _factor(name: str, long: float | None, usual: float | None) -> float:
    factor = (long or 0.0) / (usual or 1.0)
    if not 0.1 <= factor <= 100:
        raise UsageError(f"{name}: the price of long prompts is not in US dollars per million tokens")
    return factor
