"""The style of the command line's output: width, characters, and a colour for each role of a text."""

from msgspec import Struct

from ...sessions.model import Session, Status
from ...sessions.text.sanitize import one_line
from ...widgets.drawing.glyphs import ASCII, UNICODE, Signs

Colours = dict[str, object]

_STYLES: dict[str, Colours] = {
    "attention": {"fg": "yellow", "bold": True},
    "failure": {"fg": "red"},
    "danger": {"fg": "red", "bold": True},
    "running": {"fg": "cyan"},
    "good": {"fg": "green"},
    "dim": {"dim": True},
    "strong": {"bold": True},
}


class Style(Struct, frozen=True, kw_only=True):
    """Settings of the output: its width, its characters and colours, and the current time."""

    width: int = 100
    now: int = 0
    """Current time (UTC ms), from which ages are computed."""
    colour: bool = False
    plain_ascii: bool = False
    full: bool = False
    """True if nothing is cut."""

    def paint(self, text: str, role: str) -> str:
        """Return the text in the colour of its role, if there are colours."""
        if not self.colour or role not in _STYLES:
            return text
        from click import style

        return style(text, **_STYLES[role])  # type: ignore[arg-type]

    @property
    def signs(self) -> Signs:
        """The glyphs to draw with."""
        return ASCII if self.plain_ascii else UNICODE


def mark(style: Style, status: Status) -> str:
    """Return the character of a status."""
    return style.signs.states[status]


def what(session: Session) -> str:
    """Return the session's title on one line."""
    return one_line(session.label)
