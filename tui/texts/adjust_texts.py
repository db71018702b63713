"""Texts about changes of the model and the mode of a session: pure functions, so that the words can be tested."""

from collections.abc import Collection, Sequence

from agentdash.sessions.model.session import Session
from agentdash.sessions.text.sanitize import one_line

_LETTERS = "abcdefghi"


def mode_offers(modes: Sequence[str], following: str | None, dangerous: Collection[str]) -> list[tuple[str, str]]:
    """Return the modes of an agent, each with its letter.

    The mode of the next prompt and those without limits are marked.
    """
    return [(letter, mode + _marks(mode, following, dangerous)) for letter, mode in zip(_LETTERS, modes, strict=False)]


def _marks(mode: str, following: str | None, dangerous: Collection[str]) -> str:
    marks = ["no limits"] * (mode in dangerous) + ["next prompt"] * (mode == following)
    return f" ({', '.join(marks)})" if marks else ""


def heading(session: Session) -> str:
    """Return the title of the list of modes."""
    return f"Mode of {one_line(session.label, 30)} from now on"
