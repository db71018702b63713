"""Stop a session with its linked and ephemeral workers, all in one moment and with one receipt."""

from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct, structs

from agentdash.sessions.model.errors import AgentdashError
from agentdash.sessions.model.session import Receipt, Session, short_id
from agentdash.sessions.model.threads import in_threads
from agentdash.sessions.rules.launch import Ladder
from agentdash.sessions.service.lifecycle.process_list import ProcessInfo
from agentdash.sessions.storage.store import Store
from agentdash.sessions.text.units import count

AT_ONCE = 64
"""Number of sessions stopped at once; others wait for the first of them."""

_MOST_ROUNDS = 20
"""Rounds after which a family that goes on starting workers is reported."""


class StopHow(Struct, frozen=True, kw_only=True):
    """The manner of a stop."""

    now: bool = False
    """SIGKILL at once."""
    reason: str = ""
    """Recorded in a line."""


GENTLY = StopHow()
NOW = StopHow(now=True)


class StopPreview(Struct, frozen=True, kw_only=True):
    """The processes and the sessions that a stop would end, for the question before it and the progress of it."""

    ladder: Ladder = Ladder()
    """The time that the stop gives each signal before the next one."""
    processes: Sequence[ProcessInfo] = ()
    """The living processes, parents before children."""
    ending: Sequence[Session] = ()
    """The running sessions below it that end with it."""
    going_on: Sequence[Session] = ()
    """The running sessions below it that do not."""


def ends_too(below: Sequence[Session], lead: Session) -> tuple[list[Session], list[Session]]:
    """Return the running workers that a stop of their lead ends too, and those that go on; ``below`` is its family."""
    ended = {lead.id}
    for one in sorted(below, key=lambda session: session.created_at):
        if one.lifecycle != "detached" and one.parent in ended:
            ended.add(one.id)
    running = [one for one in below if not one.status.ended]
    return [one for one in running if one.id in ended], [one for one in running if one.id not in ended]


def stop_with_workers(store: Store, session: Session, stop: Callable[[Session], Receipt]) -> Receipt:
    """Stop a session and the linked workers below it, then those that began in the meantime.

    All are asked at once, and the session first: a lead that waits for its workers would answer their ends, call its
    model again, and be recorded as done.

    Args:
        stop: stops one session without its workers.

    Returns:
        The receipt of the lead, with the processes of all workers.

    Raises:
        AgentdashError: the lead could not be stopped, or a worker could not; all others were.
    """
    receipts, errors = _stopped([session, *at_work(store, session.id)], stop)
    failure = errors.pop(session.id, None)
    more, failed = _until_none(store, session, stop, errors)
    if failure is not None:
        raise failure
    _check(session, errors | failed)
    own = receipts.pop(session.id)
    return merged(own, list((receipts | more).values()))


def stop_workers(store: Store, session: Session, stop: Callable[[Session], Receipt]) -> None:
    """Stop the linked workers below a session that has ended itself.

    Raises:
        AgentdashError: a worker could not be stopped; the others were.
    """
    _check(session, _until_none(store, session, stop, {})[1])


def _until_none(
    store: Store, session: Session, stop: Callable[[Session], Receipt], errors: Mapping[str, AgentdashError]
) -> tuple[dict[str, Receipt], dict[str, AgentdashError]]:
    receipts: dict[str, Receipt] = {}
    failed = dict(errors)
    # A worker can start others until its own end, so that each round searches for those that are new.
    for _ in range(_MOST_ROUNDS):
        late = [one for one in at_work(store, session.id) if one.id not in failed]
        if not late:
            break
        more, wrong = _stopped(late, stop)
        receipts |= more
        failed |= wrong
    return receipts, failed


def _check(session: Session, errors: Mapping[str, AgentdashError]) -> None:
    if errors:
        number = count(len(errors), "worker")
        why = "; ".join(f"{short_id(one)}: {error}" for one, error in errors.items())
        raise AgentdashError(f"{number} of session {session.short_id} could not be stopped. {why}")


def at_work(store: Store, session_id: str) -> list[Session]:
    """Return the linked workers below a session that have something to stop, the deepest first."""
    found = store.families.linked(session_id)
    return [one for one in found if not one.status.ended or one.left > 0 or one.warm_since is not None]


def _stopped(
    sessions: Sequence[Session], stop: Callable[[Session], Receipt]
) -> tuple[dict[str, Receipt], dict[str, AgentdashError]]:
    receipts: dict[str, Receipt] = {}
    errors: dict[str, AgentdashError] = {}

    def one(session: Session) -> None:
        try:
            receipts[session.id] = stop(session)
        except AgentdashError as error:
            errors[session.id] = error

    list(in_threads(one, sessions, AT_ONCE))
    return receipts, errors


def merged(own: Receipt, workers: Sequence[Receipt]) -> Receipt:
    """Return the receipt of a lead with what its workers' receipts have, and the id of each worker once."""
    if not workers:
        return own
    times = [one.duration_ms for one in (own, *workers) if one.duration_ms is not None]
    return structs.replace(
        own,
        ended=(*(process for one in workers for process in one.ended), *own.ended),
        left=(*(process for one in workers for process in one.left), *own.left),
        duration_ms=max(times) if times else None,
        workers=tuple(dict.fromkeys([*own.workers, *(id_ for one in workers for id_ in (one.session, *one.workers))])),
    )
