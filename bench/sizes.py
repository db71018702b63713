"""Two sizes of each benchmark: the full one, and with ``BENCH_TINY=1`` one so small that a test can run it."""

import os
from typing import TypeVar

T = TypeVar("T")

TINY = os.environ.get("BENCH_TINY") == "1"


def sized(full: T, tiny: T) -> T:
    """The one that is asked for."""
    return tiny if TINY else full
