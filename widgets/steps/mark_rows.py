"""The rows of a mark between the steps, and of the steps that were cut.  Pure."""

from collections.abc import Mapping

from msgspec import Struct

from agentdash.sessions.model.session import Step
from agentdash.sessions.rules.conversation.shown import Shown
from agentdash.sessions.text.sanitize import cell_width, one_line
from agentdash.sessions.transcript.mark_steps import MarkStep
from agentdash.widgets.drawing import glyphs
from agentdash.widgets.drawing.spans import Row, cuts
from agentdash.widgets.steps.step_lines import BRIEF, Manner

EDGE_CELLS = 2
"""Cells of the edge of a cut step."""


class Cuts(Struct, frozen=True):
    """The effect of the marks of a conversation on a list of steps."""

    shown: Shown | None = None
    """The steps that were cut; None if the conversation has no marks of its own."""
    hints: Mapping[int, str] = {}
    """The effect of a key on a mark, by the id of the mark."""

    def cuts(self, step: Step) -> bool:
        """Return whether a step was cut."""
        return self.shown is not None and not isinstance(step, MarkStep) and self.shown.cuts(step.turn, step.index)


NO_CUTS = Cuts()


def mark_rows(step: MarkStep, width: int, manner: Manner, known: Cuts) -> list[Row]:
    """Return a mark: the act, and the effect of a key on it."""
    sign = f"{glyphs.MARKS.get(step.mark.kind, '?')} "
    hint = known.hints.get(step.mark.id, "")
    ignored = known.shown is not None and step.mark.id in known.shown.ignored
    words = f"{one_line(step.text)}{' (without an effect)' if ignored else ''}"
    rows = _head(sign, words, f"; {hint}" if hint else "", width)
    return rows[:1] if manner.level == BRIEF else rows


def _head(sign: str, words: str, hint: str, width: int) -> list[Row]:
    """The wrapped words and the hint, which is dim."""
    margin, text = " " * cell_width(sign), words + hint
    rows: list[Row] = []
    for begin, end in cuts(text, width - len(margin)):
        middle = max(begin, min(end, len(words)))
        lead = margin if rows else sign
        rows.append(((lead, "running"), (text[begin:middle], "running"), (text[middle:end], "dim")))
    return rows


def cut_rows(rows: list[Row]) -> list[Row]:
    """Return the rows of a cut step: faint, and with an edge that shows it without colours too."""
    return [((f"{glyphs.CUT} ", "dim"), *((text, "dim") for text, _ in row)) for row in rows]
