"""The sessions that the keys of a screen are about at one moment, and which actions make sense for them."""

from collections.abc import Sequence
from functools import cached_property

from ...sessions.model import Session
from .. import texts
from ..keys.actions import BULK, possible, unlike


class ActionTarget:
    """The session under the cursor, and those that are chosen beside it or in its place.

    Args:
        current: the session under the cursor.
        chosen: the sessions that keys for several are about.
        marked: if these are marked ones; else they are a group, or the current one.
        read_only: if nothing may be changed.
    """

    def __init__(
        self, current: Session | None, chosen: Sequence[Session] = (), *, marked: bool = False, read_only: bool = False
    ) -> None:
        self.current = current
        self.chosen = chosen
        self.marked = marked
        self._read_only = read_only

    @cached_property
    def _kinds(self) -> Sequence[Session]:
        """One of the chosen sessions of each kind: of thousands, a few."""
        return unlike(self.chosen)

    def can(self, action: str) -> bool:
        """Return if an action makes sense: for one of the chosen sessions, or for the current one."""
        if action == "beside" and self.marked:
            return True  # side by side goes what is marked, wherever the cursor stands
        meant = self._kinds if action in BULK and self.chosen else [self.current]
        return any(possible(action, session, read_only=self._read_only) for session in meant)

    def why_not(self, action: str, *, restore_key: str) -> str:
        """Say why an action cannot be done now; nothing if it can.

        Args:
            action: what was asked for.
            restore_key: the key that brings sessions back from the trash or the archive.
        """
        if self.can(action):
            return ""
        chosen = self.chosen if action in BULK else []
        several = chosen if chosen != [self.current] else []
        return texts.why_not(
            action,
            self.current,
            read_only=self._read_only,
            several=several,
            marked=self.marked,
            restore_key=restore_key,
        )
