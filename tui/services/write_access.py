"""Access to the manager of sessions, which a read-only dashboard does not have."""

from ...sessions.errors import UsageError
from ...sessions.manager import SessionManager


class WriteAccess:
    """The only holder of the manager in a dashboard: each change of a session asks here for it.

    Everything else has a :class:`.SessionReader`, which cannot change anything.

    Args:
        manager: None makes the dashboard read-only.
    """

    def __init__(self, manager: SessionManager | None) -> None:
        self._manager = manager

    @property
    def read_only(self) -> bool:
        """True if every change is refused."""
        return self._manager is None

    def manager(self, verb: str) -> SessionManager:
        """The manager, for one change that is named by its verb.

        Raises:
            UsageError: the dashboard is read-only.
        """
        if self._manager is None:
            raise UsageError(f"This dashboard is read-only: no {verb} from here.")
        return self._manager
