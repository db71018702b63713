"""The limits of a session on time, silence, output, tokens and cost, and the check for crossed ones.  Pure."""

import re
from collections.abc import Callable, Iterable, Mapping
from decimal import Decimal
from typing import Annotated, Literal

from msgspec import Meta, Struct, structs

from agentdash.sessions.model import durations
from agentdash.sessions.model.errors import UsageError
from agentdash.sessions.rules.costs.cost import Cost
from agentdash.sessions.text.units import compared_money

Positive = Annotated[float, Meta(gt=0)]

_AMOUNT = re.compile(r"(\d+(?:\.\d+)?|\.\d+)\s*([kmgt]?)", re.ASCII)
_FACTORS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}


class Limits(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """``[limits]``, ``[agents.<name>.limits]`` or the options of one spawn; None means no limit."""

    wall_seconds: Annotated[
        Positive | None,
        Meta(
            description="Maximum duration of a turn, in seconds, without the time in which it waits for your answer.",
            examples=[3600.0],
        ),
    ] = None
    silence_seconds: Annotated[
        Positive | None,
        Meta(description="Maximum time without output while an agent runs, in seconds.", examples=[600.0]),
    ] = None
    output_mb: Annotated[Positive | None, Meta(description="Maximum output of a turn, in MB.", examples=[200.0])] = None
    tokens: Annotated[
        Annotated[int, Meta(gt=0)] | None, Meta(description="Maximum tokens of the whole session.", examples=[500_000])
    ] = None
    cost_usd: Annotated[
        Positive | None,
        Meta(
            description="Maximum cost of the whole session, in USD; while a turn runs, estimated from [prices].",
            examples=[5.0],
        ),
    ] = None
    action: Annotated[
        Literal["stop", "warn"] | None,
        Meta(description="Action at a limit: stop the session, or only warn.", extra={"default": "stop"}),
    ] = None

    def over(self, general: "Limits") -> "Limits":
        """Return these limits, with the general ones for those that are not set."""
        stated = {key: value for key, value in structs.asdict(self).items() if value is not None}
        return structs.replace(general, **stated)

    @property
    def stops(self) -> bool:
        """True if a crossed limit ends the turn."""
        return self.action != "warn"


class Measured(Struct, frozen=True, kw_only=True):
    """The use of a turn and its session so far."""

    wall_s: float
    """Without the time in which the turn waited for answers."""
    silence_s: float | None
    """None while the turn waits for an answer: that silence does not count."""
    output_bytes: int
    tokens: int | None
    cost_usd: float | None
    estimated: bool = False
    """True if part of the cost was computed from tokens and prices."""


def crossed(limits: Limits, now: Measured) -> dict[str, str]:
    """Return the crossed limits by name, each with its text; usually empty."""
    reasons = {}
    if limits.wall_seconds is not None and now.wall_s >= limits.wall_seconds:
        reasons["wall"] = f"ran longer than {durations.text(limits.wall_seconds)}"
    if limits.silence_seconds is not None and now.silence_s is not None and now.silence_s >= limits.silence_seconds:
        reasons["silence"] = f"no output for {durations.text(limits.silence_seconds)}"
    if limits.output_mb is not None and now.output_bytes > limits.output_mb * 10**6:
        reasons["output"] = f"printed more than {limits.output_mb:,.12g} MB ({now.output_bytes:,} bytes)"
    return reasons | used_up(limits, now.tokens, now.cost_usd, estimated=now.estimated)


def used_up(limits: Limits, tokens: int | None, cost_usd: float | None, *, estimated: bool = False) -> dict[str, str]:
    """Return the crossed limits on the whole session; waiting for its next turn changes none of them."""
    reasons = {}
    if limits.tokens is not None and tokens is not None and tokens > limits.tokens:
        reasons["tokens"] = f"used more than {limits.tokens:,} tokens ({tokens:,})"
    if limits.cost_usd is not None and cost_usd is not None and cost_usd > limits.cost_usd:
        mark = Cost(computed_usd=cost_usd if estimated else None).mark
        used = compared_money(cost_usd, above=limits.cost_usd)
        reasons["cost"] = f"cost more than {compared_money(limits.cost_usd)} ({mark}{used})"
    return reasons


def roomier(name: str, tokens: int | None, cost_usd: float | None) -> str:
    """Return a higher limit, about twice the use so far, with which the session can go on."""
    if name == "cost":
        return f"cost={_round_up(2 * (cost_usd or 0.0)):g}"
    amount = _round_up(2 * (tokens or 0))
    for unit, factor in (("M", 10**6), ("k", 10**3)):
        if amount >= factor:
            return f"tokens={amount / factor:g}{unit}"
    return f"tokens={amount:g}"


def _round_up(amount: float) -> float:
    """Round up to a number of one digit and zeros."""
    shown = Decimal(f"{amount:.0e}")
    return float(shown if shown >= Decimal(repr(amount)) else shown + Decimal(1).scaleb(shown.adjusted()))


def seconds_left(limits: Limits, now: Measured) -> float | None:
    """Return the seconds until time alone crosses the next limit; None if it will cross none."""
    left = []
    if limits.wall_seconds is not None and now.silence_s is not None:
        left.append(limits.wall_seconds - now.wall_s)
    if limits.silence_seconds is not None and now.silence_s is not None:
        left.append(limits.silence_seconds - now.silence_s)
    return min((seconds for seconds in left if seconds > 0), default=None)


def parsed(pairs: Iterable[str], *, name_of_field: str = "--limit") -> dict[str, object]:
    """Parse limits as the user types them: ``wall=10m silence=5m output=200MB tokens=500k cost=2.50 action=warn``.

    ``name_of_field`` is the option or the field that an error names.

    Raises:
        UsageError: an unknown limit, or an invalid value.
    """
    limits: dict[str, object] = {}
    for pair in pairs:
        name, equals, value = (part.strip() for part in pair.partition("="))
        if not equals or name not in _PARSERS:
            raise UsageError(f"{name_of_field} expects {', '.join(f'{known}=…' for known in _PARSERS)}, not {pair!r}.")
        key, parse = _PARSERS[name]
        limits[key] = parse(value)
    return limits


def typed(limits: Mapping[str, object]) -> str:
    """Return limits as :func:`parsed` reads them; a value of another type is left out."""
    written = {
        key: durations.text(float(value)) if key.endswith("_seconds") else f"{value:.12g}"
        for key, value in limits.items()
        if isinstance(value, int | float)
    } | {key: value for key, value in limits.items() if isinstance(value, str)}
    return " ".join(
        f"{name}={written[key]}{'MB' * (name == 'output')}" for name, (key, _) in _PARSERS.items() if key in written
    )


def _amount(text: str, example: str) -> Decimal:
    match = _AMOUNT.fullmatch(text.lower())
    if match is None:
        raise UsageError(f"{text!r} is not a valid amount. Use a number, optionally with k, M or G, e.g. {example}.")
    return Decimal(match[1]) * _FACTORS[match[2]]


def _tokens(text: str) -> int:
    amount = _amount(text, "500k")
    if amount != int(amount):
        raise UsageError(f"{text!r} is not a whole number of tokens. Examples: 1500, 1.5k.")
    return int(amount)


_PARSERS: dict[str, tuple[str, Callable[[str], object]]] = {
    "wall": ("wall_seconds", durations.seconds),
    "silence": ("silence_seconds", durations.seconds),
    "output": ("output_mb", lambda text: float(_amount(text.lower().removesuffix("b"), "200MB") / 10**6)),
    "tokens": ("tokens", _tokens),
    "cost": ("cost_usd", lambda text: float(_amount(text.removeprefix("$"), "2.50"))),
    "action": ("action", str),
}

EXAMPLES: dict[str, tuple[str, ...]] = {
    "wall": ("10m", "1h"),
    "silence": ("5m", "15m"),
    "output": ("200MB",),
    "tokens": ("500k", "2M"),
    "cost": ("2.50", "10"),
    "action": ("stop", "warn"),
}
"""Examples of the value of each limit as the user types it; all values of the action."""
