"""The rows of the session table: which sessions, in which order, on which lines.  No screen."""

from bisect import bisect_left
from collections.abc import Iterable, Iterator

from ..sessions.model import Session, Status
from .columns import SILENT_MS, last_sign_of_life, note


class TableRows:
    """Sessions, the newest first; a row takes a second line only where there is a reason to show."""

    def __init__(self) -> None:
        self._sessions: dict[str, Session] = {}
        self._order: list[str] = []
        self._tops: list[int] = []
        self._positions: dict[str, int] = {}
        self._heights: dict[str, int] = {}
        self._silent_from: dict[str, int] = {}
        self._next_silence: int | None = None
        self.height = 0
        """Lines of all rows."""

    def __len__(self) -> int:
        return len(self._order)

    def __iter__(self) -> Iterator[Session]:
        return iter(self._sessions.values())

    def get(self, session_id: str | None) -> Session | None:
        """The session, if it is in the table."""
        return self._sessions.get(session_id) if session_id is not None else None

    def update(self, updated: Iterable[Session], removed: Iterable[str], now: int) -> bool:
        """Take over what changed; True where a row came, went or got another height."""
        moved = False
        for session in updated:
            self._sessions[session.id] = session
            moved = self._measure(session, now) or moved
        for session_id in removed:
            moved = self._sessions.pop(session_id, None) is not None or moved
            self._heights.pop(session_id, None)
            self._silent_from.pop(session_id, None)
        self._next_silence = min(self._silent_from.values(), default=None)
        if moved:
            self._arrange()
        return moved

    def fell_silent(self, now: int) -> bool:
        """Whether a row grew only because time went on; costs nothing until one is due."""
        if self._next_silence is None or now < self._next_silence:
            return False
        return self.update([self._sessions[key] for key, at in self._silent_from.items() if at <= now], (), now)

    def at(self, position: int) -> Session:
        """The session of a row."""
        return self._sessions[self._order[position]]

    def position(self, session_id: str | None) -> int | None:
        """The row of a session."""
        return self._positions.get(session_id) if session_id is not None else None

    def top(self, position: int) -> int:
        """The first line of a row."""
        return self._tops[position]

    def find(self, line: int) -> tuple[int, int] | None:
        """The row on a line, and which of its lines that is; None below the last row."""
        if not 0 <= line < self.height:
            return None
        position = bisect_left(self._tops, line + 1) - 1
        return position, line - self._tops[position]

    def _arrange(self) -> None:
        sessions = sorted(self._sessions.values(), key=lambda s: (-s.created_at, s.id))
        self._order = [session.id for session in sessions]
        self._positions = {session_id: position for position, session_id in enumerate(self._order)}
        self._tops = []
        self.height = 0
        for session in sessions:
            self._tops.append(self.height)
            self.height += self._heights[session.id]

    def _measure(self, session: Session, now: int) -> bool:
        """Note how many lines it takes, and when it will take more; True where that differs from before."""
        height = 2 if note(session, now) else 1
        if session.status is Status.RUNNING and height == 1:
            self._silent_from[session.id] = last_sign_of_life(session) + SILENT_MS
        else:
            self._silent_from.pop(session.id, None)
        earlier, self._heights[session.id] = self._heights.get(session.id), height
        return earlier != height
