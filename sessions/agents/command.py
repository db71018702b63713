"""Any command as a session."""

from ..errors import UsageError
from ..model import Step, StepKind
from .base import Agent, Facts, Launch, LaunchRequest, TurnParser


class CommandParser(TurnParser):
    def parse(self, line: bytes, at: int | None) -> list[Step]:
        self.facts.last_message = line.decode("utf-8", "replace")
        return [self._new(StepKind.MESSAGE, self.facts.last_message, at=at)]


class Command(Agent):
    name = "command"
    title = "Command"
    resumable = False

    def launch(self, request: LaunchRequest) -> Launch:
        if not request.argv:
            raise UsageError("nothing to run")
        return Launch(argv=request.argv)

    def parser(self, turn: int = 1) -> TurnParser:
        return CommandParser(turn)

    def succeeded(self, facts: Facts, exit_code: int | None) -> bool:
        return exit_code == 0
