"""Any command as a session: ``agentdash run -- ARGV``.

Its lines are whatever it prints.  Text is a message; a JSON object is an event of a protocol we do not know, so
it is kept raw.  Its one proper end is exit code 0.
"""

from ..errors import UsageError
from ..launch import Launch
from ..model import Step, StepKind
from ..rules.turn_facts import Facts
from .base import Agent, LaunchRequest, TurnParser
from .json_lines import KIND_LENGTH
from .json_repair import parsed


class CommandParser(TurnParser):
    """Reads one turn."""

    def parse(self, line: bytes, at: int | None) -> list[Step]:
        """One line."""
        if line.lstrip().startswith(b"{"):
            kind = _event_type(line)
            if kind is not None:
                return [self._unknown(line, at, kind)]
        text = line.decode("utf-8", "replace").rstrip("\r")
        self.facts.last_message = text
        return [self._new(StepKind.MESSAGE, text, at=at)]


def _event_type(line: bytes) -> str | None:
    """The ``type`` of a JSON object, ``json`` where it has none; None for anything else."""
    try:
        event = parsed(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(event, dict):
        return None
    kind = event.get("type")
    return kind[:KIND_LENGTH] if isinstance(kind, str) else "json"


class Command(Agent):
    """Not an agent at all, but supervised like one."""

    name = "command"
    title = "Any command"
    prompted = False
    resumable = False

    def launch(self, request: LaunchRequest) -> Launch:
        """The argv as it was given; standard input is empty."""
        if not request.argv:
            raise UsageError("There is nothing to run. Put the command behind `--`: agentdash run -- make test")
        return Launch(argv=request.argv)

    def parser(self, turn: int = 1) -> TurnParser:
        """A fresh parser for one turn."""
        return CommandParser(turn)

    def succeeded(self, facts: Facts, exit_code: int | None) -> bool:  # noqa: ARG002 - only the exit code speaks
        """Exit code 0; where nobody could wait for it, nothing proves a good end."""
        return exit_code == 0
