"""The tokens that a turn or a session used."""

from typing import TypeVar

from msgspec import Struct, structs


class Usage(Struct, frozen=True, kw_only=True):
    """Tokens of a turn or a session.

    ``input_tokens`` includes ``cached_input_tokens`` and ``cache_write_tokens``; ``output_tokens`` includes
    ``reasoning_output_tokens``.  This is the convention of codex (docs/protocols/codex.md, "Usage"), to which other
    agents are mapped.
    """

    input_tokens: int | None = None
    cached_input_tokens: int | None = None
    output_tokens: int | None = None
    reasoning_output_tokens: int | None = None
    total_tokens: int | None = None
    cache_write_tokens: int | None = None

    @classmethod
    def of(
        cls,
        input_tokens: int | None,
        cached: int | None = None,
        output: int | None = None,
        reasoning: int | None = None,
        written: int | None = None,
    ) -> "Usage":
        """Build a usage whose total is the sum of input and output, if both are known."""
        total = None if input_tokens is None or output is None else input_tokens + output
        return cls(
            input_tokens=input_tokens,
            cached_input_tokens=cached,
            output_tokens=output,
            reasoning_output_tokens=reasoning,
            total_tokens=total,
            cache_write_tokens=written,
        )

    @property
    def known(self) -> bool:
        """True if any of the numbers is known."""
        return any(value is not None for value in structs.astuple(self))

    def plus(self, other: "Usage") -> "Usage":
        """Add two usages; an unknown number counts as absent, two unknown numbers stay unknown."""
        return Usage(**{name: known_sum(getattr(self, name), getattr(other, name)) for name in _USAGE_FIELDS})

    def minus(self, earlier: "Usage") -> "Usage":
        """Subtract an earlier reading of a cumulative count; never below zero."""
        return Usage(**{name: _rest(getattr(self, name), getattr(earlier, name)) for name in _USAGE_FIELDS})


_USAGE_FIELDS = tuple(f.name for f in structs.fields(Usage))


N = TypeVar("N", int, float)


def known_sum(*counts: N | None) -> N | None:
    """Return the sum of the known counts; None if none is known."""
    known = [count for count in counts if count is not None]
    return sum(known) if known else None


def exact_sum(*counts: int | None) -> int | None:
    """Return the sum of all counts; None if one of them is unknown."""
    known = [count for count in counts if count is not None]
    return sum(known) if len(known) == len(counts) else None


def _rest(a: int | None, b: int | None) -> int | None:
    return None if a is None else max(0, a - (b or 0))
