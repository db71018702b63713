"""A turn's counts for the overview, made while its steps are written."""

from ..model import Step, StepKind, StepStatus
from ..rules.step_outcome import took_effect
from ..text.sanitize import one_line

_PROMPT_CELLS = 90


class Tally:
    """The counts of one turn.

    ``failed`` counts commands, calls and changes that failed, and errors that ended the turn.
    """

    def __init__(self, turn: int) -> None:
        self.turn = turn
        self.prompt = ""
        self.commands = 0
        self.failed = 0
        self.first_failed: int | None = None
        """The index of its step."""
        self._paths: set[str] = set()

    @property
    def files(self) -> int:
        """The number of different files that were changed."""
        return len(self._paths)

    def add(self, step: Step) -> None:
        """Count one step."""
        if step.kind is StepKind.PROMPT and not self.prompt and step.parent is None:
            self.prompt = one_line(step.text, _PROMPT_CELLS)
        self.commands += step.kind is StepKind.COMMAND
        if step.kind is StepKind.FILE_CHANGE and took_effect(step.status):
            self._paths.update(change.path for change in step.changes)
        if step.status is StepStatus.FAILED or (step.kind is StepKind.ERROR and step.fatal):
            self.failed += 1
            self.first_failed = step.index if self.first_failed is None else self.first_failed
