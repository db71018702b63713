"""The refusal of what would disturb a user who has taken over a session."""

from ..agents.registry import agent_named
from ..errors import SessionBusyError
from ..model import Session


def check_free(session: Session, what: str) -> None:
    """Refuse an action on a session that the user has taken over.

    Args:
        session: the session.
        what: the past participle of the action: ``stopped``.

    Raises:
        SessionBusyError: it is open in the agent's own interface; the error names the holder.
    """
    if session.taken_by is not None:
        raise SessionBusyError(
            f"Session {session.short_id} is open in {agent_named(session.agent).title}'s own interface, by"
            f" {session.taken_by.holder}: it can be {what} when that is closed."
        )
