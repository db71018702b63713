"""A demo agent's process: it reads the prompts of one conversation, and plays a script for each."""

import json
import os
import select
import signal
import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

from agentdash.tui.demo.command import Command
from agentdash.tui.demo.files import PROJECTS, Conversation, is_inside
from agentdash.tui.demo.script import Beat, script_of
from agentdash.tui.demo.turn import Answer, Failed, Steps, Stopped, Turn

CONTEXT = 11_000
"""Tokens of the first request of a conversation."""


class Program(ABC):
    """Plays scripts; a subclass prints them in the protocol of one agent CLI, and reads its requests.

    Args:
        demo: the folder of the demo.
        live: requests are read from standard input until its end; otherwise it has one prompt.
    """

    def __init__(self, demo: Path, conversation: Conversation, *, live: bool, speed: float) -> None:
        self.demo = demo
        self.conversation = conversation
        self.speed = speed
        self.live = live
        self.asks = False
        """The user can be asked."""
        self.trusted = False
        """No command needs a permission."""
        self.always: set[str | None] = set()
        """Allowed by the user for the rest of the process."""
        self.pending: dict[str, str] = {}
        """The prompts that were not read, by their keys."""
        self.texts: dict[str, Callable[[Any], None]] = {
            "reasoning": self.thought, "message": self.said, "plan": self.planned, "tool": self.called,
            "search": self.searched, "retry": self.retried,
        }  # fmt: skip
        """Print the parts of a beat that need nothing else."""
        self.context = CONTEXT
        self.calls = 0
        """Model calls of the process."""
        self._steps: Steps | None = None
        self._due: float | None = None
        self._command: Command | None = None
        self._asked: str | None = None
        self._unread = b""
        self._closed = False
        self._exit_code = 0

    @property
    def running(self) -> bool:
        """True if a turn runs."""
        return self._steps is not None

    def serve(self) -> int:
        """Play until the end; return the exit code."""
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._end)
        while not self._closed:
            if self._steps is None and self.pending:
                self._begin(next(iter(self.pending)))
            elif self._steps is None and not self.live:
                break
            self._wait()
        return self._exit_code

    def close(self) -> None:
        """End the process as soon as the present line is read."""
        self._closed = True

    def answer(self, key: str, answer: Answer) -> bool:
        """Take the answer to the open ask; return False if it is not open."""
        if key != self._asked:
            return False
        self._asked = None
        self._go_on(answer)
        return True

    def interrupt(self) -> None:
        """End the running turn with its command and its ask."""
        if self._steps is None:
            return
        if self._command is not None:
            self._command.kill()
        if self._asked is not None:
            self.ask_cancelled(self._asked)
        self._steps.close()
        self._over("interrupted", "")

    def take_steered(self) -> list[str]:
        """Make the prompts that came during the turn part of the conversation, and return them."""
        texts = list(self.pending.values())
        for key in list(self.pending):
            self.prompt_seen(key, self._read(key))
        return texts

    def called_model(self, characters: int) -> None:
        """Count the tokens of one call of the model, whose context grows with each."""
        self.calls += 1
        cached, self.context = (0 if self.calls == 1 else self.context), self.context + 90 + characters // 4
        call = [self.context, cached, 24 + characters // 4]
        self.conversation.used = [one + more for one, more in zip(self.conversation.used, call, strict=True)]
        self.used(call)

    def _read(self, key: str) -> str:
        text = self.pending.pop(key)
        self.conversation.prompts.append((key, text))
        self.conversation.save()
        return text

    def _begin(self, key: str) -> None:
        earlier = [text for _, text in self.conversation.prompts]
        text = self._read(key)
        words = {"prompt": text, "earlier": earlier[-1] if earlier else "nothing", "count": str(len(earlier) + 1)}
        self.turn_began(key, text)
        self._steps = Turn(self, words).play(script_of(text, len(earlier)))
        self._go_on()

    def _go_on(self, answer: Answer | None = None) -> None:
        """Let the turn go on until it waits again."""
        if self._steps is None:
            return
        self._due = self._command = None
        try:
            wait = next(self._steps) if answer is None else self._steps.send(answer)
        except StopIteration:
            self._over("completed", "")
        except Stopped:
            self._over("interrupted", "")
        except Failed as failed:
            self._over("failed", str(failed))
        else:
            self._due = time.monotonic() + wait if isinstance(wait, float) else None
            self._command = wait if isinstance(wait, Command) else None
            self._asked = wait if isinstance(wait, str) else None

    def _over(self, status: str, error: str) -> None:
        self._steps = self._due = self._command = self._asked = None
        self._exit_code = 0 if status == "completed" or self.live else 1
        self.conversation.save()
        self.turn_ended(status, error)

    def _wait(self) -> None:
        """Wait for a line, for the running command or for the end of a pause."""
        inputs = [*([0] if self.live else []), *(self._command.open if self._command else ())]
        timeout = None if self._due is None else max(0.0, self._due - time.monotonic())
        if self._steps is None and self.pending:
            return
        ready, _, _ = select.select(inputs, [], [], timeout)
        for descriptor in ready:
            if descriptor == 0:
                self._lines(os.read(0, 1 << 16))
            elif self._command is not None and descriptor in self._command.open:
                self._command.read(descriptor)
        if (self._command and not self._command.open) or (self._due and time.monotonic() >= self._due):
            self._go_on()

    def _lines(self, data: bytes) -> None:
        if not data:
            self.close()
        *lines, self._unread = (self._unread + data).split(b"\n")
        for line in lines:
            if line.strip():
                self.request(json.loads(line))

    def _end(self, number: int, _: object) -> NoReturn:
        if self._command is not None:
            self._command.signal(signal.SIGTERM)
        os._exit(128 + number)

    @abstractmethod
    def request(self, line: dict[str, Any]) -> None:
        """Read one line of standard input."""

    @abstractmethod
    def turn_began(self, key: str, text: str) -> None:
        """Print that a prompt began a turn."""

    @abstractmethod
    def prompt_seen(self, key: str, text: str) -> None:
        """Print that the running turn got a prompt."""

    @abstractmethod
    def turn_ended(self, status: str, error: str) -> None:
        """Print the end of the turn: ``completed``, ``interrupted`` or ``failed``."""

    @abstractmethod
    def used(self, call: list[int]) -> None:
        """Print or keep the tokens of a call: input, cached input and output."""

    @abstractmethod
    def thought(self, text: str) -> None:
        """Print a thought."""

    @abstractmethod
    def said(self, text: str) -> None:
        """Print a message."""

    @abstractmethod
    def planned(self, items: list[tuple[str, str]]) -> None:
        """Print the todo list: texts and states."""

    @abstractmethod
    def called(self, call: dict[str, Any]) -> None:
        """Print the call of an MCP tool: ``server``, ``tool``, ``arguments`` and ``result``."""

    @abstractmethod
    def searched(self, search: dict[str, str]) -> None:
        """Print a web search: ``query`` and ``result``."""

    @abstractmethod
    def retried(self, retry: list[Any]) -> None:
        """Print that the model is called again: the attempt, the most attempts and why."""

    @abstractmethod
    def command_began(self, line: str) -> str:
        """Print the beginning of a command, and return the id of its call."""

    @abstractmethod
    def command_printed(self, call: str, text: str) -> None:
        """Print more output of a command."""

    @abstractmethod
    def command_ended(self, call: str, line: str, command: Command) -> None:
        """Print the end of a command."""

    @abstractmethod
    def command_declined(self, call: str, line: str, answer: Answer) -> None:
        """Print that a command was not permitted."""

    @abstractmethod
    def wrote(self, path: Path, before: str, after: str, error: str) -> None:
        """Print the change of a file, or why it was not written."""

    @abstractmethod
    def ask_command(self, call: str, line: str, beat: Beat) -> str:
        """Ask for permission to run a command; return the key of the ask."""

    @abstractmethod
    def ask_plan(self, plan: str) -> str:
        """Ask for approval of a plan; return the key of the ask."""

    @abstractmethod
    def ask_questions(self, questions: list[dict[str, Any]]) -> str:
        """Ask questions; return the key of the ask."""

    @abstractmethod
    def ask_cancelled(self, key: str) -> None:
        """Print that an answer is no longer waited for."""


def emit(line: dict[str, Any]) -> None:
    """Print one line."""
    sys.stdout.write(json.dumps(line, separators=(",", ":")) + "\n")
    sys.stdout.flush()


def option(words: list[str], *names: str) -> str | None:
    """Return the value of the first of some options among the words of a start; None if there is none."""
    return next((value for name, value in zip(words, words[1:], strict=False) if name in names), None)


def refuse(message: str) -> NoReturn:
    """End the process with a message."""
    sys.stderr.write(f"Error: {message}\n")
    sys.exit(1)


def check_place(demo: Path) -> None:
    """End the process outside the projects of its demo."""
    if not is_inside(demo, Path.cwd()):
        refuse(f"the demo's agents work only below {demo / PROJECTS}, not in {Path.cwd()}.")


def show_interface(name: str) -> int:
    """Take the place of the agent's own interface."""
    sys.stdout.write(f"Here the real {name} would show its own interface with this conversation. Enter goes back. ")
    sys.stdout.flush()
    sys.stdin.readline()
    return 0
