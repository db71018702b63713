"""The lines above the steps: the digest of what is new, and the counts of the steps."""

from collections.abc import Callable, Sequence

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content

from agentdash.sessions.text.sanitize import cell_width, cut, one_line
from agentdash.widgets.drawing.roles import MUTED
from agentdash.widgets.drawing.text_lines import Line
from agentdash.widgets.steps.filter_line import Shown, filter_line


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
