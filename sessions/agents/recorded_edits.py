"""The edits that an agent's own transcript holds, with the diffs that its stream lacks."""

from collections.abc import Iterator
from typing import Protocol

from msgspec import Struct

from ..text.diffs import Diff


class RecordedChange(Struct, frozen=True, kw_only=True):
    """What one recorded edit did to one file."""

    path: str
    kind: str
    diff: Diff | None = None
    moved_to: str | None = None


class RecordedEdit(Struct, frozen=True, kw_only=True):
    """One edit of an agent's transcript."""

    at: int
    """When it was done, UTC ms."""
    changes: tuple[RecordedChange, ...]


class Transcript(Protocol):
    """The edits that an agent's own transcript of one conversation holds."""

    def read_on(self) -> Iterator[RecordedEdit]:
        """The edits, in their order, that came since the last call."""
