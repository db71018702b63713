"""The price of a model, and the cost of a report at that price, with the price entry and its date.  Pure.

A model without a price of the user or the list has none: a similar name says nothing about a price.  But the same model
has several names: ``claude-opus-4-8`` is ``anthropic/claude-opus-4-8`` for OpenRouter and LiteLLM,
``us.anthropic.claude-opus-4-8-v1:0`` for Bedrock, ``claude-opus-4-8@20260101`` for Vertex, and
``claude-opus-4-8[1m]`` for claude if it has the larger context.  Only parts with a known meaning are left out, so that
no model gets the name of one that is merely similar."""

import re
from collections.abc import Mapping
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

import msgspec
from msgspec import structs

from agentdash.sessions.model.usage import Usage
from agentdash.sessions.rules.costs.price_table import AS_OF, TABLE
from agentdash.sessions.rules.costs.prices import Call, Price

if TYPE_CHECKING:
    from agentdash.sessions.rules.costs.reports import Report


_OF_CODEX = ("call", "rollout")
"""The sources of codex's calls (:mod:`.reports`)."""

OWN = "settings"
"""The date of a price that the user's settings give without one."""


def list_price(model: str) -> Price | None:
    """Return the list price of a model by any of its names; None if it is not here."""
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


class Pricing:
    """Computes costs; the prices do not change while it lives.

    Args:
        overrides: the user's own prices, which win over the list.
    """

    def __init__(self, overrides: Mapping[str, Price] | None = None) -> None:
        self._overrides = overrides or {}
        self._known: dict[str, tuple[Price, str, str] | None] = {}

    def priced(self, report: "Report") -> "Report":
        """Return a report with its computed cost; as it is if it has a cost, or its cost is not certain.

        A model with another price for long prompts prices each call: a sum of several calls has a certain cost only
        if none of them can be long.
        """
        found = self._found(report.model)
        if found is None or report.reported_usd is not None or report.kind == "thread":
            return report
        if report.source in _OF_CODEX and report.usage.cached_input_tokens is None:
            return report  # codex reports it with each call: it could not be read
        price, entry, as_of = found
        call = call_of(report.usage, report.written_1h)
        if call is None or (report.kind != "call" and price.is_long(call)):
            return report
        return structs.replace(report, computed_usd=price.cost(call), price=entry, price_as_of=as_of)

    def entry(self, model: str | None) -> tuple[str, str] | None:
        """Return the price entry of a model as JSON, and its date; None if it has none."""
        found = self._found(model)
        return found[1:] if found is not None else None

    def _found(self, model: str | None) -> tuple[Price, str, str] | None:
        if not model or model.startswith("<"):
            return None
        if model not in self._known:
            if len(self._known) >= _MOST_MODELS:
                self._known.clear()
            price = price_of(model, self._overrides)
            self._known[model] = None if price is None else (price, _entry(price), self._date(model, price))
        return self._known[model]

    def _date(self, model: str, price: Price) -> str:
        if price.as_of is not None:
            return price.as_of
        return AS_OF if price == price_of(model, {}) else OWN


_MOST_MODELS = 1_000


def call_of(usage: Usage, written_1h: int | None = None) -> Call | None:
    """Return the tokens of a call, each in one field; None if input or output is not known."""
    if usage.input_tokens is None or usage.output_tokens is None:
        return None
    cached = min(usage.cached_input_tokens or 0, usage.input_tokens)
    written = min(usage.cache_write_tokens or 0, usage.input_tokens - cached)
    for_an_hour = min(written_1h or 0, written)
    return Call(
        input_tokens=usage.input_tokens - cached - written,
        cached_input_tokens=cached,
        cache_write_tokens=written - for_an_hour,
        cache_write_1h_tokens=for_an_hour,
        output_tokens=usage.output_tokens,
    )


def _entry(price: Price) -> str:
    return msgspec.json.encode({k: v for k, v in structs.asdict(price).items() if v is not None}).decode()


_PROVIDERS = frozenset({
    "amazon-bedrock", "anthropic", "azure", "azure-openai", "bedrock", "bedrock_converse", "converse", "google-vertex",
    "models", "openai", "openrouter", "publishers", "vertex", "vertex_ai",
})  # fmt: skip
"""The parts before a slash that name who serves a model; another one may be a model of its own."""

_LONGEST = 500
"""Characters read of a name, which the output of an agent may give."""

_ARN = re.compile(r"\Aarn:aws[a-z-]*:bedrock:.*(?:inference-profile|foundation-model)/", re.ASCII)
_BEDROCK = re.compile(r"(?:(?:us|us-gov|eu|ap|apac|au|ca|jp|sa|global)\.)?(anthropic|openai)\.(?=[a-z])", re.ASCII)
_VERSION = re.compile(r"-v\d{1,2}:\d{1,2}$", re.ASCII)
_BEDROCK_VERSION = re.compile(r"-v\d{1,2}(?::\d{1,2})?$", re.ASCII)
"""A version may lack its second number: ``anthropic.claude-opus-4-6-v1``; only Bedrock's names have it."""
_AT = re.compile(r"@(?:\d{8}|latest|default)$", re.ASCII)
_DATE = re.compile(r"-(?:\d{8}|\d{4}-\d{2}-\d{2}|latest)$", re.ASCII)
"""The end of a snapshot's name; a snapshot costs the same as its model: ``claude-haiku-4-5-20251001``."""


def without_context(name: str) -> str:
    """Return a name without the size of the context, which claude appends: ``claude-opus-4-8[1m]``."""
    return name.partition("[")[0]


def plain_name(name: str) -> str:
    """Return the name of a model in small letters, without provider, region, version, context and date."""
    plain = _ARN.sub("", without_context(name[:_LONGEST].strip().lower()))
    head, slash, rest = plain.partition("/")
    while slash and head in _PROVIDERS:
        plain = rest
        head, slash, rest = plain.partition("/")
    unprefixed = _BEDROCK.sub("", plain)
    plain = (_VERSION if unprefixed == plain else _BEDROCK_VERSION).sub("", unprefixed)
    return _DATE.sub("", _AT.sub("", plain))
