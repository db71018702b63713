"""The turn behind which ``thread/fork`` can copy a thread (codex-cli 0.169.0).

codex copies whole turns only (docs/protocols/codex.md, "Forks and compactions").
"""

import re
from collections.abc import Iterable

from ....conversation.places import is_aside
from .parser import AppServerParser

_ID = re.compile(r"[A-Za-z0-9_-]{1,100}")


def turn_before(lines: Iterable[bytes], through: int | None) -> str | None:
    """Return codex's id of a turn if a place is behind all of the turn that adds to the conversation; else None.

    Args:
        lines: the output of the turn.
        through: the index of the last step before the place; None for the end of the turn.
    """
    parser = AppServerParser()
    for line in lines:
        steps = parser.feed(line)
        if through is not None and any(step.index > through and not is_aside(step) for step in steps):
            return None
    turn = parser.state.turn
    return turn if turn is not None and _ID.fullmatch(turn) else None
