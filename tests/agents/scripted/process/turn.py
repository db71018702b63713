"""One turn of the scripted agent: a script as a generator that yields what it waits for, whichever player drives it."""

import os
from collections.abc import Callable, Generator, Sequence
from pathlib import Path
from typing import Any

import msgspec
from msgspec import field, structs

from agentdash.sessions.rules.asks.model import Answer, AskKind, Verdict
from scripted import events, live_events
from scripted.process.actions import emit, filled, leave, written
from scripted.process.command import Command
from scripted.script import AskFor, Beat, Wake

_PERMISSION = (Verdict.ALLOW, Verdict.DENY, Verdict.STOP)
_ANSWERS = (Verdict.ANSWER, Verdict.DENY, Verdict.STOP)
_NOT_SHOWN = "(not shown)"

Wait = float | Command | live_events.Asked
"""A turn waits for seconds to pass, for a running command, or for an answer."""

Steps = Generator[Wait, Answer | None, live_events.TurnEnded | None]
"""Its caller sends the answer to an ask, else None; its value is the end, None if the script goes on."""


class Stage(msgspec.Struct, kw_only=True):
    """The state that all turns of one process share."""

    speed: float = 1.0
    asks: bool = False
    """The user can be asked; otherwise every ask is declined."""
    is_live: bool = False
    steered: Callable[[], Sequence[str]] = tuple
    """Makes the prompts that have arrived part of the conversation, and returns them."""
    wakes: list[Wake] = field(default_factory=list)
    """Turns that follow by themselves."""
    always: set[str] = field(default_factory=set)
    """Allowed by the user for the rest of the session, by :attr:`AskFor.always`."""
    commands: int = 0
    asked: int = 0


class Turn:
    """Plays one script.

    Args:
        stage: shared with the other turns of the process.
        words: replace their names in the texts of the script.
    """

    def __init__(self, stage: Stage, words: dict[str, str]) -> None:
        self._stage = stage
        self._words = dict(words)
        self._steered: list[str] = []
        self._allowed_by: str | None = None

    def play(self, beats: list[Beat]) -> Steps:
        """Play the moments; the generator's value is None if none of them ends the turn."""
        for beat in beats:
            if beat.unless is not None and beat.unless in os.environ:
                continue
            for number in range(1, beat.repeat + 1):
                self._words["n"] = str(number)
                yield beat.pause / self._stage.speed
                if beat.end is not None:
                    return _end(beat.end)
                self._steered += self._stage.steered()
                ended = yield from self._one(beat)
                if ended is not None:
                    return ended
        return None

    def _one(self, beat: Beat) -> Steps:
        if beat.say_steered is not None and self._steered:
            self._words["steered"] = "; ".join(self._steered)
            self._steered.clear()
            emit(events.Message(text=self._filled(beat.say_steered)))
        for event in beat.events():
            whole = msgspec.convert(self._filled(msgspec.to_builtins(event)), events.AnyEvent)
            emit(self._with_ask(whole) if isinstance(whole, events.ToolCall) else whole)
        if beat.run is not None:
            yield from self._run(self._filled(beat.run))
        if beat.write is not None:
            content = self._filled(beat.write.content)
            emit(self._with_ask(written(Path(beat.write.path), content)))
        if beat.leave is not None:
            leave(beat.leave.argv, detached=beat.leave.detached)
        if beat.wake is not None:
            self._stage.wakes.append(beat.wake)
        return (yield from self._ask(beat.ask)) if beat.ask is not None else None

    def _run(self, command: str) -> Steps:
        self._stage.commands += 1
        number = f"command_{self._stage.commands}"
        emit(self._with_ask(events.CommandStarted(id=number, command=command)))

        def printed(text: str) -> None:
            emit(live_events.CommandOutput(id=number, text=text))

        running = Command(command, printed if self._stage.is_live else None)
        yield running
        emit(events.CommandEnded(id=number, exit_code=running.exit_code, output=running.output))
        return None

    def _ask(self, wanted: AskFor) -> Steps:
        if not self._stage.asks:
            title, body = self._filled(wanted.title), self._filled(wanted.body)
            emit(live_events.Declined(kind=wanted.kind, tool=wanted.tool, title=title, body=body))
            self._words["reason"] = "I may not ask you"
            return (yield from self.play(wanted.denied))
        if wanted.always in self._stage.always:
            return (yield from self.play(wanted.allowed))
        asked = self._asked(wanted)
        emit(asked)
        answer = (yield asked) or Answer(verdict=Verdict.DENY)
        secret = {question.key for question in asked.questions if question.secret}
        values = {key: [_NOT_SHOWN] if key in secret else [*given] for key, given in answer.values.items()}
        emit(live_events.Answered(key=asked.key, verdict=answer.verdict, message=answer.message, values=values))
        self._words |= {f"answer.{question.key}": "nothing" for question in asked.questions}
        self._words |= {f"answer.{key}": ", ".join(given) for key, given in values.items()}
        self._words["reason"] = answer.message or "you denied it"
        if answer.verdict is Verdict.STOP:
            return live_events.TurnEnded(status="interrupted")
        if answer.verdict is Verdict.DENY:
            return (yield from self.play(wanted.denied))
        if answer.verdict is Verdict.ALWAYS and wanted.always:
            self._stage.always.add(wanted.always)
        self._allowed_by = asked.key
        ended = yield from self.play(wanted.allowed)
        self._allowed_by = None
        return ended

    def _asked(self, wanted: AskFor) -> live_events.Asked:
        self._stage.asked += 1
        verdicts: tuple[Verdict, ...] = _ANSWERS if wanted.kind in (AskKind.QUESTION, AskKind.FORM) else _PERMISSION
        if wanted.always:
            verdicts = (Verdict.ALLOW, Verdict.ALWAYS, *verdicts[1:])
        return live_events.Asked(
            key=f"ask_{self._stage.asked}",
            kind=wanted.kind,
            tool=wanted.tool,
            title=self._filled(wanted.title),
            body=self._filled(wanted.body),
            cwd=str(Path.cwd()),
            paths=tuple(str(Path(path).absolute()) for path in wanted.paths),
            why=self._filled(wanted.why),
            verdicts=verdicts,
            always=wanted.always,
            questions=wanted.questions,
        )

    def _with_ask(self, event: Any) -> Any:
        """Return the event with the ask that allowed it, if this is the first since the answer."""
        key, self._allowed_by = self._allowed_by, None
        return structs.replace(event, ask=key) if key else event

    def _filled(self, value: Any) -> Any:
        return filled(value, self._words)


def _end(ended: events.Ended) -> live_events.TurnEnded:
    """Return the end of a live turn that says the same as a script."""
    fields = {name: getattr(ended, name) for name in ended.__struct_fields__ if name != "ok"}
    return live_events.TurnEnded(status="completed" if ended.ok else "failed", **fields)
