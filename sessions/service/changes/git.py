"""Queries to git about a session's files: their states, the totals of the repository, and one file's diff.

All queries are read-only and bounded; :mod:`.git_process` describes how, and what a hostile repository can still do.
A file outside of the repository, in a submodule or in a nested repository has no state.
"""

import os
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence

from msgspec import Struct

from agentdash.sessions.runner.work_folder import FolderError, check, opened
from agentdash.sessions.service.changes.git_process import GitError, GitOutput, run_git
from agentdash.sessions.service.changes.model import GitAnswer, GitReport, GitState, GitTotals
from agentdash.sessions.text.relative_paths import below
from agentdash.sessions.text.sanitize import one_line

DIFF_BYTES = 1 << 20
"""The most bytes that are read of one file's diff."""

_TOTALS_BYTES = 8 << 20
_BATCH_BYTES = 65_536
"""The most bytes of paths in one call: far below the limit of a command line."""

_MOST_FILTERS = 200
_PATH_BYTES = 4_096
_STATUS = ("status", "--porcelain=v1", "-z", "--untracked-files=all", "--no-renames", "--ignore-submodules=all")
_DIFF = (
    "diff", "HEAD", "--no-color", "--no-ext-diff", "--no-textconv", "--no-renames", "--ignore-submodules=all",
    "--submodule=short", "--src-prefix=a/", "--dst-prefix=b/",
)  # fmt: skip
_CONFLICTS = frozenset({"DD", "AU", "UD", "UA", "DU", "AA", "UU"})
_UNCHANGED = GitState(code="  ", words=("unchanged",))


class GitDiff(Struct, frozen=True, kw_only=True):
    """The diff of one file against the last commit, or the reason why it is not known."""

    answer: GitAnswer
    text: str = ""
    """Empty if the file does not differ, or git does not track it."""
    cut: bool = False
    detail: str | None = None


def ask_git(cwd: str, paths: Sequence[str]) -> tuple[GitReport, dict[str, GitState]]:
    """Return a report of the repository, and the state of each file that git knows, by absolute path."""
    states: dict[str, GitState] = {}
    top = None
    try:
        repository = Repository(cwd)
        top = repository.top
        states.update(repository.states(paths))
        totals = repository.totals(paths)
    except GitError as error:
        return GitReport(answer=error.answer, detail=error.detail, top=top), states
    answer = GitAnswer.OK if repository.commits else GitAnswer.NO_COMMITS
    return GitReport(answer=answer, top=top, totals=totals), states


def git_diffs(cwd: str) -> Callable[[str], GitDiff]:
    """Return a function from a file (an absolute path) to its diff against the last commit, by any author."""
    try:
        repository = Repository(cwd)
    except GitError as error:
        trouble = GitDiff(answer=error.answer, detail=error.detail)
        return lambda _: trouble
    return repository.diff


class Repository:
    """The repository that contains the folder of a session, which was recorded without links.

    Raises:
        GitError: the folder is gone, is a link now, or is in no repository, or git fails; all methods except ``diff``
            raise it, too.
    """

    def __init__(self, cwd: str) -> None:
        if not os.path.isdir(cwd):  # noqa: PTH112 - a text that may be no path at all
            raise GitError(GitAnswer.NO_FOLDER)
        try:
            check(cwd)
        except FolderError as error:
            raise GitError(GitAnswer.FAILED, str(error)) from None
        self._real_cwd = os.path.realpath(cwd)
        output = _in_folder(self._real_cwd, "rev-parse", "--show-toplevel")
        if output.code != 0:
            none = "not a git repository" in output.error or "must be run in a work tree" in output.error
            raise GitError(GitAnswer.NO_REPOSITORY) if none else _failed(output)
        self.top = os.fsdecode(output.out.removesuffix(b"\n"))
        self.commits = _in_folder(self._real_cwd, "rev-parse", "--verify", "--quiet", "HEAD").code == 0
        self._cwd = cwd
        self._settings = tuple(self._without_filters())

    def states(self, paths: Sequence[str]) -> Iterator[tuple[str, GitState]]:
        """Yield each of these files (absolute paths) that git knows, with its state."""
        named = {relative: path for path in paths if (relative := self._relative(path)) is not None}
        for batch in _batches(named):
            status = self._ask(*_STATUS, "--ignored=traditional", "--", *batch)
            states = {path: GitState(code=code, words=_words(code)) for code, path in _entries(status)}
            rest = [] if status.cut else [path for path in batch if path not in states]
            tracked = self._ask("ls-files", "-z", "--", *rest) if rest else None
            states |= dict.fromkeys(_names(tracked), _UNCHANGED) if tracked else {}
            yield from ((named[path], state) for path, state in states.items() if path in named)

    def totals(self, touched: Collection[str]) -> GitTotals:
        """Return counts over the whole repository; ``touched`` files (absolute paths) are not among the others."""
        known = {self._relative(path) for path in touched}
        status = self._ask(*_STATUS, limit=_TOTALS_BYTES)
        entries = list(_entries(status))
        counts = Counter(word for code, _ in entries for word in _words(code))
        return GitTotals(
            staged=counts["staged"],
            unstaged=counts["unstaged"] + counts["conflict"],
            untracked=counts["untracked"],
            others=sum(path not in known for _, path in entries),
            cut=status.cut,
        )

    def diff(self, path: str) -> GitDiff:
        """Return the diff of one file (an absolute path) against the last commit."""
        relative = self._relative(path)
        if relative is None or not self.commits:
            return GitDiff(answer=GitAnswer.OK if self.commits else GitAnswer.NO_COMMITS)
        try:
            output = self._ask(*_DIFF, "--", relative, limit=DIFF_BYTES)
        except GitError as error:
            return GitDiff(answer=error.answer, detail=error.detail)
        return GitDiff(answer=GitAnswer.OK, text=output.out.decode("utf-8", "replace"), cut=output.cut)

    def _relative(self, path: str) -> str | None:
        """Return the path relative to the repository; None if it is outside of it, or is not a valid path."""
        inside = below(path, self._cwd)
        relative = below(path if inside is None else f"{self._real_cwd.rstrip('/')}/{inside}", self.top)
        if relative is None or "\0" in relative:
            return None
        try:
            return relative if len(os.fsencode(relative)) <= _PATH_BYTES else None
        except UnicodeEncodeError:
            return None

    def _ask(self, *arguments: str, limit: int = 1 << 20) -> GitOutput:
        output = _in_folder(self.top, *arguments, settings=self._settings, limit=limit)
        if output.code:
            raise _failed(output)
        return output

    def _without_filters(self) -> Iterator[str]:
        """Yield settings that empty the commands of every filter driver."""
        config = _in_folder(self.top, "config", "-z", "--name-only", "--get-regexp", r"^filter\.")
        keys = {os.fsdecode(key).rpartition(".")[0] for key in config.out.split(b"\0") if key}
        # `-c` ends a name at its first "=", so it cannot switch off a driver with one in its name.
        if config.code not in (0, 1) or len(keys) > _MOST_FILTERS or any("=" in key for key in keys):
            raise GitError(GitAnswer.FAILED, "its config has filters that cannot be disabled")
        for key in sorted(keys):
            yield from (f"{key}.clean=", f"{key}.process=", f"{key}.smudge=", f"{key}.required=false")


def _in_folder(folder: str, *arguments: str, settings: Sequence[str] = (), limit: int = 1 << 20) -> GitOutput:
    """Call git in a folder as it was recorded: an agent that can replace it with a link chooses no other repository.

    Raises:
        GitError: a link is in its place; or as for :func:`.git_process.run_git`.
    """
    try:
        with opened(folder) as entered:
            return run_git(entered, *arguments, settings=settings, limit=limit)
    except FolderError as error:
        raise GitError(GitAnswer.FAILED, str(error)) from None


def _failed(output: GitOutput) -> GitError:
    return GitError(GitAnswer.FAILED, one_line(output.error, 200))


def _batches(paths: Collection[str]) -> Iterator[list[str]]:
    batch: list[str] = []
    size = 0
    for path in paths:
        length = len(os.fsencode(path)) + 1
        if batch and size + length > _BATCH_BYTES:
            yield batch
            batch, size = [], 0
        batch.append(path)
        size += length
    if batch:
        yield batch


def _entries(output: GitOutput) -> Iterator[tuple[str, str]]:
    """Yield code and path of each entry of a status without renames."""
    return ((name[:2], name[3:]) for name in _names(output))


def _names(output: GitOutput) -> Iterator[str]:
    """Yield the names between NUL bytes; if the output was cut, without its unfinished last name."""
    return map(os.fsdecode, output.out.split(b"\0")[:-1])


def _words(code: str) -> tuple[str, ...]:
    whole = {"??": "untracked", "!!": "ignored", "  ": "unchanged"}.get(code)
    if whole or code in _CONFLICTS:
        return (whole or "conflict",)
    places = zip(("staged", "unstaged"), code, strict=False)
    return tuple(word for word, letter in places if letter != " ")
