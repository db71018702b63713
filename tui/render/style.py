"""The style of the command line's output: width, and a colour for each role of a text."""

from msgspec import Struct

from agentdash.sessions.model.session import Session
from agentdash.sessions.text.sanitize import one_line

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
    """Settings of the output: its width, its colours, and the current time."""

    width: int = 100
    now: int = 0
    """Current time (UTC ms), from which ages are computed."""
    colour: bool = False
    full: bool = False
    """True if nothing is cut."""

    def paint(self, text: str, role: str) -> str:
        """Return the text in the colour of its role, if there are colours."""
        if not self.colour or role not in _STYLES:
            return text
        from click import style

        return style(text, **_STYLES[role])  # type: ignore[arg-type]


def what(session: Session) -> str:
    """Return the session's title on one line."""
    return one_line(session.label)
