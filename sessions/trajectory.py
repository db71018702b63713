"""A session as steps: the turn files of all its turns, read from where the last look ended."""

import shlex
from collections.abc import Iterable, Iterator
from itertools import chain, islice

from msgspec import structs

from .agents.base import Agent
from .agents.guess import LOOKED_AT, guess_agent
from .agents.table import agent_named
from .journal import ArrivalTimes, LineReader
from .layout import SessionFolder
from .model import Prompt, Status, Step, StepKind, Turn

_STDERR_BYTES = 16_384
_STDERR_LINES = 20
"""Of stderr, where a start failed: enough to see why."""


class TurnReader:
    """One turn's steps; each :meth:`refresh` reads only what is new.

    The prompt is step 0, so that what the agent did begins with step 1.
    """

    def __init__(self, folder: SessionFolder, agent: Agent, turn: int, prompt: Prompt | None) -> None:
        self._reader = LineReader(folder.output(turn))
        self._times = ArrivalTimes(folder.times(turn))
        self._parser = agent.parser(turn)
        self._turn = turn
        self._prompt = prompt
        self._stderr = folder.errors(turn)
        self._last = 0
        self._errors = False
        self._closed = False

    def refresh(self, turn: Turn) -> Iterator[Step]:
        """New steps, and steps that replace an earlier one of the same turn and index."""
        if self._prompt is not None:
            yield Step(
                turn=self._turn, index=0, kind=StepKind.PROMPT, text=self._prompt.text, at=self._prompt.created_at
            )
            self._prompt = None
        self._times.refresh()
        for offset, line in self._reader.lines():
            yield from self._steps(line, self._times.at(offset))
        if turn.status.ended and not self._closed:
            yield from self._close(turn)

    def close(self) -> None:
        """Close the file."""
        self._reader.close()

    def _close(self, turn: Turn) -> Iterator[Step]:
        """The turn is over: an unfinished last line is all there will be, and open steps were interrupted."""
        self._closed = True
        rest = self._reader.rest()
        if rest is not None:
            yield from self._steps(rest, turn.ended_at)
        yield from map(_shifted, self._parser.close(turn.ended_at))
        self._reader.close()
        if turn.status is Status.FAILED and not self._errors and turn.reason:
            yield self._failure(turn)

    def _failure(self, turn: Turn) -> Step:
        """Why a turn failed about which its agent said nothing: the reason, the command, and the first of stderr."""
        said = [] if turn.steps else [f"$ {shlex.join(turn.argv)}", *self._first_of_stderr()]
        text = "\n".join([turn.reason or "", *said])
        return Step(turn=self._turn, index=self._last + 1, kind=StepKind.ERROR, text=text, fatal=True, at=turn.ended_at)

    def _first_of_stderr(self) -> list[str]:
        try:
            with self._stderr.open("rb") as file:
                lines = file.read(_STDERR_BYTES).decode("utf-8", "replace").split("\n")
        except OSError:
            return []
        return [line for line in lines if line.strip()][:_STDERR_LINES]

    def _steps(self, line: bytes, at: int | None) -> Iterator[Step]:
        for step in self._parser.feed(line, at):
            self._last = max(self._last, step.index + 1)
            self._errors = self._errors or (step.kind is StepKind.ERROR and bool(step.fatal))
            yield _shifted(step)


def _shifted(step: Step) -> Step:
    return structs.replace(step, index=step.index + 1)


class Trajectory:
    """All turns of one session as one sequence of steps."""

    def __init__(self, folder: SessionFolder, agent: Agent) -> None:
        self._folder = folder
        self._agent = agent
        self._turns: dict[int, TurnReader] = {}
        self._done: set[int] = set()

    def refresh(self, turns: list[Turn], prompts: list[Prompt]) -> list[Step]:
        """What is new since the last call: new steps, and replacements by turn and index."""
        first = {prompt.turn: prompt for prompt in reversed(prompts)}
        steps: list[Step] = []
        for turn in turns:
            if turn.n in self._done:
                continue
            reader = self._turns.get(turn.n)
            if reader is None:
                reader = self._turns[turn.n] = TurnReader(self._folder, self._agent, turn.n, first.get(turn.n))
            steps.extend(reader.refresh(turn))
            if turn.status.ended:
                self._done.add(turn.n)
        return steps

    def close(self) -> None:
        """Close the files."""
        for reader in self._turns.values():
            reader.close()


def merged(steps: list[Step]) -> list[Step]:
    """Each step in its latest form, in the order of turn and index."""
    latest = {(step.turn, step.index): step for step in steps}
    return [latest[key] for key in sorted(latest)]


def read_lines(lines: Iterable[bytes], agent: str | None = None) -> list[Step]:
    """The steps of any turn file, from anywhere; nobody knows when its lines arrived.

    Args:
        lines: as a binary file gives them.
        agent: who wrote it; guessed from the first lines where nobody says.

    Raises:
        UsageError: there is no such agent.
    """
    lines = iter(lines)
    head = list(islice(lines, LOOKED_AT))
    parser = agent_named(agent or guess_agent(head)).parser()
    steps = [step for line in chain(head, lines) for step in parser.feed(line.removesuffix(b"\n"))]
    return merged(steps + parser.close())
