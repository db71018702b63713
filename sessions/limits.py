"""How long, how silent, how much and how dear a session may be; and which of its limits it has crossed.  Pure."""

import re
from collections.abc import Callable, Iterable
from typing import Annotated, Literal

from msgspec import Meta, Struct, structs

from . import durations
from .errors import UsageError

Positive = Annotated[float, Meta(gt=0)]

_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*(k|m|g|t)?(b?)", re.ASCII)
_FACTORS = {None: 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}


class Limits(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """``[limits]``, ``[agents.<name>.limits]`` or the options of one spawn; what is not set is not limited."""

    wall_seconds: Annotated[
        Positive | None, Meta(description="How long one turn may take, in seconds.", examples=[3600.0])
    ] = None
    silence_seconds: Annotated[
        Positive | None,
        Meta(description="How long an agent that works may print nothing, in seconds.", examples=[600.0]),
    ] = None
    output_mb: Annotated[
        Positive | None, Meta(description="How much one turn may print, in millions of bytes.", examples=[200.0])
    ] = None
    tokens: Annotated[
        Annotated[int, Meta(gt=0)] | None,
        Meta(description="How many tokens the whole session may use.", examples=[500_000]),
    ] = None
    cost_usd: Annotated[
        Positive | None, Meta(description="How much the whole session may cost, in US dollars.", examples=[5.0])
    ] = None
    action: Annotated[
        Literal["stop", "warn"] | None,
        Meta(
            description="What happens to a session that crosses a limit: it is stopped, or a line warns beside it.",
            extra={"default": "stop"},
        ),
    ] = None

    def over(self, general: "Limits") -> "Limits":
        """These limits, and the general ones where these are silent."""
        own = {key: value for key, value in structs.asdict(self).items() if value is not None}
        return structs.replace(general, **own)

    @property
    def stops(self) -> bool:
        """Whether crossing one ends the turn."""
        return self.action != "warn"


class Measured(Struct, frozen=True, kw_only=True):
    """Where a turn stands now."""

    wall_s: float
    silence_s: float | None
    """None while it waits for an answer: then silence is nobody's fault."""
    output_bytes: int
    tokens: int | None
    cost_usd: float | None


def crossed(limits: Limits, now: Measured) -> tuple[str, ...]:
    """What was crossed, in words; mostly nothing."""
    found = []
    if limits.wall_seconds is not None and now.wall_s >= limits.wall_seconds:
        found.append(f"ran longer than {durations.text(limits.wall_seconds)}")
    if limits.silence_seconds is not None and now.silence_s is not None and now.silence_s >= limits.silence_seconds:
        found.append(f"printed nothing for {durations.text(limits.silence_seconds)}")
    if limits.output_mb is not None and now.output_bytes > limits.output_mb * 10**6:
        found.append(f"printed more than {limits.output_mb:g} MB")
    if limits.tokens is not None and now.tokens is not None and now.tokens > limits.tokens:
        found.append(f"used more than {limits.tokens:,} tokens")
    if limits.cost_usd is not None and now.cost_usd is not None and now.cost_usd > limits.cost_usd:
        found.append(f"cost more than ${limits.cost_usd:,.2f}")
    return tuple(found)


def seconds_left(limits: Limits, now: Measured) -> float | None:
    """Until the next limit that time alone will cross; None where there is none."""
    left = []
    if limits.wall_seconds is not None:
        left.append(limits.wall_seconds - now.wall_s)
    if limits.silence_seconds is not None and now.silence_s is not None:
        left.append(limits.silence_seconds - now.silence_s)
    return min((seconds for seconds in left if seconds > 0), default=None)


def parsed(pairs: Iterable[str]) -> dict[str, object]:
    """Limits as one types them: ``wall=10m silence=5m output=200MB tokens=500k cost=2.50 action=warn``.

    Raises:
        UsageError: no such limit, or a value it cannot take.
    """
    found: dict[str, object] = {}
    for pair in pairs:
        name, equals, value = (part.strip() for part in pair.partition("="))
        if not equals or name not in _PARSERS:
            raise UsageError(f"--limit takes {', '.join(f'{known}=…' for known in _PARSERS)}, not {pair!r}.")
        key, parse = _PARSERS[name]
        found[key] = parse(value)
    return found


def _count(text: str) -> float:
    match = _SIZE.fullmatch(text.lower().removeprefix("$"))
    if match is None:
        raise UsageError(f"{text!r} is no amount. Write a number, also with k, M or G: 500k, 200MB, 2.50.")
    return float(match[1]) * _FACTORS[match[2]]


_PARSERS: dict[str, tuple[str, Callable[[str], object]]] = {
    "wall": ("wall_seconds", durations.seconds),
    "silence": ("silence_seconds", durations.seconds),
    "output": ("output_mb", lambda text: _count(text) / 10**6),
    "tokens": ("tokens", lambda text: round(_count(text))),
    "cost": ("cost_usd", _count),
    "action": ("action", str),
}
