"""The state of a session's repository when the session began: the net changes are compared with it.

If nothing differed from the last commit, that commit is the whole record.  Else a tree is made of the files as they
were, with an index and a folder of objects of its own in the session's folder: the user's repository gets no object,
no reference and no other index.  Files that are too large for that are recorded by size and time alone.
"""

import os
import stat
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import msgspec
from msgspec import Struct

from agentdash.sessions.model import typed
from agentdash.sessions.model.clock import now_ms
from agentdash.sessions.runner.git.git_process import GitAnswer, GitError
from agentdash.sessions.runner.git.work_tree import STATUS, WorkTree
from agentdash.sessions.storage.paths import SessionFolder, write_atomic

RECORD_SECONDS = 2.0
"""The longest time that the record delays the start of the agent."""

FILE_BYTES = 1 << 20
"""The size up to which a file that differs from the last commit is recorded with its content."""

TOTAL_BYTES = 16 << 20
"""The most bytes of such contents of one session."""

MOST_FILES = 10_000
"""The most files that may differ from the last commit."""

INDEX_BYTES = 256 << 20
"""The size up to which an index is copied."""

_LIST_BYTES = 4 << 20
_QUICK = ("core.looseCompression=1", "core.fsync=none", "core.safecrlf=false", "core.splitIndex=false")


class StartState(Struct, frozen=True, kw_only=True):
    """The record; names of files have one character for each byte."""

    at: int = 0
    """UTC ms."""
    top: str = ""
    """The top folder of the repository."""
    tree: str = ""
    """The commit, or the tree of all files as they were; empty if nothing could be recorded."""
    stats: dict[str, tuple[int, int]] = {}
    """Size and time of change (ns) of the files whose content at the start is not in ``tree``."""
    why: str = ""
    """The reason why nothing was recorded."""


def record(folder: SessionFolder, cwd: str) -> None:
    """Record the state of the repository around a session's folder, unless that was done; takes a bounded time."""
    if folder.start.exists():
        return
    try:
        state = _state(folder, cwd, time.monotonic() + RECORD_SECONDS)
    except GitError as error:
        state = StartState(at=now_ms(), why=error.detail or error.answer)
    except OSError as error:
        state = StartState(at=now_ms(), why=str(error.strerror or error))
    with suppress(OSError, UnicodeEncodeError):
        write_atomic(folder.start, msgspec.json.encode(state))


def read(folder: SessionFolder) -> StartState | None:
    """Return the record of a session; None if there is none, as for one that an older version began."""
    try:
        return typed.decode(folder.start.read_bytes(), StartState)
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
        return None


def _state(folder: SessionFolder, cwd: str, until: float) -> StartState:
    repository = WorkTree(cwd, until)
    status = repository.ask(*STATUS, "--ignore-submodules=dirty", limit=_LIST_BYTES)
    # A folder among the files is a repository of its own.
    names = [entry[3:] for entry in status.out.split(b"\0")[:-1] if not entry.endswith(b"/")]
    if status.cut or len(names) > MOST_FILES:
        raise GitError(GitAnswer.FAILED, f"more than {MOST_FILES:,} files differed from the last commit")
    if not names and repository.head is not None:
        return StartState(at=now_ms(), top=repository.top, tree=repository.head)
    large = dict(_large(repository.top, names))
    tree = _tree(repository, folder.start_objects, [name for name in names if name not in large])
    stats = {name.decode("latin-1"): stat for name, stat in large.items()}
    return StartState(at=now_ms(), top=repository.top, tree=tree, stats=stats)


def _large(top: str, names: list[bytes]) -> Iterator[tuple[bytes, tuple[int, int]]]:
    """Yield the files whose contents have no room, with size and time."""
    room = TOTAL_BYTES
    for name in names:
        with suppress(OSError):
            facts = os.lstat(os.path.join(os.fsencode(top), name))  # noqa: PTH118 - bytes
            if facts.st_size > min(FILE_BYTES, room):
                yield name, (facts.st_size, facts.st_mtime_ns)
            else:
                room -= facts.st_size


def _tree(repository: WorkTree, objects: Path, names: list[bytes]) -> str:
    """Return the tree of the repository's files as they are, with new objects in a folder of their own."""
    objects.mkdir(mode=0o700, exist_ok=True)
    env = own_index(repository, objects) | {"GIT_OBJECT_DIRECTORY": str(objects)}
    shared = {"GIT_ALTERNATE_OBJECT_DIRECTORIES": quoted(repository.place_of("objects"))}
    listed = objects / "names"
    listed.write_bytes(b"".join(name + b"\0" for name in names))
    try:
        with listed.open("rb") as stdin:
            # Without the repository's own objects: git would set the time of one that it finds there.
            repository.ask("update-index", "-z", "--add", "--remove", "--stdin", settings=_QUICK, stdin=stdin, env=env)
        # A partial clone lacks contents that no file of today needs.
        return (
            repository.ask("write-tree", "--missing-ok", settings=_QUICK, env=env | shared).out.decode("ascii").strip()
        )
    finally:
        for path in (listed, objects / "index"):
            path.unlink(missing_ok=True)


def own_index(repository: WorkTree, folder: Path) -> dict[str, str]:
    """Copy the repository's index into a folder; return the variables with which git uses the copy."""
    index = folder / "index"
    with suppress(FileNotFoundError):  # a new repository has none
        _copy(repository.place_of("index"), index)
    return {"GIT_INDEX_FILE": str(index)}


def _copy(source: str, target: Path) -> None:
    """Copy an index with its time: files that are as old as their index are compared by content."""
    # An agent may have put a pipe in its place.
    with open(os.open(source, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as index:
        facts = os.fstat(index.fileno())
        if not stat.S_ISREG(facts.st_mode) or facts.st_size > INDEX_BYTES:
            raise GitError(GitAnswer.FAILED, "its index is too large")
        with open(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600), "wb") as copy:
            while data := index.read(1 << 20):
                copy.write(data)
    os.utime(target, ns=(facts.st_atime_ns, facts.st_mtime_ns))


def quoted(path: str) -> str:
    """Return a path as an entry of a list of object folders."""
    escaped = path.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
