"""What is worth telling somebody who does not look: pure.

Once per change of one turn; never what was so before anybody began to watch, and never what somebody is reading.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence

from msgspec import Struct

from ..model import Session, Status
from ..text.sanitize import one_line
from .settings import Event

_EVENTS: dict[Status, Event] = {
    Status.WAITING: "waiting",
    Status.FAILED: "failed",
    Status.LOST: "failed",
    Status.DONE: "done",
}


class Notice(Struct, frozen=True, kw_only=True):
    """One thing that is told."""

    event: Event
    session: str
    title: str
    body: str
    episode: str
    """Tells it from what was told of the same session before; the same to everybody who hears of it."""


def worth_telling(before: Session | None, after: Session) -> Event | None:
    """What became of a session since it was last looked at; None where that is no news.

    Only another status, another turn, another question, or a loop that begins is news.
    """
    if after.archived_at is None and after.is_stuck:
        return "stuck" if before is None or (before.turn, before.stuck_at) != (after.turn, after.stuck_at) else None
    event = _EVENTS.get(after.status)
    if event is None or not after.attention or after.archived_at is not None:
        return None
    if before is None or (before.turn, before.status) != (after.turn, after.status):
        return event
    return event if event == "waiting" and before.reason != after.reason else None


class Watcher:
    """Remembers how each session was, to tell what changed.

    Args:
        known: the sessions that are there already: nothing of them is told before it changes.
        since: UTC ms; a session that was made before and was not known (it was taken back from the trash) is no news.
    """

    def __init__(self, known: Iterable[Session], since: int) -> None:
        self._known = {session.id: session for session in known}
        self._since = since

    def update(self, sessions: Iterable[Session], reading: Collection[str] = ()) -> list[Notice]:
        """What is worth telling of these sessions, but for those whose ids are in ``reading``.

        A session that goes away stays known: one that comes back is no news.
        """
        notices = []
        for session in sessions:
            before = self._known.get(session.id)
            self._known[session.id] = session
            old = before is None and session.created_at < self._since
            event = None if old or session.id in reading else worth_telling(before, session)
            if event is not None:
                notices.append(_notice(event, session))
        return notices

    def stands(self, notice: Notice) -> bool:
        """Whether its session still needs somebody: nobody has seen it or answered since."""
        session = self._known.get(notice.session)
        return session is not None and (session.attention or session.is_stuck)


def _notice(event: Event, session: Session) -> Notice:
    title = one_line(session.label) or session.agent
    if event == "stuck":
        word, why, at = "stuck", session.stuck, session.stuck_at
    else:
        word, why = str(session.status), session.reason or (session.last_message if event == "done" else None)
        at = session.last_sign_at
    return Notice(event=event, session=session.id, title=title, body=_phrase(word, why), episode=f"{session.turn} {at}")


def _phrase(word: str, why: str | None) -> str:
    line = one_line(why or "")
    return f"{word}: {line}" if line else word


def merged(notices: Sequence[Notice]) -> tuple[str, str]:
    """Title and body of one notification for all of these; of one session, only the newest counts.

    Args:
        notices: at least one.
    """
    newest = list({notice.session: notice for notice in notices}.values())
    if len(newest) == 1:
        return newest[0].title, newest[0].body
    count = Counter(notice.event for notice in newest)
    ended = count["failed"] + count["done"]
    parts = [(count["waiting"], "waiting"), (count["stuck"], "stuck"), (ended, "ended"), (count["failed"], "failed")]
    told = [(number, word) for number, word in parts if number]
    first = f"{told[0][0]} session{'s' * (told[0][0] > 1)} {told[0][1]}"
    rest = [f"{number} {word}" for number, word in told[1:]]
    return ", ".join([first, *rest]), ", ".join(notice.title for notice in newest)
