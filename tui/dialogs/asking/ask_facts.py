"""The upper part of the card of an ask: its facts on a line each, and its whole text, which scrolls."""

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message

from agentdash.sessions.rules.asks.recorded import RecordedAsk
from agentdash.tui.texts import ask_texts
from agentdash.widgets.asks.ask_document import SHORT, AskDocument, cut_facts, cut_questions
from agentdash.widgets.document.document_pane import DocumentPane
from agentdash.widgets.drawing.text_lines import Line
from agentdash.widgets.lists.virtual_list import Place

LEAST_LINES = 3
"""Least lines of the text on a screen that is too low."""

COUNTED = 1_000
"""Most rows below the text that are counted."""

_AROUND = 4
"""Cells beside the text: its edge, a blank on both sides, the scrollbar."""


class AskText(DocumentPane):
    """The text of an ask; reports each move, because a text that was not shown to its end cannot be allowed."""

    class Placed(Message):
        """It was scrolled, or has another size."""

    def place(self, place: Place) -> None:
        """Put this line at the top."""
        super().place(place)
        self.post_message(self.Placed())


class AskFacts(Vertical):
    """Shows one ask without its decisions.

    Args:
        ask: the ask that is shown first.
        questions: True to show the questions of an ask in its text, because no fields show them.
    """

    DEFAULT_CSS = "AskFacts { height: auto; }"

    class ReadToEnd(Message):
        """The end of the text is on the screen."""

    def __init__(self, ask: RecordedAsk, *, questions: bool = False) -> None:
        super().__init__()
        self._ask = ask
        self._with_questions = questions
        self._room = SHORT
        """Cells of the line of a fact."""
        self._document = self._new_document()
        self._where, self._why, self._since = (Line() for _ in range(3))
        self._beside: Content | None = None
        """The line with the folder, if the age is behind it."""
        self.text = AskText(id="ask-body")
        """The whole text; the keys of the card scroll it."""
        self.text.can_focus = False
        self._more = Line(id="ask-more")
        self._measured: tuple[AskDocument, int, int] = (self._document, 0, 0)
        """The text, a width, and the lines that it takes there."""
        self._on_screen = False
        self.read_to_end = False
        """True if the end of the text was on the screen."""

    def compose(self) -> ComposeResult:
        """Yield the facts and the text."""
        yield self._where
        yield self._why
        yield self._since
        yield self.text
        yield self._more

    def show(self, ask: RecordedAsk) -> None:
        """Show another ask, from the beginning of its text; it is on the screen with :meth:`appeared`."""
        self._ask = ask
        self._on_screen = self.read_to_end = False
        self._document = self._new_document()
        self.text.show(self._document)

    def appeared(self) -> None:
        """Count what is seen from now on."""
        self._on_screen = True
        self.text.forget_all()  # some lines may have been drawn for a width of an earlier round
        self.text.place(self.text.top)
        self._placed()

    def _new_document(self) -> AskDocument:
        return AskDocument(self._ask.ask, questions=self._with_questions, room=self._room)

    def show_age(self, ask: RecordedAsk | None, now: int) -> None:
        """Show the age at ``now`` (UTC ms), or none; it is drawn only if its words changed."""
        line = self._where if self._beside is not None else self._since
        line.show_text(
            ask_texts.since(ask, now, beside=self._beside) if ask is not None else self._beside or Content("")
        )

    def wanted(self, width: int) -> int:
        """The lines that everything takes in ``width`` cells, counted up to ``COUNTED``."""
        return self._show_facts(width) + self._height(width)

    def fit(self, width: int, room: int) -> None:
        """Fit the lines into ``width`` cells, and everything into ``room`` lines."""
        most = room - self._show_facts(width)
        height = self._height(width)
        is_long = height > most
        self.text.display = bool(len(self._document))
        self.text.styles.height = max(LEAST_LINES, most - 1) if is_long else height
        self._more.display = is_long

    def _height(self, width: int) -> int:
        """The lines of the text, counted up to ``COUNTED``."""
        if self._measured[:2] != (self._document, width):
            self._measured = (self._document, width, self._document.height(max(10, width - _AROUND), COUNTED))
        return self._measured[2]

    def _show_facts(self, width: int) -> int:
        """Fit the facts into their lines; return the number of lines."""
        ask = self._ask.ask
        self._show_cut_facts(ask_texts.fact_cells(width))
        place, why = ask_texts.where(ask, width), ask_texts.why(ask, width)
        self._beside = place if ask_texts.has_room_for_age(place, width) else None
        if self._beside is None:
            self._where.show_text(place)
        self._why.show_text(why)
        self._where.display, self._why.display = bool(place.plain), bool(why.plain)
        self._since.display = self._beside is None
        return self._where.display + self._why.display + self._since.display

    def _show_cut_facts(self, room: int) -> None:
        """Repeat in the text what lines of ``room`` cells cut, from its beginning if that is something else."""
        former, self._room = self._room, room
        ask = self._ask.ask
        if [cut_facts(ask, former), cut_questions(ask, former)] != [cut_facts(ask, room), cut_questions(ask, room)]:
            self._document = self._new_document()
            self.text.show(self._document)

    @on(AskText.Placed)
    def _placed(self) -> None:
        below = self.text.lines_below(COUNTED) if self.text.display else 0
        self._more.show_text(ask_texts.rows_below(below, COUNTED))
        if self._on_screen and not below and not self.read_to_end:
            self.read_to_end = True
            self.post_message(self.ReadToEnd())
