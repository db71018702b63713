"""Tells the steps that are new since the user last read the session: a line above them, and a digest."""

from collections.abc import Iterable, Sequence

from textual.widget import Widget

from agentdash.sessions.model.session import Session, Step, Turn
from agentdash.sessions.transcript.snapshot import View
from agentdash.tui.panes.steps.steps_head import StepsHead
from agentdash.tui.services.background import Requests
from agentdash.tui.texts import screen_texts as texts
from agentdash.widgets.steps.step_decorations import Unread
from agentdash.widgets.steps.trajectory import Trajectory


class UnreadSteps:
    """Marks the first new step of a session once, as soon as all of the session is read.

    The digest of the new steps is shown until the user went to the first of them or to the end, or left the session.

    Args:
        owner: the widget that owns the worker for the facts.
        steps: the list that shows the mark.
        head: the lines that show the digest.
        requests: runs the digest in a thread.
    """

    def __init__(self, owner: Widget, steps: Trajectory, head: StepsHead, requests: Requests) -> None:
        self._owner = owner
        self._steps = steps
        self._head = head
        self._requests = requests
        self._session: Session | None = None
        self._marked = False
        self._item: int | None = None
        """The first new step while the digest is shown."""
        self._entered = False

    def open(self, session: Session | None) -> None:
        """Switch to a session, with the steps that the user has seen in it."""
        self._session, self._marked = session, False
        self._hide()
        self._entered = self._owner.has_focus_within

    def mark(self, view: View, turns: Sequence[Turn]) -> None:
        """Put a line above the first new step, if there is one and all steps are read; show the digest."""
        session = self._session
        if self._marked or session is None or not view.complete:
            return
        self._marked = True
        recorded = {turn.n: turn.steps for turn in turns if turn.status.ended}
        item = view.after_steps(session.seen_steps or 0, recorded)
        item += item in view.repeats  # which the list does not show
        if session.seen_steps is not None and session.unread and item < len(view):
            self._item = item
            label = texts.unread(session)
            self._steps.mark_unread(Unread(item, label))
            self._head.show_news(label)
            self._owner.run_worker(self._tell(session, view, item, label), exclusive=True, group="unread")

    def entered(self) -> None:
        """The user reads the steps."""
        self._entered = True

    def left(self) -> None:
        """Hide the digest if the user has read the steps and turned to something else."""
        if self._entered:
            self._hide()

    def moved(self, cursor: int, count: int) -> None:
        """Hide the digest if the user has moved to the first new step, or to the end."""
        if self._item is not None and (cursor <= self._item or cursor >= count - 1):
            self._hide()

    def _hide(self) -> None:
        self._entered = False
        if self._item is not None:
            self._item = None
            self._head.show_news("")

    async def _tell(self, session: Session, view: View, item: int, label: str) -> None:
        new = map(view.filled, range(item, len(view)))
        facts = await self._requests.ask(lambda: _digest(new, session.cwd))
        if facts and session is self._session and self._item == item:
            self._head.show_news(label, facts)


def _digest(steps: Iterable[Step], cwd: str) -> list[str]:
    from agentdash.sessions.rules.digest.collect import (
        digest,  # the first screen needs no digest
        digest_lines,
    )

    return digest_lines(digest(steps, cwd))
