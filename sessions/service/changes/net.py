"""The net result of a session: the files as they are now against its start, by git or from the recorded edits.

Git compares the tree of the start (:mod:`...runner.git.start_state`) with the files on disk, through an index in a
folder of its own: what was staged or committed meanwhile makes no difference, and the repository is not touched.
"""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Self

from msgspec import Struct, structs

from agentdash.sessions.runner.git.git_process import GitAnswer, GitError
from agentdash.sessions.runner.git.start_state import StartState, own_index, quoted
from agentdash.sessions.runner.git.work_tree import WorkTree
from agentdash.sessions.service.changes.git import DIFF_BYTES, GitDiff
from agentdash.sessions.service.changes.model import FileChanges, NetBasis, NetChanges, NetContent, NetFile
from agentdash.sessions.service.changes.net_of_edits import net_of_edits
from agentdash.sessions.storage.scratch import scratch_parent
from agentdash.sessions.text.relative_paths import place_of

MOST_FILES = 10_000
"""The most files that are listed; further ones are counted."""

LARGE_BYTES = 8 << 20
"""The size from which git does not compare a file line by line."""

NOT_RECORDED = "the session's start was not recorded"

_LIST_BYTES = 8 << 20
_EMPTY = {
    40: "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391",
    64: "473a0f4c3be8a93681a267e3b1e9a7dcda1185436fe141f7749120a303721813",
}
"""The name of an empty file's content, by the length of names."""

_DIFF = (
    "diff-index", "-M", "-l200", "--no-color", "--no-ext-diff", "--no-textconv", "--ignore-submodules=dirty",
    "--submodule=short", "--src-prefix=a/", "--dst-prefix=b/",
)  # fmt: skip
_SETTINGS = (f"core.bigFileThreshold={LARGE_BYTES}", "core.splitIndex=false")
_CONTENTS = {b"120000": NetContent.LINK, b"160000": NetContent.SUBMODULE}
_KINDS = {"A": "add", "D": "delete"}

FindNet = Callable[[NetFile], GitDiff]
"""Returns the diff of one file."""


def net_changes(
    cwd: str, files: Sequence[FileChanges], start: StartState | None, objects: Path, *, git: bool = True
) -> NetChanges:
    """Return the net result of a session.

    Args:
        files: the files of the recorded edits, with their states in git.
        start: the recorded start; None if there is none.
        objects: the folder of the objects that the start needs.
        git: False to use the recorded edits alone.
    """
    edited = [file for file in files if file.touched]
    try:
        if not git:
            raise GitError(GitAnswer.OK)
        with Comparison(cwd, start, objects) as comparison:
            found = list(comparison.files())
            unknown = [file for file in edited if comparison.is_foreign(file)]
            basis, why = comparison.basis, comparison.why
    except GitError as error:
        found, unknown, basis, why = [], edited, NetBasis.EDITS, error.detail or (str(error.answer) if git else None)
    places = {file.absolute: place for place, file in enumerate(edited)}
    found += [net for file in unknown if (net := net_of_edits(file)) is not None]
    found.sort(key=lambda net: (places.get(net.absolute, len(places)), net.path))
    listed = [structs.replace(net, by_edits=net.absolute in places) for net in found[:MOST_FILES]]
    return NetChanges(basis=basis, files=tuple(listed), more=len(found) - len(listed), why=why)


def net_diffs(cwd: str, start: StartState | None, objects: Path) -> FindNet:
    """Return a function from a file of the net result to its diff; it keeps a temporary folder while it is kept."""
    try:
        comparison = Comparison(cwd, start, objects)
    except GitError as error:
        trouble = GitDiff(answer=error.answer, detail=error.detail)
        return lambda file: _own(file) or trouble
    return lambda file: _own(file) or comparison.diff(file)


def _own(file: NetFile) -> GitDiff | None:
    """Return the diff of a file that git does not know."""
    if file.basis is not NetBasis.EDITS:
        return None
    return GitDiff(answer=GitAnswer.OK, text=file.diff or "", cut=file.cut)


class Comparison:
    """The files on disk against the start of a session, or against the last commit if that was not recorded.

    Raises:
        GitError: git cannot compare them; all methods except ``diff`` raise it, too.
    """

    def __init__(self, cwd: str, start: StartState | None, objects: Path) -> None:
        if start is not None and start.why == GitAnswer.NO_REPOSITORY:
            raise GitError(GitAnswer.NO_REPOSITORY, "the folder was in no git repository at the session's start")
        self._cwd = cwd
        self._repository = WorkTree(cwd)
        self._objects = objects
        try:
            self._folder = TemporaryDirectory(dir=scratch_parent(), ignore_cleanup_errors=True)
        except OSError as error:
            raise GitError(GitAnswer.FAILED, str(error)) from None
        self._env: Mapping[str, str] = {}
        self._tree = ""
        self._untracked: list[bytes] = []
        self._stats: Mapping[str, tuple[int, int]] = {}
        self.basis = NetBasis.START
        self.why: str | None = None
        try:
            self._compare_with(start)
        except BaseException:
            self._folder.cleanup()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._folder.cleanup()

    def _compare_with(self, start: StartState | None) -> None:
        repository, why = self._repository, self._unusable(start)
        if start is not None and why is None:
            try:
                self._prepare(start.tree)
            except GitError as error:
                if error.answer is GitAnswer.TIMED_OUT:
                    raise
                why = f"the session's start cannot be read: {error.detail}"
            else:
                self._stats = {os.fsdecode(name.encode("latin-1")): facts for name, facts in start.stats.items()}
                return
        self.basis, self.why = NetBasis.HEAD, why
        empty = repository.ask("hash-object", "-t", "tree", "--stdin").out.decode("ascii").strip()
        self._prepare(repository.head or empty)

    def _unusable(self, start: StartState | None) -> str | None:
        """Return why the recorded start cannot be compared with; None if it can."""
        if start is None or not start.tree:
            return f"{NOT_RECORDED}: {start.why}" if start is not None and start.why else NOT_RECORDED
        return None if start.top == self._repository.top else "the session began in another repository"

    def _prepare(self, tree: str) -> None:
        """Make an index of the tree, with the times of unchanged files, and an entry for each file that is new."""
        repository, folder = self._repository, Path(self._folder.name)
        env = own_index(repository, folder)
        if self._objects.is_dir():
            env["GIT_ALTERNATE_OBJECT_DIRECTORIES"] = quoted(str(self._objects))
        repository.ask("read-tree", "--reset", tree, settings=_SETTINGS, env=env)
        repository.ask("update-index", "-q", "--refresh", settings=_SETTINGS, limit=_LIST_BYTES, env=env)
        listed = repository.ask("ls-files", "-z", "--others", "--exclude-standard", limit=_LIST_BYTES, env=env)
        self._untracked = listed.out.split(b"\0")[:-1]
        names = folder / "names"
        entry = b"100644 " + _EMPTY[len(tree)].encode() + b"\t"
        names.write_bytes(b"".join(entry + name + b"\0" for name in self._untracked if not name.endswith(b"/")))
        with names.open("rb") as stdin:
            repository.ask("update-index", "-z", "--index-info", settings=_SETTINGS, stdin=stdin, env=env)
        self._env, self._tree = env, tree

    def files(self) -> Iterator[NetFile]:
        """Yield the files that differ."""
        output = self._repository.ask(
            *_DIFF, "-z", "--raw", "--numstat", self._tree, settings=_SETTINGS, limit=2 * _LIST_BYTES, env=self._env
        )
        seen: set[str] = set()
        for file in _differing(output.out):
            seen.update(file.paths)
            if (net := self._net(file)) is not None:
                yield net
        for entry in self._untracked:
            if entry.endswith(b"/"):
                yield self._named(os.fsdecode(entry[:-1]), "add", content=NetContent.REPOSITORY)
        for name in set(self._stats) - seen:
            if not os.path.lexists(self._absolute(name)):
                yield self._named(name, "delete", content=NetContent.LARGE)

    def is_foreign(self, file: FileChanges) -> bool:
        """Return whether git does not know a file: it is outside of the repository, or ignored."""
        ignored = file.git is not None and "ignored" in file.git.words
        return ignored or self._repository.relative(file.absolute) is None

    def diff(self, file: NetFile) -> GitDiff:
        """Return the diff of one file."""
        if file.content in (NetContent.LARGE, NetContent.REPOSITORY):
            return GitDiff(answer=GitAnswer.OK)
        names = [place_of(name, self._cwd).absolute for name in (file.moved_from, file.absolute) if name]
        paths = [path for path in map(self._repository.relative, names) if path is not None]
        try:
            output = self._repository.ask(
                *_DIFF, "-p", self._tree, "--", *paths, settings=_SETTINGS, limit=DIFF_BYTES, env=self._env
            )
        except GitError as error:
            return GitDiff(answer=error.answer, detail=error.detail)
        return GitDiff(answer=GitAnswer.OK, text=_hunks(output.out.decode("utf-8", "replace")), cut=output.cut)

    def _net(self, file: "_Differing") -> NetFile | None:
        """Return a file as the front ends show it; None if it is the same as at the start."""
        name = file.paths[-1]
        moved = self._named(file.paths[0], "").path if len(file.paths) > 1 else None
        kind = _KINDS.get(file.status, "update")
        if (then := self._stats.get(name)) is not None:
            now = _stat(self._absolute(name))
            if now == then:
                return None
            return self._named(name, "update" if now else "delete", content=NetContent.LARGE, moved_from=moved)
        content = _CONTENTS.get(file.modes[1]) or _CONTENTS.get(file.modes[0]) or NetContent.TEXT
        if file.lines is None and content is NetContent.TEXT:
            if file.status == "M" and file.modes[0] == file.modes[1] and not file.counted:
                return None  # its time differs, not its content
            size = _stat(self._absolute(name))
            content = NetContent.LARGE if size is not None and size[0] > LARGE_BYTES else NetContent.BINARY
        added, removed = file.lines or (None, None)
        return self._named(name, kind, content=content, added=added, removed=removed, moved_from=moved)

    def _absolute(self, name: str) -> str:
        return self._repository.absolute(name)

    def _named(self, name: str, kind: str, **facts: Any) -> NetFile:
        place = place_of(self._absolute(name), self._cwd)
        return NetFile(path=place.shown, absolute=place.absolute, kind=kind, basis=self.basis, **facts)


class _Differing(Struct, frozen=True, kw_only=True):
    """One entry of git's list of files that differ."""

    modes: tuple[bytes, bytes]
    status: str
    paths: tuple[str, ...]
    """The path; of a moved file the former path and the present one."""
    counted: bool
    """True if git compared the contents."""
    lines: tuple[int, int] | None
    """Added and removed lines; None if the content is not text, or was not compared."""


def _differing(output: bytes) -> Iterator[_Differing]:
    """Yield the entries of ``--raw --numstat -z``; if the output was cut, without their lines."""
    words = iter(output.split(b"\0")[:-1])
    entries: list[tuple[tuple[bytes, bytes], str, tuple[str, ...]]] = []
    counts: dict[str, tuple[int, int] | None] = {}
    with suppress(StopIteration):  # the output was cut
        while True:
            word = next(words)
            if word.startswith(b":"):
                before, after, _, _, status = word[1:].split(b" ")
                paths = (next(words), next(words)) if status[:1] in (b"R", b"C") else (next(words),)
                entries.append(((before, after), status[:1].decode("latin-1"), tuple(map(os.fsdecode, paths))))
                continue
            added, removed, path = word.split(b"\t", 2)
            if not path:
                _, path = next(words), next(words)
            counts[os.fsdecode(path)] = None if added == b"-" else (int(added), int(removed))
    for modes, kind, names in entries:
        name = names[-1]
        yield _Differing(modes=modes, status=kind, paths=names, counted=name in counts, lines=counts.get(name))


def _stat(path: str) -> tuple[int, int] | None:
    """Return the size and the time of change (ns) of a file; None if it does not exist."""
    try:
        facts = os.lstat(path)
    except (OSError, ValueError):
        return None
    return facts.st_size, facts.st_mtime_ns


def _hunks(diff: str) -> str:
    """Return a diff without its head, unless that says more than the names of the file."""
    head, _, hunks = diff.partition("\n@@")
    return f"@@{hunks}" if hunks and "\nold mode" not in head else diff
