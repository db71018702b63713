"""The rows of a step in a list: headings, fold level, search matches, marks of the conversation.  Needs no screen."""

from collections.abc import Mapping

from msgspec import Struct, structs

from agentdash.sessions.model.session import Step
from agentdash.sessions.rules.conversation.shown import Shown
from agentdash.sessions.text.sanitize import cell_width, one_line
from agentdash.sessions.transcript.mark_steps import MarkStep
from agentdash.widgets.drawing import glyphs
from agentdash.widgets.drawing.spans import Row, cut_row, cuts, marked
from agentdash.widgets.steps.filtered_steps import FilteredSteps
from agentdash.widgets.steps.step_lines import BRIEF, USUAL, WHOLE, Manner, rule, step_rows

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


class Unread(Struct, frozen=True):
    """The first step that the user has not seen, with a label for the new steps."""

    item: int
    label: str


def edged(row: Row, cells: int = 1) -> Row:
    """The row moved right, for the cursor.  The blanks take the first role: each change costs bytes."""
    (text, role), *rest = row
    return ((" " * cells + text, role), *rest)


def numbered(rows: list[Row], number: int, cells: int) -> list[Row]:
    """The rows of a step moved right for the cursor, and by ``cells`` for the step's number in the first of them."""
    if not cells:
        return [edged(row) for row in rows]
    first, *rest = rows
    label = f" {number:>{cells - 1}} " if number > 0 else " " * (cells + 1)
    return [((label, "dim"), *first), *(edged(row, cells + 1) for row in rest)]


class TurnNote(Struct, frozen=True):
    """The parts of a turn's heading beside its number."""

    text: str = ""
    """The end of the heading."""
    mode: Row = ()
    """The changes of the agent's permissions and settings: a line below the heading; empty for none."""
    prompt: Row = ()
    """A warning about the prompt: a line below that; empty for none."""


TurnNotes = Mapping[int, TurnNote]
"""The notes by the numbers of their turns."""

NUMBERS_ROOM = 60
"""Least cells of a list that shows the numbers of its steps."""

_MARGIN = 3
"""Cells before the changes of a turn's settings, which begin below its name."""

_NEXT_LEVEL = {USUAL: WHOLE, WHOLE: BRIEF, BRIEF: USUAL}


class HeadedSteps:
    """Draws steps below the headings of their turn and of the new steps."""

    def __init__(self) -> None:
        self.manner = Manner()
        self.clear()

    def clear(self) -> None:
        """Forget the data of the session."""
        self.level = USUAL
        """The fold level of the steps without one of their own."""
        self.needle = ""
        """The text to highlight."""
        self.unread: Unread | None = None
        """The heading above the first step that the user has not seen."""
        self.turn_notes: TurnNotes = {}
        """The notes in the headings of the turns."""
        self.cuts = NO_CUTS
        """The marks of the conversation."""
        self.digits = 0
        """Digits of the highest number of a step; 0 to show no numbers."""
        self._levels: dict[tuple[int, int], int] = {}

    def note_turns(self, notes: TurnNotes) -> set[int]:
        """Store the notes of the turns; return the turns whose note changed."""
        former, self.turn_notes = self.turn_notes, notes
        return {turn for turn in {*notes, *former} if notes.get(turn) != former.get(turn)}

    def note_cuts(self, cuts: Cuts) -> bool:
        """Store what was cut; return True if that changes the rows of steps."""
        former, self.cuts = self.cuts, cuts
        return cuts != former

    def make_room(self, count: int) -> bool:
        """Make room for the numbers of ``count`` steps; return True if that moves all rows."""
        digits, self.digits = self.digits, max(2, len(str(count)))
        return digits != self.digits

    def unfold(self, step: Step, more: int) -> None:
        """Change the fold level of one step by ``more``."""
        self._levels[step.turn, step.index] = max(BRIEF, min(WHOLE, self._level_of(step) + more))

    def fold_all(self) -> None:
        """Give all steps the next fold level: usual, whole, one line."""
        self.level = _NEXT_LEVEL[self.level]
        self._levels.clear()

    def rows(self, steps: FilteredSteps, position: int, width: int) -> list[Row]:
        """Return the rows of the step at a position, below its headings."""
        step = steps.step(position)
        rows: list[Row] = []
        if steps.begins_turn(position):
            note = self._note(step.turn)
            rows.append(rule(f"turn {step.turn}", width, note=note.text))
            lines = (line for line in (note.mode, note.prompt) if line)
            rows += [edged(cut_row(line, max(1, width - _MARGIN)), _MARGIN) for line in lines]
        if self.unread is not None and self.unread.item == steps.item(position):
            rows.append(rule(self.unread.label, width, role="good"))
        manner = structs.replace(self.manner, level=self._level_of(step))
        cells = self.digits + 1 if self.digits and width >= NUMBERS_ROOM else 0
        own = [marked(row, self.needle) for row in self._own_rows(step, width - 1 - cells, manner)]
        return [*rows, *numbered(own, step.index, cells)]

    def _own_rows(self, step: Step, width: int, manner: Manner) -> list[Row]:
        if isinstance(step, MarkStep):
            return mark_rows(step, width, manner, self.cuts)
        if self.cuts.cuts(step):
            return cut_rows(step_rows(step, width - EDGE_CELLS, manner))
        return step_rows(step, width, manner)

    def lines_above(self, steps: FilteredSteps, position: int) -> int:
        """Return the number of heading lines above the step at a position."""
        new = self.unread is not None and self.unread.item == steps.item(position)
        if not steps.begins_turn(position):
            return int(new)
        note = self._note(steps.turn(position))
        return 1 + bool(note.mode) + bool(note.prompt) + new

    def _note(self, turn: int) -> TurnNote:
        return self.turn_notes.get(turn) or TurnNote()

    def _level_of(self, step: Step) -> int:
        return self._levels.get((step.turn, step.index), self.level)
