"""Keys that arrive in one burst: a paste in a terminal that does not bracket it, or keys that a slow line held back.

A person who decides presses one key and has seen the question.  What the terminal sent together was not typed for it.
"""

import math
from collections.abc import Sequence

from textual import events
from textual.message import Message

GAP_SECONDS = 0.02
"""Keys that arrive closer together are one burst; the repetition of a held key is slower."""


class Bursts:
    """Marks the keys of each piece of input."""

    def __init__(self) -> None:
        self._last = -math.inf

    def mark(self, keys: Sequence[Message], now: float) -> None:
        """Mark the keys that were read at once, or right behind others.

        Args:
            keys: the keys that one read of the terminal brought.
            now: the time of the read, in seconds on a clock that never goes back.
        """
        if keys:
            if len(keys) > 1 or now - self._last < GAP_SECONDS:
                together(keys)
            self._last = now


_MARK = "came_in_a_burst"


def together(keys: Sequence[Message]) -> None:
    """Mark keys that arrived together."""
    for key in keys:
        setattr(key, _MARK, True)


def in_burst(event: events.Event) -> bool:
    """Return whether a key arrived together with others."""
    return bool(getattr(event, _MARK, False))
