"""Run a command and read its answer, without a shell, with a time limit, and without leaving processes behind."""

import os
import shutil
import signal
import subprocess
from collections.abc import Mapping, Sequence

from msgspec import Struct

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
