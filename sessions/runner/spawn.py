"""Start the agent: its own process group, its files, clean signals, and the tags by which it is found again."""

import errno
import os
import signal
import subprocess
from pathlib import Path

from agentdash.sessions.rules.launch import Launch
from agentdash.sessions.runner.processes.processes import HOME, RUN_TAG, RUNNER_MARK, SESSION_TAG
from agentdash.sessions.runner.work_folder import FolderError, opened
from agentdash.sessions.storage.paths import Layout


class StartError(Exception):
    """The agent could not be started; the text is the reason shown to the user."""

    def __init__(self, reason: str, *, command_missing: bool = False) -> None:
        super().__init__(reason)
        self.command_missing = command_missing
        """True if its command is not installed."""


def clean_signals() -> None:
    """Give the agent default signals and an empty mask.

    A shell script's ``&`` starts us with SIGINT ignored, and exec keeps an ignored signal: the agent would survive the
    first rung of the ladder.  A handler, unlike "ignore", is reset by exec.
    """
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    kept = {signal.SIGPIPE, signal.SIGXFSZ}  # Python ignores these itself, and subprocess restores them
    for number in signal.valid_signals() - kept:
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)


def start_agent(
    layout: Layout, session_id: str, turn: int, *, launch: Launch, run_id: str, cwd: str
) -> subprocess.Popen[bytes]:
    """Start the turn's process; a live agent reads from the session's FIFO, which it holds open itself.

    The turn file is opened by its name in ``live/``, so that the kernel reports its writes in that folder.

    Raises:
        StartError: command or folder missing, not executable, another folder in the place of the recorded one, or the
            files cannot be created.
    """
    try:
        with opened(cwd) as entered:
            return _start(layout, session_id, turn, launch=launch, run_id=run_id, cwd=cwd, entered=entered)
    except FolderError as error:
        raise StartError(str(error)) from None


def _start(
    layout: Layout, session_id: str, turn: int, *, launch: Launch, run_id: str, cwd: str, entered: str
) -> subprocess.Popen[bytes]:
    folder = layout.session(session_id)
    try:
        # The agent's own read-write end of its FIFO never sees an end of file, whatever becomes of its runner.
        fifo = os.open(folder.stdin, os.O_RDWR) if launch.transport else None
        stdin = _stdin(folder.prompt(turn), launch.stdin) if fifo is None else fifo
        stdout = _output(folder.output(turn), layout.live_name(session_id, turn))
        stderr = _create(folder.errors(turn))
    except OSError as error:
        raise StartError(f"the turn's files could not be created: {error}") from None
    inherited = {name: value for name, value in os.environ.items() if name != RUNNER_MARK}
    tags = {SESSION_TAG: session_id, RUN_TAG: run_id, HOME: str(layout.home), "PWD": cwd}
    try:
        return subprocess.Popen(
            list(launch.argv),
            stdin=stdin,
            stdout=stdout,
            stderr=stderr,
            cwd=entered,
            env=inherited | dict(launch.env) | tags,
            start_new_session=True,
        )
    except ValueError as error:
        raise StartError(f"the command cannot be started: {error}") from None  # a NUL byte, a lone surrogate
    except OSError as error:
        raise _start_error(error, launch.argv[0], cwd) from None
    finally:
        for descriptor in (stdin, stdout, stderr):
            os.close(descriptor)


def _stdin(path: Path, text: str | None) -> int:
    """A file with the prompt: no length limit as for an argument, and never an open pipe (codex waits for it)."""
    if text is None:
        return os.open(os.devnull, os.O_RDONLY)
    descriptor = _create(path)
    with open(descriptor, "wb") as file:
        file.write(text.encode("utf-8", "replace"))
    return os.open(path, os.O_RDONLY)


def _output(path: Path, live: Path) -> int:
    os.close(_create(path))
    live.unlink(missing_ok=True)
    os.link(path, live)
    return os.open(live, os.O_WRONLY | os.O_APPEND)


def _create(path: Path) -> int:
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND, 0o600)


def _start_error(error: OSError, command: str, cwd: str) -> StartError:
    if error.errno == errno.ENOENT:
        return StartError(f"{command}: command not found", command_missing=True)
    if error.errno == errno.EACCES:
        return StartError(f"{command}: permission denied (is it executable, and may {cwd} be entered?)")
    return StartError(f"{command} could not be started: {error.strerror or error}")
