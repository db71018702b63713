"""How often tests repeat themselves: in short in ``make test``, in full in ``make torture``.

Both forms assert the same.  A test that has two of them carries the marker ``torture``.
"""

import os
from datetime import UTC, datetime
from typing import TypeVar

import pytest

T = TypeVar("T")

FULL = os.environ.get("TORTURE") == "full"
"""Whether this run repeats everything."""

SEED = int(os.environ.setdefault("TORTURE_SEED", datetime.now(UTC).strftime("%Y%m%d")))
"""Of all dice: the date, so that each day throws others.  In the environment, so that all workers have the same."""


def repeated(short: T, full: T) -> T:
    """Return the value of the form that runs."""
    return full if FULL else short


def in_full(*values: str) -> list[object]:
    """Return as parameters the values that only the full form tries, and nothing in the short form."""
    return [pytest.param(value, marks=pytest.mark.torture) for value in values] if FULL else []
