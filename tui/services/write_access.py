"""Access to the session manager, which a read-only dashboard does not have."""

from agentdash.sessions.model.errors import UsageError
from agentdash.sessions.service.manager import SessionManager


class WriteAccess:
    """The only holder of the manager in a dashboard: every change of a session gets it here.

    All other code has a :class:`...sessions.service.reader.SessionReader`, which cannot change anything.

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
        """Return the manager for one change; the error names its ``verb``.

        Raises:
            UsageError: the dashboard is read-only.
        """
        if self._manager is None:
            raise UsageError(f"The dashboard is read-only: no {verb}.")
        return self._manager
