"""The lines above the steps, and the digest in them of the steps that are new since the user last read the session."""

from collections.abc import Callable, Iterable, Sequence

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.widget import Widget

from agentdash.sessions.model.session import Session, Step, Turn
from agentdash.sessions.text.sanitize import cell_width, cut, one_line
from agentdash.sessions.transcript.snapshot import View
from agentdash.tui.services.background import Requests
from agentdash.tui.texts import screen_texts as texts
from agentdash.widgets.drawing.roles import MUTED
from agentdash.widgets.drawing.text_lines import Line
from agentdash.widgets.steps.filter_line import Shown, filter_line
from agentdash.widgets.steps.headed_steps import Unread
from agentdash.widgets.steps.trajectory import Trajectory


class StepsHead(Vertical):
    """Shows at most two lines of digest while there is one, and a line of counts if there is room for it."""

    DEFAULT_CSS = """
    StepsHead { height: auto; }
    StepsHead > #news, StepsHead > #news-last { display: none; }
    StepsHead.-news > #news, StepsHead.-news.-last > #news-last { display: block; }
    """

    def __init__(self) -> None:
        super().__init__(id="head")
        self._label = ""
        self._facts: tuple[str, ...] = ()
        self._count: Callable[[bytes], int] | None = None
        self._shown = Shown()
        self.news = Line(id="news")
        self.last = Line(id="news-last")
        self.counts = Line(id="counts")

    def compose(self) -> ComposeResult:
        """Yield the digest and the counts."""
        yield self.news
        yield self.last
        yield self.counts

    def on_resize(self) -> None:
        """Cut the lines to the new width."""
        self._draw_news()
        self._draw_counts()

    def show_news(self, label: str, facts: Sequence[str] = ()) -> None:
        """Show a digest: its label and its facts, of which the second is a line of its own; none if both are empty."""
        self._label, self._facts = label, tuple(facts)
        self.set_class(bool(label), "-news")
        self.set_class(len(facts) > 1, "-last")
        self._draw_news()

    def show_counts(self, count: Callable[[bytes], int] | None, shown: Shown) -> None:
        """Show the counts of the steps; none without a ``count``.  On a low screen only a filter has a line."""
        self.set_class(not shown.is_usual, "-telling")
        self._count, self._shown = count, shown
        self._draw_counts()

    def _draw_counts(self) -> None:
        count, width = self._count, self.size.width
        text = filter_line(count, self._shown, width) if count is not None and width else ""
        self.counts.show_text(text)

    def _draw_news(self) -> None:
        width = self.size.width
        if not self._label or not width:
            return
        label = cut(self._label, width)
        facts = cut(one_line(self._facts[0]) if self._facts else "", max(0, width - cell_width(label) - len(_GAP)))
        self.news.show_text(Content.assemble((label, "bold $text-success"), _GAP if facts else "", (facts, "")))
        self.last.show_text(Content.styled(cut(one_line(" ".join(self._facts[1:])), width), MUTED))


_GAP = "   "


class UnreadSteps:
    """Marks the first new step of a session once, as soon as all of the session is read.

    The digest of the new steps is shown until the user went to the first of them or to the end, or left the session.

    Args:
        owner: the widget that owns the worker for the facts.
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
    from agentdash.sessions.rules.digest.collect import digest, digest_lines  # the first screen needs no digest

    return digest_lines(digest(steps, cwd))
