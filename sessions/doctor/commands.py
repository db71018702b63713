"""Asking a command something, without a shell, without waiting for ever and without leaving anything behind."""

import os
import shutil
import signal
import subprocess
from collections.abc import Mapping, Sequence

from msgspec import Struct

SECONDS = 10.0
"""How long a command may take to answer; a cold start of node takes two."""


class Answer(Struct, frozen=True, kw_only=True):
    """What a command printed, and how it ended."""

    exit_code: int | None
    """Negative: ended by this signal.  None: it did not answer in time."""
    text: str = ""
    """Its stdout and its stderr."""

    @property
    def first_line(self) -> str:
        """The first line with something in it."""
        return next((line.strip() for line in self.text.splitlines() if line.strip()), "")


def find(name: str, env: Mapping[str, str]) -> str | None:
    """The path of a command in the PATH of this environment; None if there is none."""
    return shutil.which(name, path=env.get("PATH", os.defpath))


def ask(argv: Sequence[str], env: Mapping[str, str], seconds: float = SECONDS) -> Answer:
    """Run a command that only says something.

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
    """End what has not ended, and what it started: agents are often a script that starts the real program."""
    if process.returncode is None:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    if process.stdout is not None:
        process.stdout.close()
