"""The events of the sessions that a reader asked for, from the change feed: nothing is missed behind the first line.

A state that was entered and left between two checks is skipped.  An end of a turn is a row of its own
(:mod:`...storage.change_log`), so it is found whatever followed it.  The reader may ask for the sessions of a family,
or for those that match a filter."""

import re
from collections.abc import Callable, Iterable, Iterator

from msgspec import structs

from agentdash.sessions.model.clock import now_ms
from agentdash.sessions.model.errors import UsageError
from agentdash.sessions.model.session import Session, Status
from agentdash.sessions.rules.filter_query import Filter
from agentdash.sessions.service.events.model import Begin, Event, EventKind, kind_of_change
from agentdash.sessions.storage.change_log import ChangeLog, Deletion, End, SessionAt, changes_after
from agentdash.sessions.storage.database import Database

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
        self.shows_put_away = bool(filter_.away)
        """True if the filter asks for archived or deleted sessions."""
        self._family = family
        self._members = set() if family is None else {family}
        self._matched: set[str] = set()

    def add(self, sessions: Iterable[Session]) -> None:
        """Add the sessions that are led by members of the family, in any order."""
        if self._family is None:
            return
        outside = [session for session in sessions if session.id not in self._members]
        while joined := {s.id for s in outside if s.parent in self._members or s.lead == self._family}:
            self._members |= joined
            outside = [session for session in outside if session.id not in joined]

    def has(self, session: Session) -> bool:
        """Return whether a session is selected now."""
        if self._family is not None and session.id not in self._members:
            return False
        if session.id in self._matched:
            return True
        away = {name for name, at in (("archived", session.archived_at), ("deleted", session.deleted_at)) if at}
        if not self._filter.matches(session, now_ms()) or (self._filter and away - self._filter.away):
            return False
        self._matched.add(session.id)
        return True

    def has_unknown(self, session_id: str) -> bool:
        """Return whether a session without any record is selected."""
        return session_id in self._matched or (not self._filter and self._family in (None, session_id))

    def forget(self, session_id: str) -> None:
        """Forget a session that was deleted; its id stays a member of the family, for the sessions below it."""
        self._matched.discard(session_id)


class EventFeed:
    """Reads the events in turn; holds one state of each session.

    Args:
        trashed: returns the record of a deleted session; None if there is none.
        since: the position behind which the first events are; None begins with the sessions that exist.
    """

    def __init__(
        self,
        database: Database,
        selection: Selection,
        trashed: Callable[[str], Session | None],
        since: int | None = None,
    ) -> None:
        self._database = database
        self._selection = selection
        self._trashed = trashed
        self._since = since
        self.seq = 0
        """The position up to which everything was read."""
        self._version: tuple[int, int, int] | None = None
        self._known: dict[str, Session] = {}
        self._open: set[str] = set()
        self._bad: set[str] = set()

    @property
    def over(self) -> bool:
        """True if no selected session is queued or at work."""
        return not self._open

    @property
    def good(self) -> bool:
        """True if all selected sessions are done."""
        return not self._open and not self._bad

    @property
    def at_work(self) -> list[Session]:
        """The selected sessions that are queued or at work."""
        return [self._known[session_id] for session_id in self._open]

    def begin(self) -> list[Begin | Event]:
        """Return the first line and the events behind it.

        Raises:
            UsageError: ``since`` is a position that the feed has not reached.
            StoreError: the database cannot be read.
        """
        self._version = self._database.data_version()
        log = changes_after(self._database, self._since, every_session=True)
        if self._since is not None and self._since > log.seq:
            raise UsageError(
                f"--since {self._since}: the newest position is {log.seq}. If the database was rebuilt, its positions"
                " began again: start without --since."
            )
        self.seq, since = log.seq, self._since
        self._selection.add(one.session for one in log.sessions)
        if since is None:
            return [Begin(seq=log.seq, at=now_ms()), *self._there(log)]
        for one in log.sessions:
            if one.seq <= since:
                self._note(one.session, printed=False)
        return [Begin(seq=since, at=now_ms()), *self._events(_after(log, since), first=True)]

    def more(self) -> list[Begin | Event]:
        """Return the events since the last call; makes no query if no process has committed anything.

        Raises:
            StoreError: the database cannot be read.
        """
        version = self._database.data_version()
        if version == self._version:
            return []
        if self._version is not None and version[0] != self._version[0]:
            self._known, self._open, self._bad, self._since = {}, set(), set(), None
            return self.begin()
        self._version = version
        log = changes_after(self._database, self.seq)
        self.seq = max(self.seq, log.seq)
        self._selection.add(one.session for one in log.sessions)
        return list(self._events(log))

    def _there(self, log: ChangeLog) -> Iterator[Event]:
        """Yield the sessions that exist, without those in the archive unless the filter asks for them."""
        for one in log.sessions:
            if self._selection.has(one.session) and (self._selection.shows_put_away or not one.session.put_away):
                self._note(one.session)
                yield _event(one.seq, EventKind.PRESENT, one.session, None)
            else:
                self._known[one.session.id] = one.session

    def _events(self, log: ChangeLog, *, first: bool = False) -> Iterator[Event]:
        """Yield the events of changes in the order of their positions."""
        newest = {one.session.id: one.session for one in log.sessions}
        ended = {(end.session, end.turn, end.status) for end in log.ends}
        changes: list[SessionAt | End | Deletion] = [*log.sessions, *log.ends, *log.deletions]
        for change in sorted(changes, key=lambda one: one.seq):
            if isinstance(change, SessionAt):
                now = change.session
                is_told = (now.id, now.turn, now.status) in ended
                event = self._changed(change, is_told=is_told, first=first)
            elif isinstance(change, End):
                event = self._ended(change, newest.get(change.session))
            else:
                event = self._deleted(change)
            if event is not None:
                yield event

    def _changed(self, change: SessionAt, *, is_told: bool, first: bool) -> Event | None:
        now, before = change.session, self._known.get(change.session.id)
        selected = self._selection.has(now)
        self._note(now, printed=selected)
        if not selected or is_told:
            return None
        kind = EventKind.STATUS if first else kind_of_change(before, now)
        return None if kind is None else _event(change.seq, kind, now, before)

    def _ended(self, end: End, newest: Session | None) -> Event | None:
        session = newest or self._known.get(end.session) or self._trashed(end.session)
        if session is None:
            selected = self._selection.has_unknown(end.session)
            self._bad |= {end.session} if selected and end.status is not Status.DONE else set()
            return _gone(end.seq, EventKind.ENDED, end) if selected else None
        # The filter is asked about the session at its end, not about what followed.
        at_end = structs.replace(session, status=end.status, turn=end.turn)
        if not (self._selection.has(at_end) or self._selection.has(session)):
            return None
        event = _event(end.seq, EventKind.ENDED, session, self._known.get(end.session))
        self._note(at_end)
        return structs.replace(event, turn=end.turn, status=end.status, at=end.at)

    def _deleted(self, gone: Deletion) -> Event | None:
        before = self._known.pop(gone.session, None)
        session = self._trashed(gone.session) or before
        self._selection.add([session] if session else [])
        selected = self._selection.has_unknown(gone.session) if session is None else self._selection.has(session)
        self._selection.forget(gone.session)
        if gone.session in self._open:
            self._open.discard(gone.session)
            self._bad.add(gone.session)
        if not selected:
            return None
        if session is None:
            return _gone(gone.seq, EventKind.DELETED, gone)
        return structs.replace(_event(gone.seq, EventKind.DELETED, session, before), at=gone.at)

    def _note(self, session: Session, *, printed: bool = True) -> None:
        """Remember the state of a session, and whether the reader waits for it."""
        self._known[session.id] = session
        self._open.discard(session.id)
        self._bad.discard(session.id)
        if not (printed or (not session.status.ended and self._selection.has(session))):
            return
        if not session.status.ended:
            self._open.add(session.id)
        elif session.status is not Status.DONE:
            self._bad.add(session.id)


def _after(log: ChangeLog, seq: int) -> ChangeLog:
    """Return the changes behind a position."""
    return structs.replace(
        log,
        sessions=tuple(one for one in log.sessions if one.seq > seq),
        ends=tuple(one for one in log.ends if one.seq > seq),
        deletions=tuple(one for one in log.deletions if one.seq > seq),
    )


def _event(seq: int, kind: EventKind, session: Session, before: Session | None) -> Event:
    return Event(
        seq=seq, at=max(session.updated_at, session.last_event_at or 0), event=kind, id=session.id, turn=session.turn,
        status=session.status, before=before.status if before else None, session=session,
    )  # fmt: skip


def _gone(seq: int, kind: EventKind, change: End | Deletion) -> Event:
    """Return the event of a session of which no record is left."""
    turn, status = (change.turn, change.status) if isinstance(change, End) else (None, None)
    return Event(seq=seq, at=change.at, event=kind, id=change.session, turn=turn, status=status, session=None)
