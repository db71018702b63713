"""The sessions that the user marked, one by one or as a range."""

from collections.abc import Iterable, Iterator, Sequence


class Selection:
    """Session ids in the order they were marked; one end of an open range follows the cursor."""

    def __init__(self) -> None:
        self._chosen: dict[str, None] = {}
        self._anchor: str | None = None
        self._before: dict[str, None] = {}
        """The marks from before the range began."""

    def __contains__(self, session_id: object) -> bool:
        return session_id in self._chosen

    def __iter__(self) -> Iterator[str]:
        return iter(self._chosen)

    def __len__(self) -> int:
        return len(self._chosen)

    @property
    def ranging(self) -> bool:
        """Return whether a range is open."""
        return self._anchor is not None

    def toggle(self, session_id: str) -> None:
        """Mark a session, or remove its mark."""
        if self._chosen.pop(session_id, self) is self:
            self._chosen[session_id] = None

    def toggle_all(self, session_ids: Sequence[str]) -> None:
        """Mark the sessions; if all are marked, remove their marks."""
        missing = [session_id for session_id in session_ids if session_id not in self._chosen]
        for session_id in missing or session_ids:
            self.toggle(session_id)

    def mark(self, session_ids: Iterable[str]) -> None:
        """Mark these sessions as well."""
        self._chosen |= dict.fromkeys(session_ids)

    def begin(self, session_id: str) -> None:
        """Open a range at a session."""
        self._anchor, self._before = session_id, dict(self._chosen)
        self._chosen[session_id] = None

    def reach(self, order: Sequence[str], session_id: str) -> None:
        """Move the end of the open range to a session; ``order`` is the order of the rows."""
        if self._anchor in order and session_id in order:
            ends = sorted((order.index(self._anchor), order.index(session_id)))
            self._chosen = self._before | dict.fromkeys(order[ends[0] : ends[1] + 1])

    def close(self) -> None:
        """End the range; its marks stay."""
        self._anchor = None

    def clear(self) -> None:
        """Remove all marks, and end the range."""
        self._chosen.clear()
        self._anchor = None

    def forget(self, session_ids: Iterable[str]) -> None:
        """Remove the marks of deleted sessions; a range that began at one of them ends, and its other marks stay."""
        for session_id in session_ids:
            self._chosen.pop(session_id, None)
            self._before.pop(session_id, None)
            if session_id == self._anchor:
                self.close()
