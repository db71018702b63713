"""Waiting for a condition, without a guess at how long it takes."""

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

BETWEEN_SECONDS = 0.02
SHARE = 5
"""A pause is at least this many times as long as the check before it, which takes time from what is awaited."""


class StuckError(AssertionError):
    """Something that must come about did not."""


def until(predicate: Callable[[], T], timeout: float = 60, what: str = "the condition") -> T:
    """Wait until a condition holds, and return what it gave."""
    deadline = time.monotonic() + timeout
    while True:
        began = time.monotonic()
        if found := predicate():
            return found
        if (now := time.monotonic()) > deadline:
            raise StuckError(f"waited {timeout} s for {what}")
        time.sleep(max(BETWEEN_SECONDS, min(SHARE * (now - began), 1)))
