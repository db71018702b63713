"""Resolve the user's text to one session: a full id, a unique prefix of an id, or ``@last``."""

from collections.abc import Iterable

from ..errors import AmbiguousSessionError, UnknownSessionError, UsageError
from ..model import Session
from ..storage.queries import Queries

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
        queries: the database.
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
