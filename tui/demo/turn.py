"""One turn of a demo agent: a script as a generator that yields what it waits for, whichever agent plays it."""

import subprocess
import sys
from collections.abc import Callable, Generator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from agentdash.tui.demo.command import Command
from agentdash.tui.demo.files import write_own
from agentdash.tui.demo.script import Beat, filled

if TYPE_CHECKING:
    from agentdash.tui.demo.program import Program


class Answer(NamedTuple):
    """The user's answer to an ask."""

    allowed: bool
    stops: bool = False
    always: bool = False
    message: str = ""
    values: dict[str, str] = {}  # noqa: RUF012 - never changed
    """Answers by the key or the text of the question."""


class Stopped(Exception):
    """The turn was interrupted."""


class Failed(Exception):
    """The turn failed, for the reason in the message."""


Wait = float | Command | str
"""A turn waits for seconds to pass, for a running command, or for the answer to an ask with this key."""

Steps = Generator[Wait, Answer | None, None]
"""Its caller sends the answer to an ask, else None."""


class Turn:
    """Plays one script with an agent.

    Args:
        words: replace their names in the texts of the script.
    """

    def __init__(self, agent: "Program", words: dict[str, str]) -> None:
        self._agent = agent
        self._words = dict(words)

    def play(self, beats: list[Beat]) -> Steps:
        """Play the moments.

        Raises:
            Stopped, Failed: an answer or the script ends the turn.
        """
        for beat in beats:
            for number in range(1, beat.get("repeat", 1) + 1):
                self._words["n"] = str(number)
                yield beat.get("pause", 0.4) / self._agent.speed
                for text in self._agent.take_steered():
                    self._agent.said(f"You add: {text.strip()}. I keep that in mind.")
                yield from self._one(filled(beat, self._words))

    def _one(self, beat: Beat) -> Steps:
        agent = self._agent
        agent.called_model(sum(len(value) for value in beat.values() if isinstance(value, str)))
        for name, show in agent.texts.items():
            if name in beat:
                show(beat[name])
        if "error" in beat:
            raise Failed(beat["error"])
        if "run" in beat:
            yield from self._run(beat)
        if "write" in beat:
            self._write(Path(beat["write"]["path"]).absolute(), beat["write"]["content"])
        if "leave" in beat:
            _leave(beat["leave"]["argv"], detached=beat["leave"].get("detached", False))
        if "approve" in beat:
            yield from self._follow(beat, (yield from self._ask(lambda: agent.ask_plan(beat["approve"]))))
        if "questions" in beat:
            yield from self._question(beat)

    def _run(self, beat: Beat) -> Steps:
        """Run a command, after the user's permission if the beat says why it needs one."""
        agent, line = self._agent, beat["run"]
        call = agent.command_began(line)
        answer = Answer(True)
        if "why" in beat and beat.get("always") not in agent.always:
            answer = yield from self._ask(lambda: agent.ask_command(call, line, beat), trusted=agent.trusted)
        if not answer.allowed:
            agent.command_declined(call, line, answer)
        elif answer.always:
            agent.always.add(beat.get("always"))
        if answer.allowed:
            running = Command(line, lambda text: agent.command_printed(call, text))
            yield running
            agent.command_ended(call, line, running)
        yield from self._follow(beat, answer)

    def _write(self, path: Path, content: str) -> None:
        try:
            self._agent.wrote(path, write_own(self._agent.demo, path, content), content, "")
        except OSError as error:
            self._agent.wrote(path, "", content, str(error))

    def _question(self, beat: Beat) -> Steps:
        questions = beat["questions"]
        answer = yield from self._ask(lambda: self._agent.ask_questions(questions))
        for one in questions:
            given = answer.values.get(one["key"]) or answer.values.get(one["text"]) or "nothing"
            self._words[f"answer.{one['key']}"] = given
        yield from self._follow(beat, answer)

    def _ask(self, ask: Callable[[], str], *, trusted: bool = False) -> Generator[Wait, Answer | None, Answer]:
        """Ask the user, unless the agent is trusted or has no way to ask."""
        if trusted or not self._agent.asks:
            return Answer(trusted, message="I may not ask you")
        return (yield ask()) or Answer(False)

    def _follow(self, beat: Beat, answer: Answer) -> Steps:
        """Play what follows the user's answer."""
        if answer.stops:
            raise Stopped
        self._words["reason"] = answer.message or "you denied it"
        yield from self.play(beat.get("allowed" if answer.allowed else "denied", []))


def _leave(argv: list[str], *, detached: bool) -> None:
    """Start a process without waiting for it: in the agent's group, or in a process session of its own."""
    quiet = subprocess.DEVNULL
    words = [sys.executable if word == "PYTHON" else word for word in argv]
    subprocess.Popen(words, stdin=quiet, stdout=quiet, stderr=quiet, start_new_session=detached)
