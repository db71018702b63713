"""What a session did to files: one edit, one file, what git says of it, and all of it together.

Frozen values without any I/O.  ``None`` means "not known" and is never turned into 0.  A path is shown relative to the
session's folder where it lies below it, else absolute.
"""

from enum import StrEnum

from msgspec import Struct

from ..model import StepStatus


class Edit(Struct, frozen=True, kw_only=True):
    """One step's work on one file; a file that was moved has one edit where it was and one where it is now."""

    turn: int
    index: int
    """The step, as a trajectory numbers it."""
    kind: str
    """``add``, ``update`` or ``delete``."""
    status: StepStatus | None = None
    """How the step ended; None where the agent does not say."""
    at: int | None = None
    """When the step ended, or began where its end is not known; UTC ms."""
    diff: str | None = None
    """Unified text; None where nobody has it, or where it had no room (``cut``)."""
    added: int | None = None
    removed: int | None = None
    cut: bool = False
    """The diff is longer than what is kept of it; the counts are those of the whole."""
    moved_to: str | None = None
    moved_from: str | None = None

    @property
    def counts(self) -> bool:
        """Whether it changed the file: what failed, was declined, was interrupted or still runs is only tried."""
        return self.status in (None, StepStatus.OK)


class GitState(Struct, frozen=True, kw_only=True):
    """What ``git status`` says of one file."""

    code: str
    """Two letters of ``--porcelain=v1``: index, working tree; two blanks where the file is as it was committed."""
    words: tuple[str, ...]
    """``staged``, ``unstaged``, ``untracked``, ``ignored``, ``conflict``, ``unchanged``."""


class FileChanges(Struct, frozen=True, kw_only=True):
    """One file that a session touched."""

    path: str
    absolute: str
    kind: str | None
    """Over the whole session: ``delete`` if that came last, ``add`` if that came first, else ``update``; None where no
    edit is known to have changed the file."""
    touched: int
    """Edits that changed it."""
    added: int | None
    removed: int | None
    """Lines that came and went, of all edits whose diff is known; None where there is none of those."""
    partial: bool = False
    """Some edit that changed the file has no known diff: the lines are the least that came and went."""
    edits: tuple[Edit, ...] = ()
    more_edits: int = 0
    """Edits that are counted and not kept."""
    git: GitState | None = None
    """None where git was not asked or does not know the file."""


class GitAnswer(StrEnum):
    """Whether git could be asked, and if not, why."""

    OK = "ok"
    NO_COMMITS = "no commits yet"
    NO_REPOSITORY = "not a repository"
    NO_GIT = "git is not installed"
    NO_FOLDER = "the folder is gone"
    TIMED_OUT = "timed out"
    FAILED = "failed"


class GitTotals(Struct, frozen=True, kw_only=True):
    """How many files of the whole repository differ from the last commit; a file can be in two of the counts."""

    staged: int = 0
    unstaged: int = 0
    untracked: int = 0
    others: int = 0
    """Of those files, the ones that no step of the session names: changed by commands, by others, or before."""
    cut: bool = False
    """There are more than were counted."""


class GitReport(Struct, frozen=True, kw_only=True):
    """What git said about the session's folder."""

    answer: GitAnswer
    detail: str | None = None
    """Git's own words where it failed."""
    top: str | None = None
    """The folder of the repository."""
    totals: GitTotals | None = None


class SessionChanges(Struct, frozen=True, kw_only=True):
    """Everything a session is known to have done to files, in the order in which it first touched them."""

    session: str
    cwd: str
    turn: int | None = None
    """The only turn that was looked at; None for all."""
    files: tuple[FileChanges, ...] = ()
    more: int = 0
    """Edits of further files, which are only counted."""
    git: GitReport | None = None
    """None where git was not asked."""
    notes: tuple[str, ...] = ()
    """What is missing, and why; sentences for people."""
