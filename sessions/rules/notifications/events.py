"""Decide what to notify an absent user of: pure.

There is one notice per change of one turn.  States from before the watch began, and sessions that the user is reading,
give none.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence

from msgspec import Struct

from agentdash.sessions.model.session import Session, Status
from agentdash.sessions.rules.attention import is_set_aside
from agentdash.sessions.rules.notifications.settings import Event
from agentdash.sessions.text.sanitize import one_line

_EVENTS: dict[Status, Event] = {
    Status.WAITING: "waiting",
    Status.FAILED: "failed",
    Status.LOST: "failed",
    Status.DONE: "done",
    Status.STOPPED: "failed",  # by a limit, the system or agentdash: a stop that the user knows needs no attention
}


class Notice(Struct, frozen=True, kw_only=True):
    """One notification."""

    event: Event
    session: str
    title: str
    body: str
    episode: str
    """The id of this event among those of its session; the same in every front end."""


def event_between(before: Session | None, after: Session) -> Event | None:
    """Return the event since the previous state of a session; None if nothing is worth a notice.

    Only another status, another turn, another question, or the beginning of a loop is news; and that the lead of a
    worker did not see to it.
    """
    if is_set_aside(after) or after.left_to_lead:
        return None
    # What a worker needs becomes the user's.
    passed_on = before is not None and before.left_to_lead and after.status is not Status.DONE
    if after.is_stuck:
        news = before is None or (before.turn, before.stuck_at) != (after.turn, after.stuck_at)
        return "stuck" if news or passed_on else None
    if before is not None and after.status.ended and after.asking > before.asking:
        return "waiting"  # a live agent asks between two turns
    event = "waiting" if after.asks_user else _EVENTS.get(after.status)
    if event is None or not after.attention:
        return None
    if before is None or passed_on or (before.turn, before.status) != (after.turn, after.status):
        return event
    return event if event == "waiting" and before.reason != after.reason else None


class Watcher:
    """Remembers the previous state of each session, to find changes.

    Args:
        known: the existing sessions: none of them is reported before it changes.
        since: UTC ms; an older session that was not known (it was restored from the trash) is not reported.
    """

    def __init__(self, known: Iterable[Session], since: int) -> None:
        self._known = {session.id: session for session in known}
        self._since = since

    def update(self, sessions: Iterable[Session], reading: Collection[str] = ()) -> list[Notice]:
        """Return the notices for these sessions, except those whose ids are in ``reading``.

        A session that disappears stays known, so its return is not reported.
        """
        notices = []
        for session in sessions:
            before = self._known.get(session.id)
            self._known[session.id] = session
            old = before is None and session.created_at < self._since
            event = None if old or session.id in reading else event_between(before, session)
            if event is not None:
                notices.append(_notice(event, session))
        return notices

    def stands(self, notice: Notice) -> bool:
        """Return whether its session still needs attention: the user has neither seen nor answered it since."""
        session = self._known.get(notice.session)
        return session is not None and (session.attention or session.is_stuck)


def _notice(event: Event, session: Session) -> Notice:
    title = one_line(session.label) or session.agent
    if event == "stuck":
        word, why, at = "stuck", session.stuck, session.stuck_at
    elif session.asks_user:
        word, why, at = "asks", session.asks, session.last_sign_at
    else:
        word, why = str(session.status), session.reason or (session.last_message if event == "done" else None)
        at = session.last_sign_at
    line = one_line(why or "")
    body = f"{word}: {line}" if line else word
    return Notice(event=event, session=session.id, title=title, body=body, episode=f"{session.turn} {at}")


def merged(notices: Sequence[Notice]) -> tuple[str, str]:
    """Merge these notices into the title and body of one notification; of each session, only the newest counts.

    Args:
        notices: at least one.
    """
    newest = list({notice.session: notice for notice in notices}.values())
    if len(newest) == 1:
        return newest[0].title, newest[0].body
    count = Counter(notice.event for notice in newest)
    ended = count["failed"] + count["done"]
    parts = [(count["waiting"], "waiting"), (count["stuck"], "stuck"), (ended, "ended"), (count["failed"], "failed")]
    counts = [(number, word) for number, word in parts if number]
    first = f"{counts[0][0]} session{'s' * (counts[0][0] > 1)} {counts[0][1]}"
    rest = [f"{number} {word}" for number, word in counts[1:]]
    return ", ".join([first, *rest]), ", ".join(notice.title for notice in newest)
