"""A mark: what was done to a conversation after it was recorded.  Values only, without I/O.

Marks are appended and never changed, and no turn is rewritten: :mod:`.history` concludes from both what is visible.
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from msgspec import Struct, field


class MarkKind(StrEnum):
    """The kind of a mark."""

    FORK = "fork"
    """The session begins with what is visible of another one up to a step; the mark comes before its first turn."""
    REWIND = "rewind"
    """The conversation goes on behind an earlier step."""
    UNDO = "undo"
    """The effect of an earlier mark is taken back: all is visible that was visible before it."""
    COMPACT = "compact"
    """A summary stands for all that was visible."""
    CLEAR = "clear"
    """The agent began a new conversation at the user's request: it does not know what was said before."""
    TAKEOVER = "takeover"
    """A turn was typed by hand in the agent's own interface; it changes nothing of what is visible."""


class Mark(Struct, frozen=True, kw_only=True):
    """One mark, in the order of its id among those of a session."""

    id: int
    session: str
    kind: str
    """Its kind; a mark of an unknown kind, made by a newer version, is ignored."""
    after: int
    """The newest turn at that time; 0 before the first one."""
    turn: int | None = None
    """The turn that it names: of a rewind the one to go back to, of a compaction the one with the summary, of a
    clearing the one with the command, of a fork one of the origin.  None for a rewind before the first turn.
    """
    step: int | None = None
    """Index of the last step of that turn that stays, or of the summary; None for the whole turn."""
    undoes: int | None = None
    """The id of the mark that an undo takes back."""
    origin: str | None = None
    """The session that was forked or is continued."""
    data: Mapping[str, Any] = field(default_factory=dict)
    """The facts that only this kind has."""
    asked_by: str = ""
    """``you``, or the session from inside which it was requested."""
    at: int = 0
    """UTC ms."""


class RelatedMark(Struct, frozen=True):
    """A mark of a session, or the fork of another session that began there."""

    mark: Mark
    other: str = ""
    """The title or the task of the other session of a fork; empty if it was deleted, and for other marks."""
