"""How the command line looks: its width, its characters, and the colours of what a text means."""

from msgspec import Struct

from ...sessions.model import Session, Status
from ...sessions.text.sanitize import one_line
from ...widgets.drawing.glyphs import ASCII, UNICODE, Signs

Style = dict[str, object]

_STYLES: dict[str, Style] = {
    "attention": {"fg": "yellow", "bold": True},
    "failure": {"fg": "red"},
    "danger": {"fg": "red", "bold": True},
    "running": {"fg": "cyan"},
    "good": {"fg": "green"},
    "dim": {"dim": True},
    "strong": {"bold": True},
}


class Look(Struct, frozen=True, kw_only=True):
    """How a person sees it: how wide, with which means, and at what time."""

    width: int = 100
    now: int = 0
    """UTC ms, from which ages are counted."""
    colour: bool = False
    plain_ascii: bool = False
    full: bool = False
    """Nothing is cut."""

    def paint(self, text: str, role: str) -> str:
        """The text in the colour of its meaning, where there are colours."""
        if not self.colour or role not in _STYLES:
            return text
        from click import style

        return style(text, **_STYLES[role])  # type: ignore[arg-type]

    @property
    def signs(self) -> Signs:
        """The characters to draw with."""
        return ASCII if self.plain_ascii else UNICODE


def mark(look: Look, status: Status) -> str:
    """The one character of a state."""
    return look.signs.states[status]


def what(session: Session) -> str:
    """The session's title on one line."""
    return one_line(session.label)
