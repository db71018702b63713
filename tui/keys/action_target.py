"""The sessions that the keys of a screen act on at one moment, and the actions that apply to them."""

from collections.abc import Callable, Sequence
from functools import cached_property

from agentdash.sessions.model.session import Session
from agentdash.tui.keys.actions import OPEN_WORKER, REGISTRY, TO_LEAD
from agentdash.tui.keys.availability import BULK, possible, unlike
from agentdash.tui.texts import family_texts
from agentdash.tui.texts import screen_texts as texts


class ActionTarget:
    """The session under the cursor, and the sessions that keys for several act on.

    Args:
        current: the session under the cursor.
        chosen: the sessions that keys for several act on.
        marked: True if the user marked these; False if they are a group or the current session.
        read_only: True if no session may be changed.
        asking: returns the session whose asks are shown on request: the current one or another.
        on_worker: returns whether the step under the cursor started a worker.
    """

    def __init__(
        self,
        current: Session | None,
        chosen: Sequence[Session] = (),
        *,
        marked: bool = False,
        read_only: bool = False,
        asking: Callable[[], Session | None] = lambda: None,
        on_worker: Callable[[], bool] = lambda: False,
    ) -> None:
        self.current = current
        self.chosen = chosen
        self.marked = marked
        self._read_only = read_only
        self._asking = asking
        self._on_worker = on_worker

    @cached_property
    def _kinds(self) -> Sequence[Session]:
        """One chosen session of each kind: a few represent thousands."""
        return unlike(self.chosen)

    def can(self, action: str) -> bool:
        """Return True if an action applies to one of the chosen sessions, or to the current one."""
        if action == "beside" and self.marked:
            return True  # opens the marked sessions, wherever the cursor is
        if action == "answer" and self._asking() is not None:
            return True  # opens the asks of another session if the current one has none
        if action == OPEN_WORKER:
            return self._on_worker()
        meant = self._kinds if action in BULK and self.chosen else [self.current]
        return any(possible(action, session, read_only=self._read_only) for session in meant)

    def why_not(self, action: str, *, restore_key: str) -> str:
        """Return why an action cannot be done now; empty if it can.

        Args:
            action: the id of the action that the user asked for.
            restore_key: the key that restores sessions from the trash or the archive.
        """
        if self.can(action):
            return ""
        if action == "answer":
            return texts.NOTHING_ASKS
        if action == TO_LEAD and self.current is not None:
            return family_texts.NO_LEAD
        chosen = self.chosen if action in BULK else []
        several = chosen if chosen != [self.current] else []
        return texts.why_not(
            action,
            self.current,
            read_only=self._read_only and (REGISTRY[action].changes or REGISTRY[action].writes),
            several=several,
            marked=self.marked,
            restore_key=restore_key,
        )
