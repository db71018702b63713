"""Programs that get the terminal: the pager, the editor, the shell, and the agent's own interface; also for `takeover`.

Nothing here loads a library of the screen, which the command line does not need.
"""

import os
import shlex
import shutil
import signal
import subprocess
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from agentdash.sessions.model.errors import AgentdashError
from agentdash.sessions.runner.work_folder import opened
from agentdash.tui.terminal.watchdog import deaf

if TYPE_CHECKING:
    from agentdash.sessions.service.lifecycle.takeover import Takeover
    from agentdash.sessions.service.manager import SessionManager
    from agentdash.sessions.storage.turns.takeovers import ByHand


_PLUS_LINE = frozenset(
    {"vi", "vim", "nvim", "view", "gvim", "nano", "pico", "emacs", "emacsclient", "mg", "jed", "joe", "kak", "micro",
     "ne", "sensible-editor", "less"}
)  # fmt: skip
"""Editors that take ``+LINE`` before the file."""

_COLON_LINE = frozenset({"hx", "helix", "zed", "subl", "lapce"})
"""Editors that take ``FILE:LINE``."""

_GOTO = frozenset({"code", "code-insiders", "codium", "cursor", "windsurf"})
"""Editors that take ``--goto FILE:LINE``."""


def pager(env: Mapping[str, str]) -> list[str]:
    """Return the user's pager as an argv; less by default."""
    return _argv(env.get("PAGER", "")) or ["less"]


def editor(env: Mapping[str, str]) -> list[str] | None:
    """Return the user's editor as an argv; by default an installed one, or None."""
    chosen = _argv(env.get("VISUAL", "")) or _argv(env.get("EDITOR", ""))
    if chosen:
        return chosen
    return next(([name] for name in ("sensible-editor", "vim", "vi", "nano") if shutil.which(name)), None)


def shell(env: Mapping[str, str]) -> list[str]:
    """Return the user's shell as an argv."""
    return _argv(env.get("SHELL", "")) or ["/bin/sh"]


def at_line(argv: Sequence[str], path: os.PathLike[str], line: int | None) -> list[str]:
    """Return the argv that opens a file at a line; at its beginning if the editor is not known to take a line."""
    name, file = Path(argv[0]).name, str(path)
    if line is not None and name in _PLUS_LINE:
        return [*argv, f"+{line}", file]
    if line is not None and name in _COLON_LINE:
        return [*argv, f"{file}:{line}"]
    if line is not None and name in _GOTO:
        return [*argv, "--goto", f"{file}:{line}"]
    return [*argv, file]


def run(
    argv: Sequence[str],
    cwd: str | None = None,
    *,
    env: Mapping[str, str] | None = None,
    stdout: int | None = None,
    started: Callable[[int], object] = lambda _: None,
) -> int:
    """Run a program that takes the terminal, wait for it, and return its exit code.

    Args:
        cwd: the folder of a session in which it starts; by default our own.
        env: its environment; by default our own.
        stdout: the descriptor of the terminal, if our own standard output is another file.
        started: called with its pid.

    As under a shell, Ctrl+C and Ctrl+\\ act on the program alone until it ends.  Ctrl+Z stops us too, but only after
    the program has restored the terminal and stopped: the shell must not write before that.

    Raises:
        OSError: the program cannot be started, or a link has taken the place of the session's folder.
        ValueError: an argument that cannot be passed to a program.
    """
    with deaf(signal.SIGINT, signal.SIGQUIT, signal.SIGTSTP):
        # Shells show the folder by the name that PWD gives it, if it is the same folder.
        environment = env or os.environ | ({"PWD": cwd} if cwd else {})
        with opened(cwd) if cwd else nullcontext() as folder:
            program = subprocess.Popen(argv, cwd=folder, env=environment, stdout=stdout)
        started(program.pid)
        while program.returncode is None:
            _, status = os.waitpid(program.pid, os.WUNTRACED)
            if os.WIFSTOPPED(status):
                _stop()
                # A shell is in a process group of its own, which `fg` does not continue.
                program.send_signal(signal.SIGCONT)
            else:
                program.returncode = os.waitstatus_to_exitcode(status)
    _take_terminal()
    return program.returncode


def _stop() -> None:
    """Stop until the shell continues the whole group; without such a shell the kernel ignores the stop."""
    before = signal.signal(signal.SIGTSTP, signal.SIG_DFL)
    os.kill(os.getpid(), signal.SIGTSTP)
    signal.signal(signal.SIGTSTP, before)


def _take_terminal() -> None:
    """Make our process group the terminal's again; a shell that was killed leaves it with its own."""
    with suppress(OSError):  # no terminal
        if os.tcgetpgrp(0) != os.getpgrp():
            before = signal.signal(signal.SIGTTOU, signal.SIG_IGN)
            try:
                os.tcsetpgrp(0, os.getpgrp())
            finally:
                signal.signal(signal.SIGTTOU, before)


def _argv(text: str) -> list[str]:
    """Return the words of a variable, which never reaches a shell."""
    try:
        return shlex.split(text)
    except ValueError:
        return []


class InterfaceError(AgentdashError):
    """The interface could not be started."""


def run_interface(manager: "SessionManager", takeover: "Takeover", stdout: int | None = None) -> "ByHand":
    """Run the interface of a session that was taken over, then record what was said there.

    The interface is in our process group, which is the terminal's foreground group: it gets the keys and the size of
    the terminal as if a shell had started it.

    Args:
        manager: records what was said.
        stdout: the descriptor of the terminal, if our own standard output is another file.

    Raises:
        InterfaceError: it could not be started; the session is free again.
        StoreError: what was said could not be recorded now; the next command that reads the session tries again.
    """
    code: int | None = None
    # A Ctrl+C too many for the interface must not cut off the record of what was said.
    with deaf(signal.SIGINT, signal.SIGQUIT):
        try:
            code = run(takeover.argv, takeover.cwd, env=takeover.env, stdout=stdout, started=takeover.started)
        except (OSError, ValueError) as error:
            raise InterfaceError(f"{takeover.argv[0]} could not be started: {error}.") from None
        finally:
            done = manager.give_back(takeover, code)
    return done
