"""The types of the edits in an agent's own transcript, with the diffs that its stream lacks."""

from collections.abc import Iterator
from typing import Protocol

from msgspec import Struct

from agentdash.sessions.text.unified_diff import Diff


class RecordedChange(Struct, frozen=True, kw_only=True):
    """The change of one file by one recorded edit."""

    path: str
    kind: str
    diff: Diff | None = None
    moved_to: str | None = None


class RecordedEdit(Struct, frozen=True, kw_only=True):
    """One edit of an agent's transcript."""

    at: int
    """The time of the edit, UTC ms."""
    changes: tuple[RecordedChange, ...]


class Transcript(Protocol):
    """The edits in an agent's own transcript of one conversation."""

    def read_on(self) -> Iterator[RecordedEdit]:
        """Yield the edits since the last call, in order."""
