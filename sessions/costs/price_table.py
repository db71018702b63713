"""The list prices of the models of codex and claude, in US dollars per million tokens.

The figures are the providers' public standard prices, checked on the date in ``CHECKED``:

* https://platform.claude.com/docs/en/about-claude/pricing
* https://developers.openai.com/api/docs/pricing and the page of each model below
  https://developers.openai.com/api/docs/models/

Batch, flex, fast and priority tiers, regional surcharges and subscriptions have other prices; the user can set them.
A model that is not here has no price: none is derived from a model with a similar name.
"""

from collections.abc import Mapping
from fnmatch import fnmatchcase

from .model_names import plain_name, without_context
from .prices import Price

CHECKED = "2026-11-22"


def _claude(input_: float, cached: float, output: float) -> Price:
    """Return a claude price: a cache write for five minutes costs 1.25 times the input, for an hour twice the input."""
    return Price(input=input_, cached_input=cached, cache_write=1.25 * input_, cache_write_1h=2 * input_, output=output)


def _gpt(input_: float, cached: float, output: float) -> Price:
    """Return a price without a separate one for long prompts or cache writes."""
    return Price(input=input_, cached_input=cached, output=output)


def _long_gpt(input_: float, cached: float, output: float, write: float | None = None) -> Price:
    """Return a price for which, above 272,000 input tokens, all input costs twice and the output 1.5 times as much."""
    return Price(
        input=input_,
        cached_input=cached,
        cache_write=write,
        output=output,
        long_prompt_tokens=272_000,
        long_input_factor=2.0,
        long_output_factor=1.5,
    )


_FABLE = _claude(10.0, 1.0, 50.0)
_FABLE_5_1 = _claude(10.0, 0.25, 50.0)
_OPUS = _claude(5.0, 0.5, 25.0)
_OLD_OPUS = _claude(15.0, 1.5, 75.0)
_OLD_SONNET = _claude(3.0, 0.3, 15.0)
_HAIKU_5_5 = Price(
    input=0.1,
    cached_input=0.01,
    cache_write=0.125,
    cache_write_1h=0.2,
    output=0.5,
    long_prompt_tokens=100_000,
    long_input_factor=5.0,
    long_output_factor=5.0,
)
_GPT_5_6_SOL = _long_gpt(4.0, 0.4, 20.0, 5.0)
"""A promotion, announced until at least 2026-11-21; before it, 5 for input and 30 for output."""
_GPT_5_1 = _gpt(1.25, 0.125, 10.0)
_GPT_5_2 = _gpt(1.75, 0.175, 14.0)

TABLE: dict[str, Price] = {
    "claude-fable-5-1": _FABLE_5_1,
    "claude-mythos-5-1": _FABLE_5_1,
    "claude-fable-5": _FABLE,
    "claude-mythos-5": _FABLE,
    "claude-opus-5-5": _claude(4.0, 0.2, 20.0),
    "claude-opus-5": _OPUS,
    "claude-opus-4-8": _OPUS,
    "claude-opus-4-7": _OPUS,
    "claude-opus-4-6": _OPUS,
    "claude-opus-4-5": _OPUS,
    "claude-opus-4-1": _OLD_OPUS,
    "claude-opus-4-0": _OLD_OPUS,
    "claude-opus-4": _OLD_OPUS,
    "claude-sonnet-5-5": _claude(2.0, 0.1, 10.0),
    "claude-sonnet-5": _claude(2.0, 0.2, 10.0),
    "claude-sonnet-4-6": _OLD_SONNET,
    "claude-sonnet-4-5": _OLD_SONNET,
    "claude-sonnet-4-0": _OLD_SONNET,
    "claude-sonnet-4": _OLD_SONNET,
    "claude-3-7-sonnet": _OLD_SONNET,
    "claude-haiku-5-5": _HAIKU_5_5,
    "claude-haiku-4-5": _claude(1.0, 0.1, 5.0),
    "claude-3-5-haiku": _claude(0.8, 0.08, 4.0),
    "gpt-6.2-sol": _long_gpt(2.0, 0.1, 10.0, 2.5),
    "gpt-6.1-sol": _long_gpt(2.0, 0.1, 10.0, 2.5),
    "gpt-6.1-terra": _long_gpt(1.0, 0.05, 5.0, 1.25),
    "gpt-6-astra": _long_gpt(10.0, 1.0, 50.0, 12.5),
    "gpt-6-sol": _long_gpt(2.0, 0.2, 10.0, 2.5),
    "gpt-6-luna": _long_gpt(0.1, 0.01, 0.5, 0.125),
    "gpt-5.6": _GPT_5_6_SOL,
    "gpt-5.6-sol": _GPT_5_6_SOL,
    "gpt-5.6-terra": _long_gpt(2.0, 0.2, 12.0, 2.5),
    "gpt-5.6-luna": _long_gpt(0.2, 0.02, 1.2, 0.25),
    "gpt-5.5": _long_gpt(5.0, 0.5, 30.0),
    "gpt-5.4": _long_gpt(2.5, 0.25, 15.0),
    "gpt-5.4-mini": _gpt(0.75, 0.075, 4.5),
    "gpt-5.4-nano": _gpt(0.2, 0.02, 1.25),
    "gpt-5.3-codex": _GPT_5_2,
    "gpt-5.2-codex": _GPT_5_2,
    "gpt-5.2": _GPT_5_2,
    "gpt-5.1-codex-max": _GPT_5_1,
    "gpt-5.1-codex": _GPT_5_1,
    "gpt-5.1": _GPT_5_1,
    "gpt-5-codex": _GPT_5_1,
    "gpt-5": _GPT_5_1,
}


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
