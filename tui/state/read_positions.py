"""How far somebody has read each session: where the cursor was, to come back to it."""

from msgspec import Struct

from ...sessions.transcript.snapshot import View


class Place(Struct, frozen=True):
    """Turn and index of the step under the cursor and of the one at the top, and a line of that."""

    cursor: tuple[int, int]
    top: tuple[int, int]
    line: int
    groups: frozenset[str] = frozenset()


class Places:
    """The places of the sessions that were read; who followed the newest step has none."""

    def __init__(self) -> None:
        self._places: dict[str, Place] = {}

    def leave(self, session_id: str, view: View, place: tuple[int, int, int], groups: frozenset[str]) -> None:
        """Remember where somebody was."""
        cursor, top, line = place
        if len(view):
            self._places[session_id] = Place(_named(view, cursor), _named(view, top), line, groups)

    def forget(self, session_id: str) -> None:
        """Follow the newest step next time."""
        self._places.pop(session_id, None)

    def groups(self, session_id: str) -> frozenset[str]:
        """Which groups of steps were shown."""
        place = self._places.get(session_id)
        return place.groups if place else frozenset()

    def find(self, session_id: str, view: View) -> tuple[int, int, int] | None:
        """The place in what is shown now: cursor, top, line; None where there is none, or it is not read yet."""
        place = self._places.get(session_id)
        if place is None or not view.complete:
            return None
        cursor, top = view.number(*place.cursor), view.number(*place.top)
        return None if cursor is None or top is None else (cursor, top, place.line)


def _named(view: View, item: int) -> tuple[int, int]:
    section, place = view.find(min(item, len(view) - 1))
    return section.turn, place
