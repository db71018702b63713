"""The protocol between a trajectory and the source of its steps."""

from array import array
from typing import Any, Protocol

from agentdash.sessions.model.session import Step


class Steps(Protocol):
    """An immutable sequence of steps, numbered from 0; cheap to query at any length."""

    def __len__(self) -> int:
        """The number of steps."""

    def step(self, item: int) -> Step:
        """A step, without the middle of very long texts."""

    def turn(self, item: int) -> int:
        """The turn of a step."""

    @property
    def repeats(self) -> "array[int]":
        """The steps that only repeat an earlier one, in order; a list without a filter leaves them out."""

    def turn_starts(self) -> list[int]:
        """The first step of each turn."""

    def extends(self, earlier: Any) -> bool:
        """Return whether it begins with all steps of an earlier sequence of the same session."""

    def moved(self, earlier: Any, item: int) -> int:
        """The number here of a step of an earlier sequence."""

    def count(self, marked: bytes) -> int:
        """The number of steps that a table of ``kinds`` marks."""

    def matching(self, marked: bytes) -> "array[int]":
        """The marked steps, in order."""

    def next_marked(self, marked: bytes, item: int, direction: int) -> int | None:
        """The nearest marked step after (1) or before (-1) ``item``."""
