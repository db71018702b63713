"""Two sizes of each benchmark: full, and with ``BENCH_TINY=1`` small enough for a test."""

import os
from typing import TypeVar

T = TypeVar("T")

TINY = os.environ.get("BENCH_TINY") == "1"


def sized(full: T, tiny: T) -> T:
    """Return the value for the requested size."""
    return tiny if TINY else full
