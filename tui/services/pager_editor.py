"""Which programs of the user show and change texts, and how they are told a line."""

import os
import shlex
import shutil
import signal
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

_PLUS_LINE = frozenset(
    {"vi", "vim", "nvim", "view", "gvim", "nano", "pico", "emacs", "emacsclient", "mg", "jed", "joe", "kak", "micro",
     "ne", "sensible-editor", "less"}
)  # fmt: skip
"""They take ``+LINE`` before the file."""

_COLON_LINE = frozenset({"hx", "helix", "zed", "subl", "lapce"})
"""They take ``FILE:LINE``."""

_GOTO = frozenset({"code", "code-insiders", "codium", "cursor", "windsurf"})
"""They take ``--goto FILE:LINE``."""


def pager(env: Mapping[str, str]) -> list[str]:
    """The user's pager as an argv; less where nobody says."""
    return _argv(env.get("PAGER", "")) or ["less"]


def editor(env: Mapping[str, str]) -> list[str] | None:
    """The user's editor as an argv; one that is installed where nobody says."""
    chosen = _argv(env.get("VISUAL", "")) or _argv(env.get("EDITOR", ""))
    if chosen:
        return chosen
    return next(([name] for name in ("sensible-editor", "vim", "vi", "nano") if shutil.which(name)), None)


def at_line(argv: Sequence[str], path: os.PathLike[str], line: int | None) -> list[str]:
    """The argv that opens a file at a line; at its beginning where the editor is not known to take one."""
    name, file = Path(argv[0]).name, str(path)
    if line is not None and name in _PLUS_LINE:
        return [*argv, f"+{line}", file]
    if line is not None and name in _COLON_LINE:
        return [*argv, f"{file}:{line}"]
    if line is not None and name in _GOTO:
        return [*argv, "--goto", f"{file}:{line}"]
    return [*argv, file]


def run(argv: Sequence[str]) -> int:
    """Run a program that takes the terminal, and wait; its exit code.

    Ctrl+C and Ctrl+\\ are its own until it ends, as under a shell.  Ctrl+Z stops us too, but only when it has put the
    terminal in order and stopped: the shell must not speak before.

    Raises:
        OSError: it cannot be started.
        ValueError: an argument that no program can be given.
    """
    with _deaf(signal.SIGINT, signal.SIGQUIT, signal.SIGTSTP):
        program = subprocess.Popen(argv)
        while program.returncode is None:
            _, status = os.waitpid(program.pid, os.WUNTRACED)
            if os.WIFSTOPPED(status):
                _stop()
            else:
                program.returncode = os.waitstatus_to_exitcode(status)
    return program.returncode


def _stop() -> None:
    """Stop until the shell continues the whole group; without a shell that could, the kernel does nothing."""
    before = signal.signal(signal.SIGTSTP, signal.SIG_DFL)
    os.kill(os.getpid(), signal.SIGTSTP)
    signal.signal(signal.SIGTSTP, before)


@contextmanager
def _deaf(*numbers: signal.Signals) -> Iterator[None]:
    # Handlers that do nothing: what is ignored would stay ignored in the program, a handler becomes the default there.
    before = {number: signal.signal(number, lambda *_: None) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _argv(text: str) -> list[str]:
    """The words of a variable; it is never given to a shell."""
    try:
        return shlex.split(text)
    except ValueError:
        return []
