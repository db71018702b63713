"""Any command as a session: ``agentdash run -- ARGV``.

The lines may be anything.  Text is a message; a JSON object is an event of an unknown protocol, so it is kept raw.
The only proper end is exit code 0.
"""

from typing import ClassVar

from agentdash.sessions.agents.base import Agent, LaunchRequest
from agentdash.sessions.agents.parsing.json_lines import KIND_LENGTH
from agentdash.sessions.agents.parsing.json_repair import parsed_object
from agentdash.sessions.agents.parsing.parser import TurnParser
from agentdash.sessions.model.errors import UsageError
from agentdash.sessions.model.session import Step, StepKind
from agentdash.sessions.rules.launch import Command
from agentdash.sessions.rules.turn_facts import Facts


class CommandParser(TurnParser):
    """Parses the output of one turn."""

    def parse(self, line: bytes, at: int | None) -> list[Step]:
        """Return a message, or an unknown event if the line is a JSON object."""
        event = parsed_object(line) if line.lstrip().startswith(b"{") else None
        if event is not None:
            kind = event.get("type")
            return [self._unknown(line, at, kind[:KIND_LENGTH] if isinstance(kind, str) else "json")]
        text = line.decode("utf-8", "replace").rstrip("\r")
        self.facts.last_message = text
        return [self._new(StepKind.MESSAGE, text, at=at)]


class PlainCommand(Agent):
    """A plain command: not an agent, but supervised like one."""

    name = "command"
    title = "Any command"
    prompted = False
    conversations = None
    parsers: ClassVar = {"": CommandParser}

    def command(self, request: LaunchRequest) -> Command:
        """Return the argv as it was given, with an empty standard input."""
        if not request.argv:
            raise UsageError("No command. Put it after `--`: agentdash run -- make test")
        return Command(argv=request.argv)

    def succeeded(self, facts: Facts, exit_code: int | None) -> bool:  # noqa: ARG002 - only the exit code speaks
        """Return whether the exit code is 0; if no process waited for it, a good end is not proven."""
        return exit_code == 0
