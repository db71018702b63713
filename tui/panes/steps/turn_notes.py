"""The notes in the headings of turns: how a turn ended, and what changed of the agent's permissions and settings."""

from collections.abc import Sequence

from ....sessions.model import Turn
from ....sessions.rules.mode_changes import BETWEEN, ModeChange, changes_by_turn
from ....sessions.text.units import duration
from ....widgets.drawing.spans import Row
from ....widgets.steps.headed_steps import TurnNote


def turn_notes(turns: Sequence[Turn]) -> dict[int, TurnNote]:
    """Return the note of each turn, by its number."""
    changes = changes_by_turn(turns)
    return {turn.n: TurnNote(_ending(turn), _line(changes.get(turn.n, ()))) for turn in turns}


def _ending(turn: Turn) -> str:
    """Return the status of a turn, and its duration if it has ended."""
    took = duration(turn.duration_ms) if turn.duration_ms is not None and turn.status.ended else ""
    return "  ".join(filter(None, (str(turn.status), took)))


def _line(changes: Sequence[ModeChange]) -> Row:
    spans: list[tuple[str, str]] = []
    for change in changes:
        spans += [(BETWEEN, "dim")] if spans else []
        spans.append((change.text, "failure" if change.dangerous else "dim"))
    return tuple(spans)
