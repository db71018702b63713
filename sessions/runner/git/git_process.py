"""Run git safely in a folder, and ask it for the branch and the files there.

An agent may have written the repository's configuration.  These are always switched off: the file system monitor,
hooks, external diff programs, text conversion, pagers, every transport (a partial clone would fetch missing objects),
submodules (each has a configuration of its own), and the ``clean`` and ``process`` commands of all filter drivers,
which git runs on a file whose size or time differs from the index.  Remaining risks:

* A file that goes through a filter (git-lfs) can be shown as modified though its filtered content is the same.
* The names of the filters are read in a first call.  If an agent adds a filter between that call and the next, its
  command runs once, as the user of agentdash, outside of the agent's own sandbox.
* The configuration is read, so it can make git slow or fail.  After the time limit this is reported as an error."""

import os
import selectors
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from enum import StrEnum
from typing import IO

from msgspec import Struct

from agentdash.sessions.model.errors import AgentdashError

SECONDS = 5.0
"""The longest time of one call of git."""

_CHUNK = 65_536
_ERROR_BYTES = 4_096
_KEPT_VARIABLES = frozenset({"GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM", "GIT_EXEC_PATH"})
"""Variables with the paths of git and of the user's own configuration; ``GIT_DIR`` and others name other folders."""

_ENVIRONMENT = {
    "LC_ALL": "C",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_PAGER": "cat",
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_NO_LAZY_FETCH": "1",
}
_SETTINGS = (
    "core.fsmonitor=",
    "core.hooksPath=/dev/null",
    "core.pager=cat",
    "core.quotepath=off",
    "diff.autoRefreshIndex=false",  # `git diff` writes the index even without optional locks (git 2.39)
)


class GitAnswer(StrEnum):
    """The success of a query to git, or the reason of its failure."""

    OK = "ok"
    NO_COMMITS = "no commits yet"
    NO_REPOSITORY = "not a repository"
    NO_GIT = "git is not installed"
    NO_FOLDER = "the folder no longer exists"
    TIMED_OUT = "timed out"
    FAILED = "failed"


class GitError(AgentdashError):
    """Git could not be started, failed, or did not answer in time; never leaves this package."""

    def __init__(self, answer: GitAnswer, detail: str | None = None) -> None:
        super().__init__(answer)
        self.answer = answer
        self.detail = detail


class GitOutput(Struct, frozen=True):
    """The output of one call of git."""

    code: int | None
    """None if the call was ended because it printed too much."""
    out: bytes
    error: str

    @property
    def cut(self) -> bool:
        """True if the output is longer than the limit."""
        return self.code is None


def run_git(
    folder: str,
    *arguments: str,
    settings: Sequence[str] = (),
    limit: int = 1 << 20,
    stdin: IO[bytes] | None = None,
    env: Mapping[str, str] | None = None,
    until: float | None = None,
) -> GitOutput:
    """Call git in a folder.

    Args:
        folder: the folder, or the name of an opened one.
        settings: ``key=value`` of configuration that overrides the repository's.
        limit: bytes of output after which git is ended.
        stdin: a file that git reads; nothing by default.
        env: further variables of its environment.
        until: the time of the monotonic clock at which git is ended, if that is before :data:`SECONDS` are over.

    Raises:
        GitError: git is not installed, cannot be started, or took too long.
    """
    program = _program()
    given = [word for setting in (*_SETTINGS, *settings) for word in ("-c", setting)]
    argv = [program, "--no-pager", "--no-optional-locks", "--literal-pathspecs", *given, *arguments]
    kept = {k: v for k, v in os.environ.items() if not k.startswith("GIT_") or k in _KEPT_VARIABLES}
    deadline = time.monotonic() + SECONDS
    try:
        process = subprocess.Popen(
            argv, stdin=stdin or subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            cwd=folder, env=kept | _ENVIRONMENT | dict(env or {}), start_new_session=True, umask=0o077,
        )  # fmt: skip
    except (OSError, ValueError) as error:  # an argument list that is too long, a NUL byte in a path
        raise GitError(GitAnswer.FAILED, str(error)) from None
    try:
        return _listen(process, limit, deadline if until is None else min(deadline, until))
    finally:
        _end(process)


def _program() -> str:
    """Return the path of git; from "." in PATH anything could come."""
    for folder in os.get_exec_path():
        program = f"{folder}/git"
        if folder.startswith("/") and os.access(program, os.X_OK) and os.path.isfile(program):  # noqa: PTH113 - a text
            return program
    raise GitError(GitAnswer.NO_GIT)


def _listen(process: "subprocess.Popen[bytes]", limit: int, deadline: float) -> GitOutput:
    out, error = bytearray(), bytearray()
    for stream, data in _chunks(_pipes(process), deadline):
        if stream is process.stdout:
            out += data
        elif len(error) < _ERROR_BYTES:
            error += data
        if len(out) > limit:
            return GitOutput(None, bytes(out[:limit]), "")
    try:
        code = process.wait(max(0.1, deadline - time.monotonic()))
    except subprocess.TimeoutExpired:
        raise _too_slow() from None
    return GitOutput(code, bytes(out), error[:_ERROR_BYTES].decode("utf-8", "replace").strip())


def _chunks(pipes: Sequence[IO[bytes]], deadline: float) -> Iterator[tuple[object, bytes]]:
    """Yield the output of any pipe, until all are closed."""
    with selectors.DefaultSelector() as selector:
        for pipe in pipes:
            selector.register(pipe, selectors.EVENT_READ)
        while selector.get_map():
            left = deadline - time.monotonic()
            ready = selector.select(left) if left > 0 else []
            if not ready:
                raise _too_slow()
            for key, _ in ready:
                data = os.read(key.fd, _CHUNK)
                if not data:
                    selector.unregister(key.fileobj)
                yield key.fileobj, data


def _pipes(process: "subprocess.Popen[bytes]") -> list[IO[bytes]]:
    return [pipe for pipe in (process.stdout, process.stderr) if pipe is not None]


def _too_slow() -> GitError:
    return GitError(GitAnswer.TIMED_OUT, f"no answer within {SECONDS:.0f} seconds")


def _end(process: "subprocess.Popen[bytes]") -> None:
    """Close the pipes; kill the process and its children (its process group) if it still runs."""
    for pipe in _pipes(process):
        pipe.close()
    if process.poll() is None:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        # A dead network file system can block the process for ever, and must not block us too.
        with suppress(subprocess.TimeoutExpired):
            process.wait(1)


LIST_BYTES = 4 << 20
"""The most bytes that are read of a list of files; the rest of the list is left out."""


def branch_of(folder: str) -> str | None:
    """Return the branch of the repository that contains a folder; None without a repository or a branch."""
    output = _asked(folder, "symbolic-ref", "--quiet", "--short", "HEAD")
    return os.fsdecode(output.out).strip() or None if output is not None else None


def files_of(folder: str) -> list[str] | None:
    """Return the files below a folder, relative to it, as git lists them; None without a repository.

    Files that git ignores are left out, and files that it does not track yet are there.
    """
    output = _asked(folder, "ls-files", "-z", "--cached", "--others", "--exclude-standard")
    if output is None:
        return None
    names = output.out.split(b"\0")[:-1]  # a name that the limit cut has no end
    return list(dict.fromkeys(map(os.fsdecode, names)))


def _asked(folder: str, *arguments: str) -> GitOutput | None:
    """Return the output of git; None if git failed, is not installed or took too long."""
    try:
        output = run_git(folder, *arguments, limit=LIST_BYTES)
    except GitError:
        return None
    return output if output.code in (0, None) else None
