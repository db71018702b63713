"""A session's changes to files: one edit, one file, its state in git, and all of them together.

Frozen values without any I/O.  ``None`` means "not known" and is never turned into 0.  A path below the session's
folder is shown relative to it; any other is absolute.
"""

from enum import StrEnum

from msgspec import Struct

from agentdash.sessions.model.session import StepStatus
from agentdash.sessions.rules.step_outcome import took_effect
from agentdash.sessions.runner.git.git_process import GitAnswer


class Edit(Struct, frozen=True, kw_only=True):
    """One step's edit of one file; a moved file has one edit at its old path and one at its new path."""

    turn: int
    index: int
    """The number of the step in its turn."""
    kind: str
    """``add``, ``update`` or ``delete``."""
    status: StepStatus | None = None
    """The ending of the step; None if the agent does not report it."""
    at: int | None = None
    """The end of the step, or its beginning if its end is not known; UTC ms."""
    diff: str | None = None
    """A unified diff; None if it is not known, or had no room (``cut``)."""
    added: int | None = None
    removed: int | None = None
    cut: bool = False
    """True if only a part of the diff is kept; the counts are those of the whole."""
    moved_to: str | None = None
    moved_from: str | None = None

    @property
    def counts(self) -> bool:
        """True if it changed the file: an edit that failed, was declined or interrupted, or still runs, did not."""
        return took_effect(self.status)


class GitState(Struct, frozen=True, kw_only=True):
    """The state of one file in ``git status``."""

    code: str
    """Two letters of ``--porcelain=v1``: index, working tree; two blanks if the file is as it was committed."""
    words: tuple[str, ...]
    """``staged``, ``unstaged``, ``untracked``, ``ignored``, ``conflict``, ``unchanged``."""


class FileChanges(Struct, frozen=True, kw_only=True):
    """One file that a session touched."""

    path: str
    absolute: str
    kind: str | None
    """Over the whole session: ``delete`` if that came last, ``add`` if that came first, else ``update``; None if no
    edit is known to have changed the file."""
    touched: int
    """The number of edits that changed the file."""
    added: int | None
    removed: int | None
    """Added and removed lines of all edits whose diff is known; None if no diff is known."""
    partial: bool = False
    """True if an edit that changed the file has no known diff: the line counts are then a minimum."""
    edits: tuple[Edit, ...] = ()
    more_edits: int = 0
    """The number of edits that are counted and not kept."""
    git: GitState | None = None
    """None if git was not asked or does not know the file."""


class GitTotals(Struct, frozen=True, kw_only=True):
    """Counts of files in the whole repository that differ from the last commit; two counts can include one file."""

    staged: int = 0
    unstaged: int = 0
    untracked: int = 0
    others: int = 0
    """The number of those files that no step of the session names: changed by commands, by others, or before."""
    cut: bool = False
    """True if there are more files than were counted."""


class GitReport(Struct, frozen=True, kw_only=True):
    """The answer of git about the session's folder."""

    answer: GitAnswer
    detail: str | None = None
    """Git's own message if it failed."""
    top: str | None = None
    """The top folder of the repository."""
    totals: GitTotals | None = None


class NetBasis(StrEnum):
    """The state with which the files are compared as they are now."""

    START = "start"
    """The recorded start of the session."""
    HEAD = "head"
    """The last commit, because the start was not recorded."""
    EDITS = "edits"
    """The agent's recorded edits, taken back from the files as they are: git does not know the files."""


class NetContent(StrEnum):
    """The kind of a file's content."""

    TEXT = "text"
    BINARY = "binary"
    LARGE = "large"
    """Too large for a diff."""
    LINK = "link"
    SUBMODULE = "submodule"
    REPOSITORY = "repository"
    """A folder with a repository of its own, which git does not look into."""


class NetFile(Struct, frozen=True, kw_only=True):
    """One file that differs from its state at the basis, by any author."""

    path: str
    absolute: str
    kind: str
    """``add``, ``update`` or ``delete``; a moved file is an ``update`` with ``moved_from``."""
    content: NetContent = NetContent.TEXT
    added: int | None = None
    """Lines; None if they are not known, or the content is not text."""
    removed: int | None = None
    moved_from: str | None = None
    basis: NetBasis = NetBasis.START
    by_edits: bool = False
    """True if a recorded edit of the session changed it; else a command or another program did."""
    diff: str | None = None
    """A unified diff; None if it is not known, or was not asked for."""
    cut: bool = False
    """True if only a part of the diff is kept."""


class NetChanges(Struct, frozen=True, kw_only=True):
    """The files now against the start of the session."""

    basis: NetBasis
    files: tuple[NetFile, ...] = ()
    """In the order in which the session first edited them, then the others by name."""
    more: int = 0
    """The number of further files, which are only counted."""
    why: str | None = None
    """The reason for another basis than the start."""


class SessionChanges(Struct, frozen=True, kw_only=True):
    """All known changes of a session to files, in the order in which it first touched them."""

    session: str
    cwd: str
    turn: int | None = None
    """The only turn of the changes; None for all."""
    net: NetChanges | None = None
    """The net result; None for one turn."""
    files: tuple[FileChanges, ...] = ()
    more: int = 0
    """The number of edits of further files, which are only counted."""
    git: GitReport | None = None
    """None if git was not asked."""
    notes: tuple[str, ...] = ()
    """The missing parts and the reasons, as sentences for people."""
