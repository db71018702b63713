"""The keeper: a small process that runs the user's hook on a change of state, so that no runner waits for it.

``python -P -m agentdash.sessions.runner.hooks.hook_process SECONDS NAME COMMAND...``, with the command's
environment.

It begins when its stdin is closed, waits for the command and its descendants, and after ``SECONDS`` kills those that
are left, except sessions that the command started.  It reports in one line on its stderr, which is the runner's log.
"""

import contextlib
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Sequence

from agentdash.sessions.runner.processes import processes
from agentdash.sessions.runner.spawn import clean_signals
from agentdash.sessions.text.sanitize import one_line

OUTPUT_BYTES = 1000
"""Maximum output kept; the rest of what the command prints is read and dropped."""

KILL_SECONDS = 2.0
"""Maximum duration of the attempt to kill the processes that are left."""

LINE_CELLS = 500

_BEGIN = "hook on "


def hook_line(status: str, words: str) -> str:
    """Return the line in a runner's log about the hook of a change to ``status``: ``hook on done: exit 7``."""
    return f"{_BEGIN}{status}: {words}"


def is_hook_line(line: str) -> bool:
    """Return whether :func:`hook_line` made the line."""
    return line.startswith(_BEGIN)


class Keeper:
    """Runs one command until none of its processes is left."""

    def __init__(self, command: Sequence[str], seconds: float) -> None:
        self._command = list(command)
        self._seconds = seconds
        self._status: int | None = None
        self.output = b""

    def run(self) -> str | None:
        """Run the command; return what went wrong, in words, or None."""
        # A descriptor that becomes readable when a child ends.
        wake, send = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        signal.set_wakeup_fd(send, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        try:
            process = subprocess.Popen(
                self._command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                start_new_session=True,
            )  # fmt: skip
        except (OSError, ValueError) as error:
            return getattr(error, "strerror", None) or str(error)
        pipe = process.stdout.fileno() if process.stdout is not None else -1
        in_time = self._wait(process.pid, pipe, wake)
        if not in_time:
            _kill_everything()
            return f"killed after {self._seconds:g} s"
        code = os.waitstatus_to_exitcode(self._status or 0)
        return None if code == 0 else f"exit {code}" if code > 0 else f"killed by {processes.signal_name(-code)}"

    def _wait(self, pid: int, pipe: int, wake: int) -> bool:
        """Return whether the command and its descendants ended in time."""
        os.set_blocking(pipe, False)
        poll = select.poll()
        for descriptor in (pipe, wake):
            poll.register(descriptor, select.POLLIN)
        deadline = time.monotonic() + self._seconds
        while (left := deadline - time.monotonic()) > 0:
            ready = [descriptor for descriptor, _ in poll.poll(left * 1000)]
            if wake in ready:
                os.read(wake, 4096)
            if pipe in ready and not self._drain(pipe):
                poll.unregister(pipe)
            with contextlib.suppress(ChildProcessError):
                while (reaped := os.waitpid(-1, os.WNOHANG))[0]:
                    self._status = reaped[1] if reaped[0] == pid else self._status
            if self._status is not None and not _below():
                self._drain(pipe)
                return True
        return False

    def _drain(self, pipe: int) -> bool:
        """Read the available output; False at its end."""
        with contextlib.suppress(BlockingIOError):
            while data := os.read(pipe, 65536):
                self.output += data[: OUTPUT_BYTES - len(self.output)]
            return False
        return True


def _below() -> list[processes.Process]:
    """The command's living descendants, without runners and the processes of sessions."""
    tags = {processes.RUNNER_MARK, processes.SESSION_TAG}
    below = processes.tree(os.getpid(), lambda pid: bool(processes.environment(pid).keys() & tags))
    return [process for process in below if not process.zombie]


def _kill_everything() -> None:
    deadline = time.monotonic() + KILL_SECONDS
    while (living := _below()) and time.monotonic() < deadline:
        for process in living:
            with contextlib.suppress(PermissionError):
                processes.send_kill(process)
        with contextlib.suppress(ChildProcessError):
            os.waitpid(-1, os.WNOHANG)


def main(argv: list[str]) -> int:
    """Run one command; the arguments are described at the top of this module."""
    seconds, name, *command = argv
    clean_signals()
    processes.become_subreaper()
    os.read(0, 1)
    keeper = Keeper(command, float(seconds))
    wrong = keeper.run()
    output = keeper.output.decode("utf-8", "replace")
    if wrong is not None or output.strip():
        line = one_line(hook_line(name, ": ".join(filter(None, (wrong or "ok", output)))), LINE_CELLS)
        os.write(2, f"{line}\n".encode("utf-8", "replace"))  # in one write: others write to this log too
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
