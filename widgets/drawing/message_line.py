"""The line for messages, which covers a screen's last line while there is one."""

from enum import StrEnum

from textual.content import Content

from agentdash.sessions.text.sanitize import cell_width, cut, cut_middle, one_line
from agentdash.widgets.drawing.spans import wrap
from agentdash.widgets.drawing.text_lines import Line


class Kind(StrEnum):
    """The kind of a message."""

    ERROR = "error"
    WARNING = "warning"
    """A refusal: nothing was changed."""
    INFORMATION = "information"


_STYLES = {Kind.ERROR: "bold $text-error", Kind.WARNING: "$text-warning", Kind.INFORMATION: "$foreground"}
_MARKS = {Kind.ERROR: "✗ ", Kind.WARNING: "! ", Kind.INFORMATION: ""}

NARROW = 70
"""Cells below which a long error takes two lines."""


class MessageLine(Line):
    """One message, cut to the width; a long error has two lines on a narrow screen.

    It is in a layer of its own, so the screen below keeps its layout.  Without a message it is below the last line and
    not hidden: Textual (8.2) would draw the whole screen when a widget comes or goes, but two lines when one moves.
    """

    DEFAULT_CSS = """
    MessageLine { dock: bottom; layer: messages; width: 100%; offset-y: 1;
        background: $background; text-wrap: nowrap; }
    """

    def show(self, text: str, kind: Kind, width: int) -> None:
        """Show a message in ``width`` cells."""
        lines = message_rows(text, kind, width)
        self.styles.height = len(lines)
        self.show_text(Content.styled("\n".join(lines), _STYLES[kind]))
        self.styles.offset = (0, 0)

    def hide(self) -> None:
        """Move below the last line."""
        self.styles.height = 1
        self.styles.offset = (0, 1)


def message_rows(text: str, kind: Kind, width: int) -> list[str]:
    """Return the lines of a message that fit into ``width`` cells: one, or two for an error on a narrow screen.

    An error begins with the cause and loses its end; other messages end with what matters, and lose their middle.
    """
    whole = _MARKS[kind] + one_line(text)
    if kind is not Kind.ERROR:
        return [cut_middle(whole, width)]
    if width >= NARROW or cell_width(whole) <= width:
        return [cut(whole, width)]
    first, *rest = wrap(whole, width)
    return [first, cut(" ".join(rest), width)]
