"""A session's changes to files: one edit, one file, its state in git, and all of them together.

Frozen values without any I/O.  ``None`` means "not known" and is never turned into 0.  A path below the session's
folder is shown relative to it; any other is absolute.
"""

from enum import StrEnum

from msgspec import Struct

from agentdash.sessions.model.session import StepStatus
from agentdash.sessions.rules.step_outcome import took_effect


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


class GitAnswer(StrEnum):
    """The success of a query to git, or the reason of its failure."""

    OK = "ok"
    NO_COMMITS = "no commits yet"
    NO_REPOSITORY = "not a repository"
    NO_GIT = "git is not installed"
    NO_FOLDER = "the folder no longer exists"
    TIMED_OUT = "timed out"
    FAILED = "failed"


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


class SessionChanges(Struct, frozen=True, kw_only=True):
    """All known changes of a session to files, in the order in which it first touched them."""

    session: str
    cwd: str
    turn: int | None = None
    """The only turn of the changes; None for all."""
    files: tuple[FileChanges, ...] = ()
    more: int = 0
    """The number of edits of further files, which are only counted."""
    git: GitReport | None = None
    """None if git was not asked."""
    notes: tuple[str, ...] = ()
    """The missing parts and the reasons, as sentences for people."""
