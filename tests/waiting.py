"""Waiting for a condition, without a guess at how long it takes."""

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

BETWEEN_SECONDS = 0.02


class StuckError(AssertionError):
    """Something that must come about did not."""


def until(predicate: Callable[[], T], timeout: float = 60, what: str = "the condition") -> T:
    """Wait until a condition holds, and return what it gave."""
    deadline = time.monotonic() + timeout
    while not (found := predicate()):
        if time.monotonic() > deadline:
            raise StuckError(f"waited {timeout} s for {what}")
        time.sleep(BETWEEN_SECONDS)
    return found
