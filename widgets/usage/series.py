"""The series of a plot: the largest groups, each by its own name, and the others as one.  Pure."""

from collections.abc import Mapping, Sequence

from .bars import FILLS, Bar

MOST = len(FILLS)


def leading(names: Sequence[str]) -> tuple[str, ...]:
    """Return the groups that have a series of their own; ``names`` are all groups, the largest first."""
    return tuple(names if len(names) <= MOST else names[: MOST - 1])


def number_of(name: str, own: Sequence[str]) -> int:
    """Return the number of a group's series: its own, or that of the others."""
    return own.index(name) if name in own else MOST - 1


def bar(values: Mapping[str, float | None], own: Sequence[str], *, unknown: bool = False) -> Bar:
    """Return the column of these groups and values; None is not known."""
    parts = [0.0] * MOST
    for name, value in values.items():
        parts[number_of(name, own)] += value or 0.0
    return Bar(tuple(parts), unknown or any(value is None for value in values.values()))
