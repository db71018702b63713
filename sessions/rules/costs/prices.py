"""Prices of tokens in US dollars, and the cost of one model call.  Pure.

The result is always an estimate at list prices.  An agent's own figure, if it reports one, is better.
"""

from typing import Annotated

from msgspec import Meta, Struct, structs

PricePerMillion = Annotated[float, Meta(ge=0, le=1_000_000)]
Factor = Annotated[float, Meta(gt=0, le=1000)]


def described(description: str, example: object, default: str) -> Meta:
    """Return what the settings say of a key: its meaning, an example, and what counts without it."""
    return Meta(description=description, examples=[example], extra={"default": default})


class Price(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """``[prices."PATTERN"]``: US dollars for a million tokens; unset values come from the built-in table."""

    input: Annotated[
        PricePerMillion | None,
        described(
            "USD per million input tokens; NAME is a model or a pattern such as claude-opus-*.",
            5.0,
            "list price, if the model is known",
        ),
    ] = None
    cached_input: Annotated[
        PricePerMillion | None, described("USD per million cached input tokens.", 0.5, "list price, else as input")
    ] = None
    cache_write: Annotated[
        PricePerMillion | None,
        described(
            "USD per million tokens written to the cache (claude: for 5 minutes).", 6.25, "list price, else as input"
        ),
    ] = None
    cache_write_1h: Annotated[
        PricePerMillion | None,
        described("USD per million tokens written to the cache for an hour.", 10.0, "list price, else as cache_write"),
    ] = None
    output: Annotated[
        PricePerMillion | None,
        described("USD per million output tokens, reasoning included.", 25.0, "list price, if the model is known"),
    ] = None
    long_prompt_tokens: Annotated[
        Annotated[int, Meta(gt=0)] | None,
        described("Number of input tokens above which long-prompt prices apply.", 272_000, "as in the price list"),
    ] = None
    long_input_factor: Annotated[
        Factor | None,
        described("Price factor for the input of long prompts, cached or not.", 2.0, "as in the price list, else 1"),
    ] = None
    long_output_factor: Annotated[
        Factor | None, described("Price factor for the output of long prompts.", 1.5, "as in the price list, else 1")
    ] = None

    as_of: Annotated[
        Annotated[str, Meta(max_length=40)] | None,
        described(
            "Date of these prices; it is kept with the costs that are computed with them.",
            "2026-11-22",
            "that of the list price",
        ),
    ] = None

    @property
    def known(self) -> bool:
        """True if a call can be priced at all."""
        return self.input is not None and self.output is not None

    def over(self, general: "Price") -> "Price":
        """Return these prices, with the general ones for those not set here."""
        known = {key: value for key, value in structs.asdict(self).items() if value is not None}
        return structs.replace(general, **known)

    def cost(self, call: "Call") -> float:
        """Return the cost of one model call in US dollars; tokens without a price cost 0."""
        base = self.input or 0.0
        write = _or(self.cache_write, base)
        parts = (
            call.input_tokens * base,
            call.cached_input_tokens * _or(self.cached_input, base),
            call.cache_write_tokens * write,
            call.cache_write_1h_tokens * _or(self.cache_write_1h, write),
        )
        long = self.is_long(call)
        inward = _or(self.long_input_factor, 1.0) if long else 1.0
        outward = _or(self.long_output_factor, 1.0) if long else 1.0
        return (sum(parts) * inward + call.output_tokens * (self.output or 0.0) * outward) / 1_000_000

    def is_long(self, call: "Call") -> bool:
        """Return whether a call has the price of long prompts."""
        return self.long_prompt_tokens is not None and call.prompt_tokens > self.long_prompt_tokens


class Call(Struct, frozen=True, kw_only=True):
    """The tokens of one model call; each is counted in exactly one field."""

    input_tokens: int = 0
    """Input that was not read from a cache or written to one."""
    cached_input_tokens: int = 0
    cache_write_tokens: int = 0
    cache_write_1h_tokens: int = 0
    output_tokens: int = 0

    @property
    def prompt_tokens(self) -> int:
        """All input tokens of the call."""
        return self.input_tokens + self.cached_input_tokens + self.cache_write_tokens + self.cache_write_1h_tokens


def _or(value: float | None, otherwise: float) -> float:
    return otherwise if value is None else value
