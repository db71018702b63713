"""A demo agent's process: it reads the prompts of one conversation, and plays a script for each."""

import json
import os
import select
import signal
import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any, ClassVar, NoReturn

from agentdash.tui.demo.command import Command
from agentdash.tui.demo.files import PROJECTS, Conversation, is_inside
from agentdash.tui.demo.turn import Answer, EndedError, Steps, play, script_of

_CONTEXT = 4_000
"""Tokens of the first request of a process."""


class Program(ABC):
    """Plays scripts; a subclass prints them in the protocol of one agent CLI, and reads its requests.

    Args:
        demo: the folder of the demo.
        speed: 2 is twice as fast.
        live: requests are read from standard input until its end; else standard input is the only prompt.
    """

    shows: ClassVar[Mapping[str, Callable[..., Any]]]
    """The methods that print, by the parts of a beat (:mod:`.turn`) and these of a process:

    ``began``, ``steered`` (a prompt's key and text), ``over`` (``completed``, ``compacted``, ``interrupted`` or
    ``failed``, and the error), ``used`` (input, cached input and output tokens of a call), ``printed`` (a command and
    more of its output), ``cancelled`` (the key of an ask).  Those that ask return the key of the ask, and ``run`` the
    id of the call.
    """

    def __init__(self, demo: Path, speed: float, conversation: Conversation, *, live: bool) -> None:
        self.demo, self.speed, self.live = demo, speed, live
        self.conversation = conversation
        self.asks = False
        """The user can be asked."""
        self.trusted = False
        """No command needs a permission."""
        self.always: set[str] = set()
        """Allowed by the user for the rest of the process."""
        self.pending: dict[str, str] = {}
        """The prompts that were not read, by their keys."""
        self.closed = False
        self._steps: Steps | None = None
        self._wait: float | Command | str | None = None
        """A time, the running command or the key of the open ask."""
        self.context = 0
        """Tokens of the last request of the process."""
        self._unread = b""
        self._exit_code = 0

    @property
    def running(self) -> bool:
        """True if a turn runs."""
        return self._steps is not None

    def show(self, name: str, *values: Any) -> Any:
        """Print something by one of :attr:`shows`."""
        return self.shows[name](self, *values)

    @abstractmethod
    def request(self, line: dict[str, Any]) -> None:
        """Read one line of standard input."""

    def serve(self) -> int:
        """Play until the end; return the exit code."""
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._killed)
        if not self.live:
            self.pending["prompt"] = sys.stdin.read()
        while not self.closed and (self.live or self.running or self.pending):
            if self._steps is None and self.pending:
                self.begin(next(iter(self.pending)))
            else:
                self._follow()
        return self._exit_code

    def answer(self, key: str, answer: Answer) -> None:
        """Take the answer to the open ask; another is ignored."""
        if key == self._wait:
            self._go_on(answer)

    def interrupt(self) -> None:
        """End the running turn with its command and its ask."""
        if self._steps is None:
            return
        if isinstance(self._wait, Command):
            self._wait.kill()
        elif isinstance(self._wait, str):
            self.show("cancelled", self._wait)
        self._steps.close()
        self.over("interrupted")

    def take_steered(self) -> list[str]:
        """Make the prompts that came during the turn part of the conversation, and return them."""
        texts = list(self.pending.values())
        for key in list(self.pending):
            self.show("steered", key, self.read(key))
        return texts

    def call_model(self, characters: int) -> None:
        """Count the tokens of one call of the model, whose context grows with each."""
        cached, self.context = self.context, (self.context or _CONTEXT) + 90 + characters // 4
        call = [self.context, cached, 24 + characters // 4]
        self.conversation.used = [one + more for one, more in zip(self.conversation.used, call, strict=True)]
        self.show("used", call)

    def read(self, key: str) -> str:
        """Make a prompt part of the conversation, and return it."""
        text = self.pending.pop(key)
        self.conversation.prompts.append((key, text))
        self.conversation.save()
        return text

    def begin(self, key: str) -> None:
        """Begin the turn of a prompt."""
        earlier = [text for _, text in self.conversation.prompts]
        text = self.read(key).strip()
        words = {"prompt": text, "earlier": earlier[-1] if earlier else "nothing", "count": str(len(earlier) + 1)}
        self.show("began", key, text)
        self._steps = play(self, script_of(text, len(earlier)), words)
        self._go_on()

    def _go_on(self, answer: Answer | None = None) -> None:
        """Let the turn go on until it waits again."""
        if self._steps is None:
            return
        try:
            wait = next(self._steps) if answer is None else self._steps.send(answer)
            self._wait = time.monotonic() + wait if isinstance(wait, float) else wait
        except StopIteration:
            self.over("completed")
        except EndedError as ended:
            self.over(ended.status, str(ended))

    def over(self, status: str, error: str = "") -> None:
        """End the turn."""
        self._steps = self._wait = None
        self._exit_code = int(status in ("failed", "interrupted") and not self.live)
        self.conversation.save()
        self.show("over", status, error)

    def _follow(self) -> None:
        """Wait for a line, for output of the running command or for the end of a pause."""
        wait = self._wait
        inputs = [*([0] if self.live else []), *([wait.descriptor] if isinstance(wait, Command) else [])]
        timeout = max(0.0, wait - time.monotonic()) if isinstance(wait, float) else None
        ready, _, _ = select.select(inputs, [], [], timeout)
        if 0 in ready:
            self._lines(os.read(0, 1 << 16))
        if wait is not self._wait:
            return  # a line has ended the turn
        if isinstance(wait, Command) and wait.descriptor in ready:
            text = wait.read()
            if text:
                self.show("printed", wait, text)
            else:
                self._go_on()
        elif isinstance(wait, float) and time.monotonic() >= wait:
            self._go_on()

    def _lines(self, data: bytes) -> None:
        self.closed = not data
        *lines, self._unread = (self._unread + data).split(b"\n")
        for line in lines:
            self.request(json.loads(line))

    def _killed(self, number: int, _: object) -> NoReturn:
        if isinstance(self._wait, Command):
            self._wait.signal(signal.SIGTERM)
        os._exit(128 + number)


def emit(line: dict[str, Any]) -> None:
    """Print one line."""
    sys.stdout.write(json.dumps(line, separators=(",", ":")) + "\n")
    sys.stdout.flush()


def option(words: list[str], *names: str) -> str | None:
    """Return the value of the first of some options among the words of a start; None if there is none."""
    return next((value for name, value in pairwise(words) if name in names), None)


def refuse(message: str) -> NoReturn:
    """End the process with a message."""
    sys.stderr.write(f"Error: {message}\n")
    sys.exit(1)


def main(name: str, version: str, start: Callable[[Path, float, list[str]], Program | None]) -> int:
    """Act as the agent ``name``: the arguments are the demo's folder, the speed, and those of the agent.

    ``start`` returns None if the agent would show its own interface.
    """
    demo, speed, *words = sys.argv[1:]
    if "--version" in words:
        sys.stdout.write(f"{version}\n")
        return 0
    if not is_inside(Path(demo), Path.cwd()):
        refuse(f"the demo's {name} works only below {demo}/{PROJECTS}, not in {Path.cwd()}.")
    program = start(Path(demo), float(speed), words)
    if program is not None:
        return program.serve()
    sys.stdout.write(f"Here {name} would show its own interface with this conversation. Enter goes back. ")
    sys.stdout.flush()
    sys.stdin.readline()
    return 0
