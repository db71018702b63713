"""The tool ``list_sessions``."""

from collections import Counter

from ...model import Status
from ..arguments import ListSessions
from ..calls import Calls
from ..quoting import words
from ..refusals import refusal, refused
from ..results import Listed
from ..views import Detail, Views, fitted


def list_sessions(calls: Calls, arguments: ListSessions) -> Listed:
    """List the caller's workers from their rows; no file is read."""
    with refused():
        wanted = _status(arguments.status)
        calls.manager.housekeeping.settle()
        family = calls.family()
        views = Views(calls, family)
        kept = [one for one in family.sessions if arguments.all or not one.put_away]
        chosen = [one for one in reversed(kept) if wanted in (None, one.status)]
        counts = Counter(str(one.status) for one in kept)

        def made(detail: Detail) -> Listed:
            shown = chosen[: detail.brief]
            return Listed(
                overview="",
                workers=tuple(views.brief(one, detail, message=True) for one in shown),
                counts=dict(counts),
                more=len(chosen) - len(shown),
            )

        listed = fitted(made)
        return Listed(overview=calls.overview(family), workers=listed.workers, counts=listed.counts, more=listed.more)


def _status(text: str) -> Status | None:
    """Return the status of a filter.

    Raises:
        RefusalError: it is not a status.
    """
    name = text.strip().lower()
    if not name:
        return None
    if name not in set(Status):
        fact = f"{words(text, 40)!r} is not a status. Statuses: {', '.join(Status)}."
        raise refusal("bad_status", fact, "use one of these, or none for all.")
    return Status(name)
