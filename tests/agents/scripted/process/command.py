"""A shell command of the scripted agent, in a process session of its own as real agents run theirs."""

import codecs
import contextlib
import os
import select
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

OUTPUT_CHARACTERS = 20_000
"""Characters of the output that are kept for the end of the command."""

_READ_BYTES = 1 << 16
_LINE_CHARACTERS = 4_096
"""A line is reported before its end if it has this many characters."""


class Command:
    """One running command, for which ``agentdash`` is the installation that plays the script.

    It is over when it has exited and no process has its output open.

    Args:
        command: the line for the shell.
        printed: gets the output as it grows, in whole lines.
    """

    def __init__(self, command: str, printed: Callable[[str], None] | None = None) -> None:
        self._process = subprocess.Popen(
            ["/bin/sh", "-Cc", command],  # -C: redirection does not overwrite files
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            env=os.environ | {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"},
        )
        assert self._process.stdout is not None
        self._pipe = self._process.stdout
        self._exit = os.pidfd_open(self._process.pid)
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._printed = printed
        self._rest = ""
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
        data = os.read(descriptor, _READ_BYTES)
        self._grow(self._decoder.decode(data, final=not data), is_end=not data)
        if not data:
            self.open.discard(descriptor)
            self._pipe.close()

    def wait(self) -> None:
        """Read until the command is over."""
        poll = select.poll()
        for descriptor in self.open:
            poll.register(descriptor, select.POLLIN)
        while self.open:
            for descriptor, _ in poll.poll():
                self.read(descriptor)
                if descriptor not in self.open:
                    poll.unregister(descriptor)

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

    def _grow(self, text: str, *, is_end: bool) -> None:
        self.output += text[: OUTPUT_CHARACTERS - len(self.output)]
        self._rest += text
        end = self._rest.rfind("\n") + 1
        if is_end or len(self._rest) - end > _LINE_CHARACTERS:
            end = len(self._rest)
        lines, self._rest = self._rest[:end], self._rest[end:]
        if lines and self._printed is not None:
            self._printed(lines)
