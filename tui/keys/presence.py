"""The user's presence: a session whose end the user has before their eyes counts as seen."""

from collections.abc import Callable

from agentdash.sessions.model.session import Session
from agentdash.sessions.rules.attention import AttentionKind, kind_of_need

DWELL_SECONDS = 2.0
"""Time for which an ended session must be on the screen: moving past a row is not reading it."""

AT_HAND_SECONDS = 60.0
"""Time after a key during which the user counts as present."""


class Presence:
    """Decides from keys and from the shown session what the user has seen.

    A session that needs a decision (failed, denied, a question) stays unread until the user opens it.

    Args:
        clock: returns seconds on a clock that never goes back.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._key_at = -AT_HAND_SECONDS
        self._shown: tuple[str, int] | None = None
        self._since = 0.0

    def key(self) -> None:
        """Note that the user pressed a key."""
        self._key_at = self._clock()

    def has_seen(self, session: Session | None) -> bool:
        """Return whether the user has seen the end of the session on the screen; asked again and again.

        ``session`` is the one whose last steps are on the screen; None if there is none.
        """
        now = self._clock()
        shown = (session.id, session.turn) if session is not None and session.status.ended else None
        if shown != self._shown:
            self._shown, self._since = shown, now
        if session is None or shown is None or session.all_seen or session.put_away:
            return False
        need = kind_of_need(session, session.last_sign_at)
        present = now - self._key_at < AT_HAND_SECONDS and now - self._since >= DWELL_SECONDS
        return present and need in (None, AttentionKind.DONE)
