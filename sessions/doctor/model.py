"""The doctor's findings, one for each checked thing, and the commands that it asks.

A command runs without a shell, with a time limit, and leaves no processes behind.
"""

import os
import shutil
import signal
import subprocess
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Literal

from msgspec import Struct

from agentdash.sessions.settings.config import Loaded
from agentdash.sessions.storage.paths import Layout
from agentdash.sessions.text.sanitize import one_line

State = Literal["ok", "warn", "fail"]


class Finding(Struct, frozen=True, kw_only=True):
    """The result for one checked thing."""

    name: str
    state: State
    found: str
    """The observed state, on one line; a command's output is cleaned."""
    remedy: str | None = None
    """The remedy, on one line; None if nothing needs to be done."""


class Subject(Struct, frozen=True, kw_only=True):
    """The subject of the checks: one user's agentdash on one machine."""

    layout: Layout
    config_path: Path
    env: Mapping[str, str]
    user: str
    """The user's name in logind."""
    root: Path = Path("/")
    """The root folder of the machine's own files."""
    check: Callable[[Loaded], None] = lambda _: None
    """The front end's check of the settings, beyond their own checks; raises ConfigError."""

    def text(self, path: str) -> str:
        """Return the text of a machine's file, named from its root; "" if it is missing or may not be read."""
        try:
            return (self.root / path).read_text("utf-8", "replace")
        except OSError:
            return ""


Check = Callable[[Subject], Iterable[Finding]]
"""A check of one thing.  An exception is reported as a finding of its own."""


def ok(name: str, found: str) -> Finding:
    """Build a finding that needs no action."""
    return Finding(name=name, state="ok", found=one_line(found))


def warn(name: str, found: str, remedy: str) -> Finding:
    """Build a finding about something that works, but not as well as it should."""
    return Finding(name=name, state="warn", found=one_line(found), remedy=remedy)


def fail(name: str, found: str, remedy: str) -> Finding:
    """Build a finding about something that does not work."""
    return Finding(name=name, state="fail", found=one_line(found), remedy=remedy)


SECONDS = 10.0
"""Time limit for an answer; a cold start of node takes two seconds."""


class Answer(Struct, frozen=True, kw_only=True):
    """The output of a command, and its exit code."""

    exit_code: int | None
    """Negative: ended by this signal.  None: it did not answer in time."""
    text: str = ""
    """Its stdout and its stderr."""

    @property
    def first_line(self) -> str:
        """The first non-blank line."""
        return next((line.strip() for line in self.text.splitlines() if line.strip()), "")


def find(name: str, env: Mapping[str, str]) -> str | None:
    """Return the path of a command in this environment's PATH; None if there is none."""
    return shutil.which(name, path=env.get("PATH", os.defpath))


def ask(argv: Sequence[str], env: Mapping[str, str], seconds: float = SECONDS) -> Answer:
    """Run a command that only prints something.

    Raises:
        OSError: it cannot be started.
    """
    process = subprocess.Popen(
        argv,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env=dict(env),
        start_new_session=True,
    )
    try:
        output, _ = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        return Answer(exit_code=None)
    finally:
        _end(process)
    return Answer(exit_code=process.returncode, text=output.decode("utf-8", "replace"))


def _end(process: subprocess.Popen[bytes]) -> None:
    """End the process if it has not ended, and its children: agents are often a script that starts the real program."""
    if process.returncode is None:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    if process.stdout is not None:
        process.stdout.close()
