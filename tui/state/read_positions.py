"""The user's position in each session: where the cursor was, to come back to it."""

from msgspec import Struct

from agentdash.sessions.transcript.snapshot import View


class ReadPosition(Struct, frozen=True):
    """Turn and index of the step under the cursor and of the step at the screen's top, and a line of the latter."""

    cursor: tuple[int, int]
    top: tuple[int, int]
    line: int
    groups: frozenset[str] = frozenset()


class ReadPositions:
    """The positions in the sessions that the user read; a session that follows its newest step has none."""

    def __init__(self) -> None:
        self._places: dict[str, ReadPosition] = {}

    def leave(self, session_id: str, view: View, place: tuple[int, int, int], groups: frozenset[str]) -> None:
        """Record the position that the user leaves."""
        cursor, top, line = place
        if len(view):
            self._places[session_id] = ReadPosition(_named(view, cursor), _named(view, top), line, groups)

    def put(self, session_id: str, turn: int, index: int) -> None:
        """Record a step as the position in a session."""
        self._places[session_id] = ReadPosition((turn, index), (turn, index), 0)

    def forget(self, session_id: str) -> None:
        """Discard the position, so that the session follows its newest step next time."""
        self._places.pop(session_id, None)

    def groups(self, session_id: str) -> frozenset[str]:
        """Return the groups of steps that were shown."""
        place = self._places.get(session_id)
        return place.groups if place else frozenset()

    def find(self, session_id: str, view: View) -> tuple[int, int, int] | None:
        """Return the position in ``view``: cursor, top, line; None if there is none, or the view is not complete."""
        place = self._places.get(session_id)
        if place is None or not view.complete:
            return None
        cursor, top = view.number(*place.cursor), view.number(*place.top)
        return None if cursor is None or top is None else (cursor, top, place.line)


def _named(view: View, item: int) -> tuple[int, int]:
    section, place = view.find(min(item, len(view) - 1))
    return section.turn, place
