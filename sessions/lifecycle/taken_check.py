"""The refusal of what would disturb a user who has taken over a session."""

from ..agents.registry import agent_named
from ..errors import SessionBusyError
from ..model import Session, TakenBy
from ..processes import processes, runner_lock
from ..storage.paths import Layout


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


def held_elsewhere(session: Session) -> TakenBy | None:
    """Return the holder of a session if another machine recorded it; None for none, or a user of this one.

    No process here can prove that such a holder lives or that its machine is gone.  The same boot is the same kernel,
    even if the machine was renamed.
    """
    taken = session.taken_by
    if taken is None or taken.host == processes.host_name() or taken.boot_id == processes.boot_id():
        return None
    return taken


def check_movable(layout: Layout, session: Session, what: str) -> None:
    """Refuse to put away a session whose holder may live: one of this machine, or one that has the session's lock.

    A holder on another machine does not prevent it: that machine may be gone for ever.  Front ends warn of it.

    Raises:
        SessionBusyError: the holder may live; ``what`` is the past participle of the action.
    """
    if held_elsewhere(session) is None or runner_lock.is_held(layout.session(session.id).lock):
        check_free(session, what)
