"""The requester of a turn's stop: a name before the recorded text, so that no reader interprets the words after it."""

from enum import StrEnum


class StoppedBy(StrEnum):
    """The requester of a turn's stop; the value is the beginning of the text in ``turns.stop_by``."""

    YOU = "you"
    """The user, by any front end."""
    SYSTEM = "the system"
    """A signal to the runner, such as at a shutdown."""
    LIMIT = "its limit"
    LEAD = "its lead"
    """A session or an outside agent that leads it."""
    LEADS_LIMIT = "its lead's limit"
    """A limit that ended a session above it."""
    AGENTDASH = "agentdash"
    OTHER = "another"
    """A name that another version of agentdash recorded."""

    @classmethod
    def _missing_(cls, _: object) -> "StoppedBy":
        return cls.OTHER

    @classmethod
    def recorded(cls, text: str | None) -> "StoppedBy | None":
        """Parse the requester from a recorded text; None if no stop is recorded."""
        return None if text is None else cls(text.partition(_BEFORE_REASON)[0])

    def because(self, reason: str) -> str:
        """Return the text to record if there is a reason beyond the name."""
        return f"{self}{_BEFORE_REASON}{reason}"

    @property
    def knows(self) -> bool:
        """True if the one to whom a stop would be reported requested it: the user, or the lead."""
        return self in (StoppedBy.YOU, StoppedBy.LEAD)


def given_reason(text: str | None) -> str | None:
    """Return the reason in a recorded text; None if there is none."""
    return (text or "").partition(_BEFORE_REASON)[2] or None


_BEFORE_REASON = ": "
