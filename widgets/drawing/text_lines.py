"""Lines of text and of messages that are redrawn only if the text or the width changes; a command is cut inside.

Commands often differ only at their ends.
"""

from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import NamedTuple

from textual.content import Content
from textual.geometry import Size
from textual.widget import Widget
from textual.widgets import Static

from agentdash.sessions.text.sanitize import cell_width, cut, cut_middle, one_line, pad
from agentdash.widgets.drawing.roles import MUTED
from agentdash.widgets.drawing.spans import wrap


class Line(Static):
    """Static text of a fixed size: a change does not lay out the screen, and an unchanged text is not drawn again."""

    DEFAULT_CSS = "Line { height: 1; }"

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id, markup=False)
        self._shown: Content | None = None

    def show_text(self, text: str | Content) -> None:
        """Show a text."""
        content = Content(text) if isinstance(text, str) else text
        if self._shown is None or content != self._shown or content.spans != self._shown.spans:
            self._shown = content
            self.update(content, layout=False)


class TitleRule(Line):
    """The rule above a pane: a text, a line to the end of it, and where the cursor is, as ``12/26``.

    The pane that has the keys has a heavy line in the accent colour, the others have a thin grey one.
    """

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._text = Content("")
        self._place = ""
        self._focused = False

    def show_rule(self, text: Content | None = None, place: str | None = None, *, focused: bool | None = None) -> None:
        """Show another text, another place or the focus; None keeps what is shown."""
        self._text = self._text if text is None else text
        self._place = self._place if place is None else place
        self._focused = self._focused if focused is None else focused
        width = self.size.width
        if width:
            self.show_text(ruled(self._text, self._place, width, focused=self._focused))

    def on_resize(self) -> None:
        """Draw the line as long as the pane is wide."""
        self.show_rule()


def ruled(text: Content, place: str, width: int, *, focused: bool) -> Content:
    """Return a rule of ``width`` cells; without room the text is kept, and the place goes."""
    rule, style = ("━", "$accent") if focused else ("─", "$rule")
    end = Content.assemble((f" {place} ", "$foreground" if focused else MUTED), (rule, style)) if place else Content("")
    if text.cell_length + 1 + end.cell_length + (place != "") > width:
        end = Content("")
    gap = " " if text else ""
    room = max(0, width - text.cell_length - len(gap) - end.cell_length)
    return Content.assemble(text, gap, ((rule if room >= _LEAST_RULE else " ") * room, style), end)


_LEAST_RULE = 6
"""Cells below which a rule would be a stroke behind a text."""


class CommandLine(NamedTuple):
    """A line that ends with a command."""

    head: str
    command: str

    def fitted(self, width: int) -> str:
        """Return the line in at most ``width`` cells; the head is kept."""
        return cut(self.head + cut_middle(self.command, width - cell_width(self.head)), width)


class TitledLine(NamedTuple):
    """A line with a title between two texts, aligned with the other lines of a list."""

    head: str
    title: str
    note: str
    """Words behind the title that are not cut."""
    tail: str
    cells: int
    """The cells of the longest title of the list, with its note."""

    def fitted(self, width: int) -> str:
        """Return the line in at most ``width`` cells: the title loses its end, then the tail goes, which says less."""
        beside = width - cell_width(self.head)
        tail = self.tail if beside - cell_width(self.tail) >= min(self.cells, _LEAST_TITLE) else ""
        room = max(0, min(self.cells, beside - cell_width(tail)))
        title = cut(self.title, max(1, room - cell_width(self.note)))
        return cut(f"{self.head}{pad(f'{title}{self.note}', room)}{tail}", width)


_LEAST_TITLE = 12


class MiddleLines(Widget):
    """Shows every line on one row, as wide as the widget; a text loses its end, a command its middle."""

    DEFAULT_CSS = "MiddleLines { height: auto; }"

    def __init__(self, lines: Sequence[str | CommandLine | TitledLine] = ()) -> None:
        super().__init__()
        self._lines = list(lines)

    def show(self, lines: Sequence[str | CommandLine | TitledLine]) -> None:
        """Replace the lines."""
        self._lines = list(lines)
        self.refresh(layout=True)

    def get_content_width(self, container: Size, viewport: Size) -> int:  # noqa: ARG002 - as Textual declares it
        """Return the cells of the longest line."""
        return max((cell_width(line) for line in self._fitted(container.width)), default=0)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:  # noqa: ARG002
        """Return the number of lines."""
        return len(self._lines)

    def render(self) -> Content:
        """Return the lines, each cut to the width."""
        return Content("\n".join(self._fitted(self.size.width)))

    def _fitted(self, width: int) -> list[str]:
        return [cut(line, width) if isinstance(line, str) else line.fitted(width) for line in self._lines]


class Kind(StrEnum):
    """The kind of a message."""

    ERROR = "error"
    WARNING = "warning"
    """A refusal: nothing was changed."""
    INFORMATION = "information"


_STYLES = {Kind.ERROR: "bold $text-error", Kind.WARNING: "$text-warning", Kind.INFORMATION: "$foreground"}
MARKS = {Kind.ERROR: "✗ ", Kind.WARNING: "! ", Kind.INFORMATION: ""}

NARROW = 70
"""Cells below which a long error takes two lines."""

_APART = 3
"""Least cells between a message and the keys beside it."""


class MessageLine(Line):
    """One message, cut to the width; a long error has two lines on a narrow screen.

    It is in a layer of its own, so the screen below keeps its layout.  Without a message it is below the last line and
    not hidden: Textual (8.2) would draw the whole screen when a widget comes or goes, but two lines when one moves.
    """

    DEFAULT_CSS = """
    MessageLine { dock: bottom; layer: messages; width: 100%; offset-y: 1;
        background: $background; text-wrap: nowrap; }
    """

    def show(self, rows: Sequence[str], kind: Kind, width: int, keys: Callable[[int], Content]) -> None:
        """Show the rows of a message in ``width`` cells; beside a single row the keys that fit, at the right end."""
        self.show_lines([_beside(rows, kind, width, keys) if len(rows) == 1 else _styled(rows, kind)], len(rows))

    def show_lines(self, lines: Sequence[Content], height: int = 0) -> None:
        """Show lines above each other; ``height`` is their number if one of them has several."""
        self.styles.height = height or len(lines)
        self.show_text(Content("\n").join(lines))
        self.styles.offset = (0, 0)

    def hide(self) -> None:
        """Move below the last line."""
        self.styles.height = 1
        self.styles.offset = (0, 1)


def _styled(rows: Sequence[str], kind: Kind) -> Content:
    return Content.styled("\n".join(rows), _STYLES[kind])


def _beside(rows: Sequence[str], kind: Kind, width: int, keys: Callable[[int], Content]) -> Content:
    """Return a row with the keys at the right end of the line, if any fits."""
    message = _styled(rows, kind)
    room = width - message.cell_length - _APART
    beside = keys(room) if room > 0 else Content()
    if not beside or beside.cell_length > room:
        return message
    return Content.assemble(message, " " * (width - message.cell_length - beside.cell_length), beside)


def message_rows(text: str, kind: Kind, width: int) -> list[str]:
    """Return the lines of a message that fit into ``width`` cells: one, or two for an error on a narrow screen.

    A message that is longer ends with ``…``: the log has all of it.
    """
    whole = MARKS[kind] + one_line(text)
    if kind is not Kind.ERROR or width >= NARROW or cell_width(whole) <= width:
        return [cut(whole, width)]
    first, *rest = wrap(whole, width)
    return [first, cut(" ".join(rest), width)]
