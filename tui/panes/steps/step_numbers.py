"""Finds steps: the one that the user wants to read first, and those whose number the user types.  Pure."""

import re
from collections.abc import Sequence

from agentdash.sessions.model.session import Status, Step, StepKind, Turn
from agentdash.sessions.rules.conversation.shown import Shown
from agentdash.sessions.transcript.index.kind_codes import NESTED, table
from agentdash.sessions.transcript.snapshot import View
from agentdash.widgets.steps.filtered_steps import FAILURES

_MESSAGES = table([StepKind.MESSAGE], lacking=NESTED)
_ERRORS = table([StepKind.ERROR], lacking=NESTED)


def answer(view: View, turns: Sequence[Turn], known: Shown | None = None) -> int | None:
    """Return the last message of the newest turn, or the error of a failed turn.

    None if the turn has neither, and if its end was cut: the line of the step back is then the last one.
    """
    if not turns or not len(view):
        return None
    newest = turns[-1]
    failed = newest.status in (Status.FAILED, Status.LOST)
    wanted = (_ERRORS, FAILURES, _MESSAGES) if failed else (_MESSAGES, _ERRORS)
    last = (view.next_marked(marked, len(view), -1) for marked in wanted)
    found = next((item for item in last if item is not None and view.turn(item) == newest.n), None)
    return None if found is None or (known is not None and known.cuts(newest.n, view.step(found).index)) else found


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
