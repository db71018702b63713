"""Resolve the user's text to one session: a full id, a unique prefix of an id, or ``@last``."""

from ..errors import AmbiguousSessionError, UnknownSessionError, UsageError
from ..model import Session
from ..storage.queries import Queries

LAST = "@last"
DESTRUCTIVE_CHARACTERS = 4
"""The minimum number of id characters for a command that ends or deletes something."""

_SHOWN = 8


def find_session(queries: Queries, ref: str, *, destructive: bool = False) -> Session:
    """Return the one session that ``ref`` names.

    Raises:
        UsageError: the text is empty, or too short for something destructive.
        AmbiguousSessionError: several ids begin with it.
        UnknownSessionError: no id begins with it.
    """
    ref = ref.strip().lower().encode("utf-8", "replace").decode()
    if not ref:
        raise UsageError("Empty session id. List ids: agentdash ls")
    if ref == LAST:
        newest = queries.newest()
        if newest is None:
            raise UnknownSessionError("No sessions yet. Start one: agentdash spawn")
        return newest
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
        raise AmbiguousSessionError(_ambiguous(ref, candidates))
    return candidates[0]


def find_turn(session: Session, turn: int | None) -> int:
    """Return the number of a turn, which the session must have; None means the newest.

    Raises:
        UsageError: it has no such turn.
    """
    if turn is not None and not 1 <= turn <= session.turn:
        raise UsageError(f"Session {session.short_id} has no turn {turn}: its newest is {session.turn}.")
    return turn or session.turn


def _ambiguous(ref: str, candidates: list[Session]) -> str:
    lines = [f"  {s.id[:13]}  {s.status:<9} {s.title[:60]}" for s in candidates[:_SHOWN]]
    more = ["  …"] if len(candidates) > _SHOWN else []
    return "\n".join([f"{ref!r} is ambiguous:", *lines, *more])
