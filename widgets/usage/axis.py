"""The axis of a plot: a maximum and labels with round steps.  Pure."""

import math
from collections.abc import Callable

from msgspec import Struct

_ROUND = (1.0, 2.0, 2.5, 5.0)
_MOST_APART = 4
_USUALLY_APART = 2
_LEAST = 1e-9
"""The least top of an axis: below it, floats lose their precision."""
_ONE_BY_ONE = 6
"""Rows up to which each row may have a label."""


class Axis(Struct, frozen=True):
    """The scale of a plot."""

    maximum: float
    """The value at the upper edge of the highest row."""
    labels: tuple[tuple[int, str], ...]
    """Rows, counted from 0 at the bottom, and the value at their upper edge as text."""

    @property
    def width(self) -> int:
        """The cells of the widest label."""
        return max((len(text) for _, text in self.labels), default=0)


def axis(top: float, rows: int, words: Callable[[float], str]) -> Axis:
    """Return the smallest axis with round steps that reaches ``top``.

    Args:
        top: the highest value, at least 0.
        rows: the lines of the plot, at least 1.
        words: writes a value.
    """
    top = max(top, _LEAST) if math.isfinite(top) and top > 0 else 1.0
    rows = max(1, rows)
    apart = range(1 if rows <= _ONE_BY_ONE else 2, min(_MOST_APART, rows) + 1)
    step, between = min(
        ((_round_up(top * rows_apart / rows), rows_apart) for rows_apart in apart),
        key=lambda pair: (pair[0] / pair[1], abs(pair[1] - _USUALLY_APART)),
    )
    labelled = range(between, rows + 1, between)
    return Axis(step * rows / between, tuple((row - 1, words(row // between * step)) for row in labelled))


def _round_up(least: float) -> float:
    """Return the smallest round number that is not below ``least``."""
    power = 10.0 ** math.floor(math.log10(least))
    fitting = (one * power for one in (*_ROUND, 10.0) if one * power >= least * (1 - 1e-12))
    return next(fitting, 10.0 * power)
