"""The statuses of a session and of its turns: names only, so that the command line has them without the model."""

from enum import StrEnum


class Status(StrEnum):
    """The state of a session, or of one of its turns."""

    QUEUED = "queued"
    STARTING = "starting"
    RUNNING = "running"
    WAITING = "waiting"
    FINISHING = "finishing"
    DONE = "done"
    FAILED = "failed"
    STOPPED = "stopped"
    LOST = "lost"

    @property
    def live(self) -> bool:
        """True if a runner must be holding the session's lock."""
        return self in LIVE

    @property
    def ended(self) -> bool:
        """True if the turn is over for good."""
        return self in ENDED


LIVE = frozenset({Status.STARTING, Status.RUNNING, Status.WAITING, Status.FINISHING})
ENDED = frozenset({Status.DONE, Status.FAILED, Status.STOPPED, Status.LOST})
