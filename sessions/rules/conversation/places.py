"""Places in a conversation as people write them, ``TURN`` or ``TURN.STEP``, and the steps that a place can follow.

A step has the number that ``trajectory`` and the viewer show: the prompt of a turn is 0.
"""

import re
from collections.abc import Iterable

from agentdash.sessions.model.errors import UsageError
from agentdash.sessions.model.steps import Step, StepKind
from agentdash.sessions.rules.conversation.history import Place

ASIDE = frozenset({StepKind.START, StepKind.NOTICE, StepKind.USAGE, StepKind.REASONING, StepKind.ERROR})
"""The kinds of steps that add nothing to the text that the model is given in the next turn."""

_ADDRESS = re.compile(r"(0|[1-9][0-9]{0,8})(?:\.(0|[1-9][0-9]{0,8}))?")


def parsed_place(text: str) -> Place:
    """Read ``TURN`` or ``TURN.STEP``; turn 0 is the beginning.

    Raises:
        UsageError: it is neither.
    """
    match = _ADDRESS.fullmatch(text.strip())
    if match is None or (match[1] == "0" and match[2] is not None):
        raise UsageError(f"{text!r} is not a valid place. Write TURN or TURN.STEP, for example 2 or 2.4.")
    return Place(int(match[1]), int(match[2]) if match[2] is not None else None)


def place_text(turn: int | None, step: int | None = None) -> str:
    """Return a place as :func:`parsed_place` reads it; turn None is the beginning."""
    if turn is None:
        return "0"
    return f"{turn}" if step is None else f"{turn}.{step}"


def place_words(turn: int | None, step: int | None = None) -> str:
    """Return a place in words: ``the end of turn 2``, ``step 2.4``, ``the beginning``."""
    if turn is None:
        return "the beginning"
    return f"the end of turn {turn}" if step is None else f"step {place_text(turn, step)}"


def is_aside(step: Step) -> bool:
    """Return whether a step adds nothing to the text that the model is given in the next turn."""
    return step.kind in ASIDE or step.parent is not None


def ends_turn(steps: Iterable[Step], last: int) -> bool:
    """Return whether the steps of a turn behind the one with number ``last`` add nothing to the conversation."""
    return all(step.index <= last or is_aside(step) for step in steps)
