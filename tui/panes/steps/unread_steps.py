"""Marks the steps that are new since the user last read the session."""

from collections.abc import Iterable

from msgspec import structs
from textual.widget import Widget

from ....sessions.model import Session, Step
from ....sessions.transcript.snapshot import View
from ....widgets.steps.step_decorations import Unread
from ....widgets.steps.trajectory import Trajectory
from ... import texts
from ...services.background import Requests


class UnreadSteps:
    """Marks the first new step of a session once, as soon as all of the session is read.

    Args:
        owner: the widget that owns the worker for the facts.
        steps: the list that shows the mark.
        requests: runs the digest in a thread.
    """

    def __init__(self, owner: Widget, steps: Trajectory, requests: Requests) -> None:
        self._owner = owner
        self._steps = steps
        self._requests = requests
        self._session: Session | None = None
        self._marked = False

    def open(self, session: Session) -> None:
        """Switch to a session, with the steps that the user has seen in it."""
        self._session, self._marked = session, False

    def mark(self, view: View) -> None:
        """Put a line above the first new step, if there is one and all steps are read."""
        session = self._session
        if self._marked or session is None or not view.complete:
            return
        self._marked = True
        item = view.after_steps(session.seen_steps or 0)
        if session.seen_steps is not None and session.unread and item < len(view):
            unread = Unread(item, texts.unread(session))
            self._owner.run_worker(self._tell(session, view, unread), exclusive=True, group="unread")

    async def _tell(self, session: Session, view: View, unread: Unread) -> None:
        self._steps.mark_unread(unread)
        new = map(view.filled, range(unread.item, len(view)))
        facts = await self._requests.ask(lambda: _digest(new, session.cwd))
        if facts and session is self._session:
            self._steps.mark_unread(structs.replace(unread, facts=tuple(facts)))


def _digest(steps: Iterable[Step], cwd: str) -> list[str]:
    from ....sessions.digest.collect import digest  # the first screen needs no digest
    from ....sessions.digest.summary import digest_lines

    return digest_lines(digest(steps, cwd))
