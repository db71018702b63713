"""How often tests repeat themselves: a fixed number of times, and more often in ``make torture``.

``make test`` and ``make full`` throw the same dice each time, so that each run has the same tests.  ``make torture``
repeats more, with new dice; they are printed, and ``TORTURE_SEED`` throws them again.
"""

import os
import random
from typing import TypeVar

T = TypeVar("T")

TORTURE = "TORTURE" in os.environ
"""Whether this run is ``make torture``."""

SEED = int(os.environ.setdefault("TORTURE_SEED", str(random.randrange(10**6) if TORTURE else 1)))
"""Of all dice.  In the environment, so that all workers have the same."""


def repeated(fixed: T, torture: T) -> T:
    """Return the value for this run: that of ``make test`` and ``make full``, or that of ``make torture``."""
    return torture if TORTURE else fixed
