"""The live scripted agent's process: it serves prompts and answers from standard input until it is closed.

It works with a FIFO that it has opened itself for reading and writing, whose end never comes.  It is one thread that
waits in one poll, and it does nothing while nothing happens.  Its conversation has a prompt before it says so, so that
a prompt with a key that it has is not served twice, even by a later process.
"""

import math
import os
import select
import signal
import sys
import time

import msgspec

from agentdash.sessions.rules.asks.model import Answer
from agentdash.sessions.storage.paths import default_home
from scripted import live_events
from scripted.conversation import Conversation
from scripted.live_requests import (
    AnswerAsk,
    AnyRequest,
    Close,
    Interrupt,
    Prompt,
    Set,
    Withdraw,
    read_request,
)
from scripted.process.actions import MODEL, emit
from scripted.process.command import Command
from scripted.process.player import arguments, words_of
from scripted.process.turn import Stage, Steps, Turn
from scripted.script import SCRIPTS, Beat, load_script, named_script, unknown_script

STDIN = 0
LINE_CAP = 16 << 20
"""Bytes of a line without an end; a longer one counts as broken."""

_READ_BYTES = 1 << 16


class LivePlayer:
    """Serves one conversation.

    Args:
        stage: shared by all turns.
        conversation: has the prompts of earlier processes.
        name: the name of the conversation.
        script: the script of the first prompt, unless it names one.
    """

    def __init__(self, stage: Stage, conversation: Conversation, name: str, script: str) -> None:
        self._stage = stage
        self._conversation = conversation
        self._name = name
        self._script = script
        self._model = MODEL
        self._pending: dict[str, str] = {}
        self._steps: Steps | None = None
        self._due: float | None = None
        self._command: Command | None = None
        self._asked: live_events.Asked | None = None
        self._wakes: list[tuple[float, list[Beat]]] = []
        self._poll = select.poll()
        self._rest = b""
        self._exit_code: int | None = None
        stage.steered = self._steered

    def serve(self) -> int:
        """Serve until the end of the input, a broken line or a request to close; return the exit code."""
        self._poll.register(STDIN, select.POLLIN)
        emit(live_events.Ready(conversation=self._name, model=self._model))
        while self._exit_code is None:
            self._begin()
            for descriptor, _ in self._poll.poll(self._timeout()):
                if descriptor == STDIN:
                    self._read()
                elif self._command is not None and descriptor in self._command.open:
                    self._follow(self._command, descriptor)
            if self._due is not None and self._due <= time.monotonic():
                self._due = None
                self._go_on()
        self._interrupt()
        return self._exit_code

    def end_command(self) -> None:
        """End the running command; safe in a signal handler."""
        if self._command is not None:
            self._command.signal(signal.SIGKILL)

    def _timeout(self) -> int | None:
        """Return the milliseconds until time alone has an effect; None if it has none."""
        due = self._due if self._steps is not None else min((at for at, _ in self._wakes), default=None)
        return None if due is None else max(0, math.ceil((due - time.monotonic()) * 1000))

    def _read(self) -> None:
        data = os.read(STDIN, _READ_BYTES)
        *lines, self._rest = (self._rest + data).split(b"\n")
        try:
            for line in lines:
                request = read_request(line) if line.strip() else None
                if request is not None and self._exit_code is None:
                    self._serve(request)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            self._exit_code = 1
        if len(self._rest) > LINE_CAP:
            self._exit_code = 1
        if not data and self._exit_code is None:
            self._exit_code = 0

    def _serve(self, request: AnyRequest) -> None:
        match request:
            case Prompt():
                self._take(request)
            case AnswerAsk():
                if self._asked is not None and self._asked.key == request.key:
                    self._asked = None
                    self._go_on(Answer(verdict=request.verdict, message=request.message, values=request.values))
            case Interrupt():
                self._interrupt()
            case Withdraw():
                if self._pending.pop(request.key, None) is not None:
                    emit(live_events.PromptState(key=request.key, state="withdrawn"))
            case Set() if request.what in ("model", "mode"):
                self._model = request.value if request.what == "model" else self._model
                emit(live_events.Changed(what=request.what, value=request.value))
            case Close():
                self._exit_code = 0

    def _take(self, prompt: Prompt) -> None:
        named = named_script(prompt.text)
        if self._conversation.has(prompt.key):
            emit(live_events.PromptState(key=prompt.key, state="seen", again=True))
        elif prompt.key in self._pending:
            emit(live_events.PromptState(key=prompt.key, state="accepted", again=True))
        elif named is not None and named not in SCRIPTS:
            emit(live_events.PromptState(key=prompt.key, state="refused", reason=unknown_script(named)))
        else:
            self._pending[prompt.key] = prompt.text
            emit(live_events.PromptState(key=prompt.key, state="accepted"))

    def _begin(self) -> None:
        """Begin the next turn if none runs: that of the oldest prompt, else one that is due by itself."""
        if self._steps is not None:
            return
        if self._pending:
            key, text = next(iter(self._pending.items()))
            earlier = self._conversation.prompts
            script = named_script(text) or ("followup" if earlier else self._script)
            self._conversation.add(text, key)
            self._start(key, Turn(self._stage, words_of(text.strip(), earlier)).play(load_script(script)))
        elif due := next((wake for wake in self._wakes if wake[0] <= time.monotonic()), None):
            self._wakes.remove(due)
            earlier = self._conversation.prompts
            self._start(None, Turn(self._stage, words_of("", earlier)).play(due[1]))

    def _start(self, key: str | None, steps: Steps) -> None:
        emit(live_events.TurnBegan(key=key, conversation=self._name, model=self._model))
        if key is not None:
            emit(live_events.PromptState(key=key, state="seen", text=self._pending.pop(key)))
        self._steps = steps
        self._go_on()

    def _steered(self) -> list[str]:
        """Make the prompts that arrived during the turn part of the conversation."""
        texts = []
        for key, text in self._pending.items():
            self._conversation.add(text, key)
            emit(live_events.PromptState(key=key, state="seen", text=text))
            texts.append(text.strip())
        self._pending.clear()
        return texts

    def _go_on(self, answer: Answer | None = None) -> None:
        """Let the turn go on until it waits again."""
        if self._steps is None:
            return
        try:
            wait = next(self._steps) if answer is None else self._steps.send(answer)
        except StopIteration as stop:
            self._ended(stop.value or live_events.TurnEnded(status="completed"))
            return
        if isinstance(wait, Command):
            self._command = wait
            for descriptor in wait.open:
                self._poll.register(descriptor, select.POLLIN)
        elif isinstance(wait, live_events.Asked):
            self._asked = wait
        else:
            self._due = time.monotonic() + wait

    def _follow(self, command: Command, descriptor: int) -> None:
        command.read(descriptor)
        if descriptor not in command.open:
            self._poll.unregister(descriptor)
        if not command.open:
            self._command = None
            self._go_on()

    def _interrupt(self) -> None:
        """End the running turn with its command, and take back its question."""
        if self._steps is None:
            return
        if self._command is not None:
            for descriptor in self._command.open:
                self._poll.unregister(descriptor)
            self._command.kill()
            self._command = None
        if self._asked is not None:
            emit(live_events.AskCancelled(key=self._asked.key))
            self._asked = None
        self._steps.close()
        self._due = None
        self._ended(live_events.TurnEnded(status="interrupted"))

    def _ended(self, end: live_events.TurnEnded) -> None:
        self._steps = None
        emit(end)
        for wake in self._stage.wakes:
            self._wakes.append((time.monotonic() + wake.after / self._stage.speed, wake.beat))
        self._stage.wakes.clear()


def main() -> int:
    """Serve one conversation."""
    options = arguments("live_player")
    options.add_argument("--approvals", choices=("ask", "deny"), default="ask")
    given, _ = options.parse_known_args()
    name = given.resume or given.conversation or "scripted"
    stage = Stage(speed=given.speed, asks=given.approvals == "ask", is_live=True)
    player = LivePlayer(stage, Conversation(default_home(), name), name, given.script)

    def ended(number: int, _: object) -> None:
        player.end_command()
        os._exit(128 + number)

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, ended)
    return player.serve()


if __name__ == "__main__":
    sys.exit(main())
