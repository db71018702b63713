"""Queries to git about a session's files: their states, the totals of the repository, and one file's diff.

All queries are read-only and bounded; :mod:`...runner.git.git_process` describes how, and what a hostile repository
can still do.
A file outside of the repository, in a submodule or in a nested repository has no state.
"""

import os
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence

from msgspec import Struct

from agentdash.sessions.runner.git.git_process import GitAnswer, GitError, GitOutput
from agentdash.sessions.runner.git.work_tree import STATUS, WorkTree
from agentdash.sessions.service.changes.model import GitReport, GitState, GitTotals

DIFF_BYTES = 1 << 20
"""The most bytes that are read of one file's diff."""

_TOTALS_BYTES = 8 << 20
_BATCH_BYTES = 65_536
"""The most bytes of paths in one call: far below the limit of a command line."""

_STATE = (*STATUS, "--ignore-submodules=all")
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


class Repository(WorkTree):
    """The repository that contains the folder of a session, and its answers about files."""

    def states(self, paths: Sequence[str]) -> Iterator[tuple[str, GitState]]:
        """Yield each of these files (absolute paths) that git knows, with its state."""
        named = {relative: path for path in paths if (relative := self.relative(path)) is not None}
        for batch in _batches(named):
            status = self.ask(*_STATE, "--ignored=traditional", "--", *batch)
            states = {path: GitState(code=code, words=_words(code)) for code, path in _entries(status)}
            rest = [] if status.cut else [path for path in batch if path not in states]
            tracked = self.ask("ls-files", "-z", "--", *rest) if rest else None
            states |= dict.fromkeys(_names(tracked), _UNCHANGED) if tracked else {}
            yield from ((named[path], state) for path, state in states.items() if path in named)

    def totals(self, touched: Collection[str]) -> GitTotals:
        """Return counts over the whole repository; ``touched`` files (absolute paths) are not among the others."""
        known = {self.relative(path) for path in touched}
        status = self.ask(*_STATE, limit=_TOTALS_BYTES)
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
        relative = self.relative(path)
        if relative is None or not self.commits:
            return GitDiff(answer=GitAnswer.OK if self.commits else GitAnswer.NO_COMMITS)
        try:
            output = self.ask(*_DIFF, "--", relative, limit=DIFF_BYTES)
        except GitError as error:
            return GitDiff(answer=error.answer, detail=error.detail)
        return GitDiff(answer=GitAnswer.OK, text=output.out.decode("utf-8", "replace"), cut=output.cut)


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
