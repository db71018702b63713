"""The repository around the folder of a session, as calls of git see it, with every filter driver switched off."""

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import IO

from agentdash.sessions.runner.git.git_process import GitAnswer, GitError, GitOutput, run_git
from agentdash.sessions.runner.work_folder import FolderError, check, opened
from agentdash.sessions.text.relative_paths import below
from agentdash.sessions.text.sanitize import one_line

STATUS = ("status", "--porcelain=v1", "-z", "--untracked-files=all", "--no-renames")

_MOST_FILTERS = 200
_PATH_BYTES = 4_096


class WorkTree:
    """The repository that contains the folder of a session, which was recorded without links.

    Args:
        until: the time of the monotonic clock at which every call is ended; None for the limit of each call alone.

    Raises:
        GitError: the folder is gone, is a link now, or is in no repository, or git fails; the methods raise it, too.
    """

    def __init__(self, cwd: str, until: float | None = None) -> None:
        if not os.path.isdir(cwd):  # noqa: PTH112 - a text that may be no path at all
            raise GitError(GitAnswer.NO_FOLDER)
        try:
            check(cwd)
        except FolderError as error:
            raise GitError(GitAnswer.FAILED, str(error)) from None
        self._until = until
        self._settings: tuple[str, ...] = ()
        self._real_cwd = os.path.realpath(cwd)
        output = self._in(self._real_cwd, "rev-parse", "--show-toplevel")
        if output.code != 0:
            none = "not a git repository" in output.error or "must be run in a work tree" in output.error
            raise GitError(GitAnswer.NO_REPOSITORY) if none else _failed(output)
        self.top = os.fsdecode(output.out.removesuffix(b"\n"))
        head = self._in(self._real_cwd, "rev-parse", "--verify", "--quiet", "HEAD")
        self.head = head.out.decode("ascii", "replace").strip() if head.code == 0 else None
        """The last commit; None if there is none."""
        self._cwd = cwd
        self._settings = tuple(self._without_filters())

    @property
    def commits(self) -> bool:
        """True if there is a commit."""
        return self.head is not None

    def ask(
        self,
        *arguments: str,
        settings: Sequence[str] = (),
        limit: int = 1 << 20,
        stdin: IO[bytes] | None = None,
        env: Mapping[str, str] | None = None,
    ) -> GitOutput:
        """Call git at the top of the repository."""
        output = self._in(self.top, *arguments, settings=settings, limit=limit, stdin=stdin, env=env)
        if output.code:
            raise _failed(output)
        return output

    def place_of(self, name: str) -> str:
        """Return the path of a file or a folder of git's own: ``index``, ``objects``."""
        path = os.fsdecode(self.ask("rev-parse", "--git-path", name).out.removesuffix(b"\n"))
        return os.path.join(self.top, path)  # noqa: PTH118 - a text

    def relative(self, path: str) -> str | None:
        """Return the path relative to the repository; None if it is outside of it, or is not a valid path."""
        inside = below(path, self._cwd)
        relative = below(path if inside is None else f"{self._real_cwd.rstrip('/')}/{inside}", self.top)
        if relative is None or "\0" in relative:
            return None
        try:
            return relative if len(os.fsencode(relative)) <= _PATH_BYTES else None
        except UnicodeEncodeError:
            return None

    def absolute(self, relative: str) -> str:
        """Return the path that the session uses for a file of the repository."""
        path = f"{self.top.rstrip('/')}/{relative}"
        inside = below(path, self._real_cwd)
        return path if inside is None else f"{self._cwd.rstrip('/')}/{inside}"

    def _in(
        self,
        folder: str,
        *arguments: str,
        settings: Sequence[str] = (),
        limit: int = 1 << 20,
        stdin: IO[bytes] | None = None,
        env: Mapping[str, str] | None = None,
    ) -> GitOutput:
        """Call git in a folder as it was recorded: an agent that can replace it with a link chooses no other one."""
        try:
            with opened(folder) as entered:
                given = (*self._settings, *settings)
                return run_git(
                    entered, *arguments, settings=given, limit=limit, stdin=stdin, env=env, until=self._until
                )
        except FolderError as error:
            raise GitError(GitAnswer.FAILED, str(error)) from None

    def _without_filters(self) -> Iterator[str]:
        """Yield settings that empty the commands of every filter driver."""
        config = self._in(self.top, "config", "-z", "--name-only", "--get-regexp", r"^filter\.")
        keys = {os.fsdecode(key).rpartition(".")[0] for key in config.out.split(b"\0") if key}
        # `-c` ends a name at its first "=", so it cannot switch off a driver with one in its name.
        if config.code not in (0, 1) or len(keys) > _MOST_FILTERS or any("=" in key for key in keys):
            raise GitError(GitAnswer.FAILED, "its config has filters that cannot be disabled")
        for key in sorted(keys):
            yield from (f"{key}.clean=", f"{key}.process=", f"{key}.smudge=", f"{key}.required=false")


def _failed(output: GitOutput) -> GitError:
    return GitError(GitAnswer.FAILED, one_line(output.error, 200))
