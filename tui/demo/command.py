"""A shell command of a demo agent, in a process session of its own as real agents run theirs."""

import contextlib
import os
import signal
import subprocess
from collections.abc import Callable

OUTPUT_CHARACTERS = 20_000
"""Characters of the output that are kept for the end of the command."""


class Command:
    """One running command.

    It is over when it has exited and no process has its output open.

    Args:
        line: the command for the shell.
        printed: gets the output as it grows.
    """

    def __init__(self, line: str, printed: Callable[[str], None]) -> None:
        self._process = subprocess.Popen(
            ["/bin/sh", "-Cc", line],  # -C: redirection does not overwrite files
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        assert self._process.stdout is not None  # noqa: S101 - it is a pipe
        self._pipe = self._process.stdout
        self._exit = os.pidfd_open(self._process.pid)
        self._printed = printed
        self.open = {self._pipe.fileno(), self._exit}
        """The file descriptors to wait for; empty if the command is over."""
        self.output = ""
        """The beginning of the output."""
        self.exit_code = 0
        """Valid if the command is over."""

    def read(self, descriptor: int) -> None:
        """Read from one of :attr:`open` that is ready."""
        if descriptor == self._exit:
            self.exit_code = self._process.wait()
            os.close(self._exit)
            self.open.discard(descriptor)
            return
        text = os.read(descriptor, 1 << 16).decode("utf-8", "replace")
        self.output += text[: OUTPUT_CHARACTERS - len(self.output)]
        if text:
            self._printed(text)
        else:
            self.open.discard(descriptor)
            self._pipe.close()

    def signal(self, number: int) -> None:
        """Send a signal to the command's process group."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, number)

    def kill(self) -> None:
        """End the command's process group at once, and forget its output."""
        self.signal(signal.SIGKILL)
        if self._exit in self.open:
            self.read(self._exit)
        if self.open:
            self._pipe.close()
            self.open.clear()
