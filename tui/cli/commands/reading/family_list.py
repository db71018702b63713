"""The families in the output of the verbs that read: ``ls --family``, ``ls --tree``, ``trajectory --json``."""

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from .....sessions.errors import UnknownSessionError

if TYPE_CHECKING:
    from .....sessions.conversation.shown import IsCut
    from .....sessions.model import Session, Step
    from .....sessions.reader import SessionReader


def members(reader: "SessionReader", ref: str) -> "list[Session]":
    """Return a lead and all its workers, also archived ones, the newest first.

    Args:
        reader: the sessions.
        ref: a session, or an outside lead: ``claude:ID``, ``codex:ID``, ``mcp:ID``.

    Raises:
        UnknownSessionError, AmbiguousSessionError, UsageError: no session or outside lead is meant, or several are.
    """
    if ":" not in ref:
        lead = reader.get(ref)
        found = [lead, *reader.descendants(lead.id)]
    else:
        from .....sessions.costs.family_sums import family_of, outside_key

        found = family_of([*reader.sessions(), *reader.sessions(archived=True)], outside_key(ref))
        if not found:
            raise UnknownSessionError(f"No session has the outside lead {ref!r}.")
    return sorted(found, key=lambda session: -session.created_at)


def with_sums(sessions: "Sequence[Session]", known: "Sequence[Session]") -> list[dict[str, Any]]:
    """Return sessions as JSON, each with ``family``: the sum of a lead and its workers, null for another session."""
    from msgspec import to_builtins

    from .....sessions.costs.family_sums import Families
    from .....sessions.json_schema import rounded, session_json

    families = Families()
    families.update(known)
    found = []
    for session in sessions:
        total = families.sum(session.id)
        data = rounded(to_builtins(total)) | {"states": dict(total.states)} if total is not None else None
        found.append(session_json(session) | {"family": data})
    return found


def steps_with_workers(
    reader: "SessionReader", session: "Session", steps: "Iterable[Step]", *, is_cut: "IsCut"
) -> Iterator[dict[str, Any]]:
    """Yield the steps of a session as JSON; a step that started workers has their ids as ``workers``."""
    from .....sessions.json_schema import step_json
    from .....sessions.transcript.worker_steps import started_by

    workers = [one for one in reader.descendants(session.id) if one.parent == session.id]
    for step in steps:
        started = started_by(step, workers)
        yield step_json(step, cut=is_cut(step)) | ({"workers": [one.id for one in started]} if started else {})
