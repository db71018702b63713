"""Finds steps by the numbers that the user types: 12 of this turn, or 3.12."""

import re

from agentdash.sessions.model.session import Step
from agentdash.sessions.transcript.snapshot import View

_NUMBER = re.compile(r"(?:\d{1,9}\.)?\d{1,9}", re.ASCII)
"""A step of this turn, or a turn and its step."""


def numbered(text: str, view: View, current: Step | None) -> tuple[int | None, str]:
    """Return the item of a step by its number and ""; or None and the reason why there is none."""
    turn, _, index = text.strip().rpartition(".")
    if not _NUMBER.fullmatch(text.strip()) or current is None:
        return None, f"{text.strip()!r} is not a step number. Examples: 12, or 3.12 for step 12 of turn 3."
    item = view.number(int(turn or current.turn), int(index))
    missing = f"No turn {turn or current.turn}." if view.complete else "Still loading."
    return item, "" if item is not None else missing
