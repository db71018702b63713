"""The sessions that a reader of events asked for: those of a family, those that match a filter."""

import re
from collections.abc import Iterable

from ..model import Session
from ..rules.filter_query import Filter

OUTSIDE_LEAD = re.compile(r"(?:claude|codex|mcp):\S+")
"""The id of a lead that runs outside agentdash."""


class Selection:
    """Decides for each session whether its events are printed.

    A session that matched the filter once stays selected, so that the reader learns when it ceases to match.

    Args:
        filter_: the sessions to select; an empty one selects all.
        family: the id of a session, or of an outside lead, that leads the sessions to select; None selects all.
    """

    def __init__(self, filter_: Filter, family: str | None = None) -> None:
        self._filter = filter_
        self._family = family
        self._members = set() if family is None else {family}
        self._matched: set[str] = set()

    @property
    def shows_put_away(self) -> bool:
        """True if the filter asks for archived or deleted sessions."""
        return bool(self._filter.away)

    def add(self, sessions: Iterable[Session]) -> None:
        """Add the sessions that are led by members of the family, in any order."""
        if self._family is None:
            return
        outside = [session for session in sessions if session.id not in self._members]
        while joined := {s.id for s in outside if s.parent in self._members or s.lead == self._family}:
            self._members |= joined
            outside = [session for session in outside if session.id not in joined]

    def has(self, session: Session, now: int) -> bool:
        """Return whether a session is selected at a time (UTC ms)."""
        if self._family is not None and session.id not in self._members:
            return False
        if session.id in self._matched:
            return True
        away = {name for name, at in (("archived", session.archived_at), ("deleted", session.deleted_at)) if at}
        if not self._filter.matches(session, now) or (self._filter and away - self._filter.away):
            return False
        self._matched.add(session.id)
        return True

    def has_unknown(self, session_id: str) -> bool:
        """Return whether a session without any record is selected."""
        return session_id in self._matched or (not self._filter and self._family in (None, session_id))

    def forget(self, session_id: str) -> None:
        """Forget a session that was deleted; its id stays a member of the family, for the sessions below it."""
        self._matched.discard(session_id)
