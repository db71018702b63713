"""The end of a demo: its sessions are killed, even if the dashboard is killed with -9."""

import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from agentdash.sessions.model.errors import AgentdashError
from agentdash.tui.demo.folder import MARK, STATE, enter_demo

if TYPE_CHECKING:
    from agentdash.sessions.service.manager import SessionManager


def kill_sessions(manager: "SessionManager") -> list[str]:
    """Kill the running sessions; return what went wrong.

    There is no grace period: a script has nothing to save, and the user waits for the shell.
    """
    from agentdash.sessions.service.lifecycle.stop_family import NOW

    sessions = [*manager.reader.sessions(), *manager.reader.sessions(archived=True)]
    running = [session.id for session in sessions if session.has_process]
    answers = [answer for _, answer in manager.stop_family(running, NOW)]  # the lead starts workers until it is stopped
    failed = [str(answer) for answer in answers if isinstance(answer, AgentdashError)]
    return failed + [answer.summary() for answer in answers if not isinstance(answer, AgentdashError) and answer.left]


@contextmanager
def watched(directory: Path) -> Iterator[None]:
    """Let a process of its own end the demo, and remove its folder, if this process is killed."""
    words = [sys.executable, "-P", "-m", __name__, str(directory)]
    quiet = subprocess.DEVNULL
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=quiet, stderr=quiet, start_new_session=True) as watcher:
        try:
            yield
        finally:
            watcher.kill()


def _watch(directory: Path) -> None:
    sys.stdin.buffer.read()  # it ends with the process that has the other end
    if (directory / MARK).is_file():
        from agentdash.sessions.service.manager import SessionManager

        enter_demo(directory)
        with SessionManager(directory / STATE) as manager:
            kill_sessions(manager)
        shutil.rmtree(directory, ignore_errors=True)


if __name__ == "__main__":
    _watch(Path(sys.argv[1]))
