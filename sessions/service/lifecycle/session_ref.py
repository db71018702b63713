"""The session that a text names, by an id, a unique prefix of it, or ``@last``; and whether it is free for an act."""

from collections.abc import Iterable

from agentdash.sessions.agents.registry import agent_named
from agentdash.sessions.model.errors import (
    AmbiguousSessionError,
    Remedy,
    SessionBusyError,
    UnknownSessionError,
    UsageError,
)
from agentdash.sessions.model.session import Session, TakenBy
from agentdash.sessions.runner.processes import processes, runner_lock
from agentdash.sessions.storage.paths import Layout
from agentdash.sessions.storage.queries import Queries

LAST = "@last"
DESTRUCTIVE_CHARACTERS = 4
"""The minimum number of id characters for a command that ends or deletes something."""

_SHOWN = 8


def is_last(ref: str) -> bool:
    """Return whether a reference means the session that the caller started last."""
    return ref.strip().lower() == LAST


def last_session(queries: Queries, starters: Iterable[tuple[str | None, str | None]]) -> Session:
    """Return the session that the caller started last: those that its agents started are not meant.

    Args:
        starters: the parents and leads that stand for the caller, the first that started any decides.

    Raises:
        UnknownSessionError: there is none.
    """
    for parent, lead in starters:
        if (newest := queries.newest(parent, lead)) is not None:
            return newest
    raise UnknownSessionError("No sessions yet that you started. Start one: agentdash spawn")


def find_session(queries: Queries, ref: str, *, destructive: bool = False) -> Session:
    """Return the one session that ``ref`` names by its id.

    Raises:
        UsageError: the text is empty, or too short for something destructive.
        AmbiguousSessionError: several ids begin with it.
        UnknownSessionError: no id begins with it.
    """
    ref = ref.strip().lower().encode("utf-8", "replace").decode()
    if not ref:
        raise UsageError("Empty session id. List ids: agentdash ls")
    session = queries.session(ref)
    if session is not None:
        return session
    if destructive and len(ref) < DESTRUCTIVE_CHARACTERS:
        raise UsageError(
            f"{ref!r} is too short here: at least {DESTRUCTIVE_CHARACTERS} characters of the id are needed."
        )
    candidates = queries.sessions_like(ref, _SHOWN + 1)
    if not candidates:
        raise UnknownSessionError(f"No session with id {ref!r}. List ids: agentdash ls")
    if len(candidates) > 1:
        lines = [f"  {s.id[:13]}  {s.status:<9} {s.title[:60]}" for s in candidates[:_SHOWN]]
        more = ["  …"] if len(candidates) > _SHOWN else []
        raise AmbiguousSessionError("\n".join([f"{ref!r} is ambiguous:", *lines, *more]))
    return candidates[0]


def find_turn(session: Session, turn: int | None) -> int:
    """Return the number of a turn, which the session must have; None means the newest.

    Raises:
        UsageError: it has no such turn.
    """
    if turn is not None and not 1 <= turn <= session.turn:
        raise UsageError(f"Session {session.short_id} has no turn {turn}: its newest is {session.turn}.")
    return turn or session.turn


def at_work_error(session: Session, fact: str) -> SessionBusyError:
    """Return the refusal of an act for which a turn has to end first, as ``fact`` says."""
    short = session.short_id
    return SessionBusyError(
        f"Session {short} is {session.status}: {fact}.",
        Remedy.WAIT_OR_STOP,
        f"Wait for it: agentdash wait {short}, or stop it: agentdash stop {short}",
    )


def check_here(session: Session, act: str) -> None:
    """Raise ``SessionBusyError`` for a session of another host; ``act`` is an imperative: ``change it``."""
    if session.host != processes.host_name():
        raise SessionBusyError(f"Session {session.short_id} runs on {session.host}; {act} there.")


def check_free(session: Session, what: str) -> None:
    """Refuse an action on a session that the user has taken over.

    Args:
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
