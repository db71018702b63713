"""A shell command of a demo agent, in a process session of its own as real agents run theirs."""

import contextlib
import os
import signal
import subprocess

OUTPUT_CHARACTERS = 20_000
"""Characters of the output that are kept for the end of the command."""


class Command:
    """One running command: over when no process has its output open, and it has exited."""

    def __init__(self, line: str, call: str) -> None:
        self.line = line
        self.call = call
        """The id of the agent's call."""
        self._process = subprocess.Popen(
            ["/bin/sh", "-Cc", line],  # -C: redirection does not overwrite files
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        assert self._process.stdout is not None  # noqa: S101 - it is a pipe
        self._pipe = self._process.stdout
        self.descriptor = self._pipe.fileno()
        """Ready if :meth:`read` has something to read."""
        self.output = ""
        """The beginning of the output."""
        self.exit_code: int | None = None
        """None while it runs."""

    def read(self) -> str:
        """Return more output; empty at the end of the command."""
        text = os.read(self.descriptor, 1 << 16).decode("utf-8", "replace")
        self.output += text[: OUTPUT_CHARACTERS - len(self.output)]
        if not text:
            self._pipe.close()
            self.exit_code = self._process.wait()
        return text

    def signal(self, number: int) -> None:
        """Send a signal to the command's process group."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, number)

    def kill(self) -> None:
        """End the command's process group at once."""
        self.signal(signal.SIGKILL)
        self._process.wait()
        self._pipe.close()
