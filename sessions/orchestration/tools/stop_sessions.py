"""The tool ``stop_sessions``."""

from ...errors import RefusalError
from ...lifecycle.stop_family import StopHow
from ...model import Receipt, Session
from ..arguments import StopSessions
from ..calls import Calls
from ..quoting import words
from ..refusals import refused
from ..results import NotStopped, Stopped, StoppedOne

DEFAULT_REASON = "ended by its lead"
_MOST = 60
"""The most workers of each list of a result."""


def stop_sessions(calls: Calls, arguments: StopSessions) -> Stopped:
    """Stop workers; those that cannot be stopped are named with the reason.

    Raises:
        RefusalError: none could be stopped.
    """
    family = calls.family()
    found: dict[str, tuple[str, Session]] = {}
    refusals: list[tuple[str, RefusalError]] = []
    for ref in arguments.sessions:
        try:
            with refused():
                session = calls.find(ref, family)
            found[session.id] = (ref, session)
        except RefusalError as error:
            refusals.append((ref, error))
    stopped = []
    with refused("not_stopped"):
        receipts = calls.manager.stop_all(found, StopHow(reason=arguments.reason))
    for (ref, session), receipt in zip(found.values(), receipts, strict=True):
        if isinstance(receipt, Receipt):
            stopped.append(_stopped(calls, family.name(session.id), session, receipt))
        else:
            try:
                with refused("not_stopped"):
                    raise receipt
            except RefusalError as error:
                refusals.append((ref, error))
    if not stopped:
        raise refusals[0][1]
    return Stopped(
        overview=calls.overview(),
        stopped=tuple(stopped[:_MOST]),
        not_stopped=tuple(
            NotStopped(session=words(ref, 40), error=words(str(error), 200)) for ref, error in refusals[:_MOST]
        ),
        reason=words(arguments.reason, 200) or DEFAULT_REASON,
    )


def _stopped(calls: Calls, name: str, session: Session, receipt: Receipt) -> StoppedOne:
    """Return the result of a stop, which names the end: wait_for does not name it again."""
    now = calls.manager.store.session(session.id) or session
    calls.reading.name(now)
    return StoppedOne(
        session=name,
        status=str(now.status),
        ended=len(receipt.ended),
        left=len(receipt.left),
        turn=now.turn,
        tokens=now.usage.total_tokens or 0,
        tokens_missing=now.tokens_missing,
        receipt=words(receipt.note or receipt.summary(), 160),
    )
