"""What a trajectory asks of its steps: the protocol between the widget and whoever reads them."""

from array import array
from typing import Any, Protocol

from ...sessions.model import Step


class Steps(Protocol):
    """An immutable sequence of steps, numbered from 0; cheap to ask, whatever its length."""

    def __len__(self) -> int:
        """How many there are."""

    def step(self, item: int) -> Step:
        """A step, without the middle of what is very long."""

    def turn(self, item: int) -> int:
        """The turn of a step."""

    def turn_starts(self) -> list[int]:
        """The first step of each turn."""

    def extends(self, earlier: Any) -> bool:
        """Whether it begins with all steps of an earlier sequence of the same session."""

    def moved(self, earlier: Any, item: int) -> int:
        """Where a step of an earlier sequence stands in this one."""

    def count(self, marked: bytes) -> int:
        """How many steps a table of ``kinds`` marks."""

    def matching(self, marked: bytes) -> "array[int]":
        """The steps that a table marks, in their order."""

    def next_marked(self, marked: bytes, item: int, direction: int) -> int | None:
        """The nearest marked step after (1) or before (-1) one."""
