"""A turn's counts for the overview, made while its steps are written."""

from ..model import Step, StepKind
from ..rules.step_outcome import changed_files, failed
from ..text.sanitize import one_line

_PROMPT_CELLS = 90


class Tally:
    """The counts of one turn.

    ``failed`` counts commands, calls and changes that failed, and errors that ended the turn.  Relative paths are those
    in ``folder``.
    """

    def __init__(self, turn: int, folder: str) -> None:
        self.turn = turn
        self._folder = folder
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
        self._paths.update(place.absolute for place, _ in changed_files(step, self._folder))
        if failed(step) or (step.kind is StepKind.ERROR and step.fatal):
            self.failed += 1
            self.first_failed = step.index if self.first_failed is None else self.first_failed
