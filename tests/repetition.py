"""How often tests repeat themselves: in short in ``make test``, in full in ``make torture``.

All forms assert the same.  A test that has two of them carries the marker ``torture``.  CI runs the daily form after
``make test``: it repeats as in full, with half the random examples and fewer kills; :mod:`selection` chooses tests.
"""

import os
from datetime import UTC, datetime
from typing import TypeVar

import pytest

T = TypeVar("T")

FORM = os.environ.get("TORTURE", "short")
"""``short``, ``full`` or ``daily``."""

FULL = FORM != "short"
"""Whether this run repeats more than ``make test`` does."""

EVERYTHING = FORM == "full"
"""Whether this run repeats everything."""

SEED = int(os.environ.setdefault("TORTURE_SEED", datetime.now(UTC).strftime("%Y%m%d")))
"""Of all dice: the date, so that each day throws others.  In the environment, so that all workers have the same."""


def repeated(short: T, full: T) -> T:
    """Return the value of the form that runs."""
    return full if FULL else short


def has_its_turn(number: int, turns: int) -> bool:
    """Return whether a parameter that runs by turns runs in this form.

    Args:
        number: its number, shifted by the day.
        turns: the number of days after which each has run in ``make test``.
    """
    return {"short": number % turns == 0, "daily": number % turns == 1}.get(FORM, True)


def in_full(*values: str) -> list[object]:
    """Return as parameters the values that only the full form tries, and nothing in the short form."""
    return [pytest.param(value, marks=pytest.mark.torture) for value in values] if FULL else []
