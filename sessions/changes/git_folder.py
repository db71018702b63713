"""Facts that git has about a folder: its branch, and its files without the ignored ones."""

import os

from .git_process import GitError, GitOutput, run_git

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
