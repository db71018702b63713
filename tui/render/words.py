"""The small words of the command line: marks, ages, tokens, money, and the colours of what they mean."""

from msgspec import Struct

from ...sessions.model import Session, Status, StepStatus
from ...sessions.text import one_line

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

# Each state has a character of its own, and each character an ASCII twin.
_MARKS = {
    Status.QUEUED: ("◌", "-"),
    Status.STARTING: ("◔", ":"),
    Status.RUNNING: ("●", "*"),
    Status.WAITING: ("?", "?"),
    Status.FINISHING: ("◕", ";"),
    Status.DONE: ("✓", "+"),
    Status.FAILED: ("✗", "x"),
    Status.STOPPED: ("○", "."),
    Status.LOST: ("≠", "~"),
}
_ROLES = {
    Status.WAITING: "attention",
    Status.STARTING: "running",
    Status.RUNNING: "running",
    Status.FINISHING: "running",
    Status.FAILED: "failure",
    Status.LOST: "failure",
}
_ENDINGS = {
    StepStatus.OK: ("✓", "+", "good"),
    StepStatus.FAILED: ("✗", "x", "failure"),
    StepStatus.DECLINED: ("⊘", "!", "attention"),
    StepStatus.INTERRUPTED: ("○ interrupted", ". interrupted", "dim"),
    StepStatus.RUNNING: ("● running", "* running", "running"),
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

    def char(self, char: str, twin: str) -> str:
        """The character, or its ASCII twin."""
        return twin if self.plain_ascii else char


def mark(look: Look, status: Status) -> str:
    """The one character of a state."""
    return look.char(*_MARKS[status])


def status_role(session: Session) -> str:
    """What the state's colour means: a new outcome is green, one that was seen is dim."""
    if session.status is Status.DONE:
        return "good" if session.attention else "dim"
    return _ROLES.get(session.status, "dim")


def ending(look: Look, status: StepStatus | None) -> tuple[str, str]:
    """How a step ended: its mark and its colour."""
    if status is None:
        return "", ""
    char, twin, role = _ENDINGS[status]
    return look.char(char, twin), role


def age(milliseconds: int) -> str:
    """In one unit: ``4s``, ``12m``, ``3h``, ``2d``; a clock that went back counts as now."""
    seconds = max(0, milliseconds) // 1000
    for size, unit in ((86_400, "d"), (3_600, "h"), (60, "m")):
        if seconds >= size:
            return f"{seconds // size}{unit}"
    return f"{seconds}s"


def duration(milliseconds: int | None) -> str:
    """How long something took: ``0.4s``, ``3m12s``, ``2h05m``; empty where unknown."""
    if milliseconds is None:
        return ""
    seconds = max(0, milliseconds) / 1000
    if seconds < 59.95:  # what would be rounded to 60.0s is a minute
        return f"{seconds:.1f}s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes}m{rest:02}s" if minutes < 60 else f"{minutes // 60}h{minutes % 60:02}m"


def tokens(count: int | None) -> str:
    """``812``, ``18.2k``, ``412k``, ``3.1M``; ``?`` where unknown."""
    if count is None:
        return "?"
    for size, unit in ((999_500, "M"), (1_000, "k")):
        if count >= size:
            scaled = count / (1_000_000 if unit == "M" else 1_000)
            return f"{scaled:.0f}{unit}" if scaled >= 99.95 else f"{scaled:.1f}{unit}"
    return str(count)


def money(dollars: float | None) -> str:
    """``$0.0042``, ``$0.042``, ``$0.31``: more decimals for less money; ``?`` where unknown."""
    if dollars is None:
        return "?"
    decimals = 2 if dollars >= 0.1 or dollars == 0 else 3 if dollars >= 0.01 else 4
    return f"${dollars:.{decimals}f}"


def short_id(session_id: str) -> str:
    """The eight characters that people use."""
    return session_id[:8]


def what(session: Session) -> str:
    """The session's title on one line."""
    return one_line(session.title or session.task)


def plural(count: int, word: str, many: str | None = None) -> str:
    """``1 process``, ``2 processes``."""
    return f"{count} {word if count == 1 else many or word + 's'}"
