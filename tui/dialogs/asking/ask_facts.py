"""The upper part of the card of an ask: its facts on a line each, and its whole text, which scrolls."""

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content

from ....sessions.asks.recorded import RecordedAsk
from ....widgets.asks.ask_document import SHORT, AskDocument, cut_facts
from ....widgets.document.document_pane import DocumentPane
from ....widgets.drawing.glyphs import UNICODE, Signs
from ....widgets.drawing.line import Line
from ...texts import ask_texts

LEAST_LINES = 3
"""Least lines of the text on a screen that is too low."""

_AROUND = 4
"""Cells beside the text: its edge, a blank on both sides, the scrollbar."""


class AskFacts(Vertical):
    """Shows one ask without its decisions.

    Args:
        ask: the ask that is shown first.
        signs: the characters to draw with.
        questions: True to show the questions of an ask in its text, because no fields show them.
    """

    DEFAULT_CSS = "AskFacts { height: auto; }"

    def __init__(self, ask: RecordedAsk, *, signs: Signs = UNICODE, questions: bool = False) -> None:
        super().__init__()
        self._ask = ask
        self._signs = signs
        self._with_questions = questions
        self._room = SHORT
        """Cells of the line of a fact."""
        self._document = self._new_document()
        self._what, self._where, self._why, self._since = (Line(signs=signs) for _ in range(4))
        self.text = DocumentPane(signs=signs, id="ask-body")
        """The whole text; the keys of the card scroll it."""
        self.text.can_focus = False

    def compose(self) -> ComposeResult:
        """Yield the facts and the text."""
        yield self._what
        yield self._where
        yield self._why
        yield self._since
        yield self.text

    def show(self, ask: RecordedAsk) -> None:
        """Show another ask, from the beginning of its text."""
        self._ask = ask
        self._document = self._new_document()
        self.text.show(self._document)

    def _new_document(self) -> AskDocument:
        return AskDocument(self._ask.ask, self._signs, questions=self._with_questions, room=self._room)

    def show_age(self, ask: RecordedAsk | None, now: int) -> None:
        """Show the age at ``now`` (UTC ms), or none; it is drawn only if its words changed."""
        self._since.show_text(ask_texts.since(ask, now) if ask is not None else Content(""))

    def fit(self, width: int, room: int) -> None:
        """Fit the lines into ``width`` cells, and everything into ``room`` lines."""
        ask = self._ask.ask
        self._show_cut_facts(ask_texts.fact_cells(width))
        lines = 1
        for line, text in (
            (self._what, ask_texts.what(ask, width)),
            (self._where, ask_texts.where(ask, width)),
            (self._why, ask_texts.why(ask, width)),
        ):
            line.show_text(text)
            line.display = bool(text.plain)
            lines += line.display
        margin = self.text.styles.margin
        most = max(LEAST_LINES, room - lines - margin.top - margin.bottom)
        self.text.display = bool(len(self._document))
        self.text.styles.height = self._document.height(max(10, width - _AROUND), most)

    def _show_cut_facts(self, room: int) -> None:
        """Repeat in the text the facts that lines of ``room`` cells cut, from its beginning if these are others."""
        former, self._room = self._room, room
        if cut_facts(self._ask.ask, former) != cut_facts(self._ask.ask, room):
            self.show(self._ask)
