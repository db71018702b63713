"""Texts about changes of the model and the mode of a session: pure functions, so that the words can be tested."""

from collections.abc import Collection, Sequence

from ..sessions.adjustments import Adjustment
from ..sessions.model import Session
from ..sessions.text.sanitize import one_line

_LETTERS = "abcdefghi"


def mode_offers(modes: Sequence[str], present: str | None, dangerous: Collection[str]) -> list[tuple[str, str]]:
    """Return the modes of an agent, each with its letter; the one in force and those without limits are marked."""
    marks = dict.fromkeys(dangerous, " (no limits)") | ({present: " (in force)"} if present else {})
    return [(letter, f"{mode}{marks.get(mode, '')}") for letter, mode in zip(_LETTERS, modes, strict=False)]


def heading(session: Session) -> str:
    """Return the title of the list of modes."""
    return f"Mode of {one_line(session.label, 30)} from now on"


def changed(adjustment: Adjustment) -> str:
    """Return the message after a change: ``Mode plan: from the agent's next step on.``."""
    text = one_line(f"{adjustment.what} {adjustment.value}: {adjustment.effect}")
    return f"{text[:1].upper()}{text[1:]}."


def no_modes(session: Session) -> str:
    """Return why a session has no mode to choose."""
    return f"{one_line(session.agent)} has no permission modes."
