"""The build of agentdash: two installations of one version can be told apart by schema and commit."""

from pathlib import Path

from .. import __version__
from .changes.git_process import GitError, run_git
from .storage.schema import VERSION

ROOT = Path(__file__).parent.parent
"""The package; in a checkout, the repository."""

COMMIT = "commit.txt"
"""The file in an installed package that names the commit it was built from; ``setup.py`` writes it."""


def described() -> str:
    """Return the version, the schema of its database, and the commit if it is known: ``0.1.0 (schema 15, 8d180481)``.

    A commit of a checkout with changed files ends with ``-dirty``, as git writes it.
    """
    commit = _commit()
    return f"{__version__} (schema {VERSION}{f', commit {commit}' if commit else ''})"


def _commit() -> str | None:
    # A folder of packages may itself be in a repository: only a checkout's own commit counts.
    if (ROOT / ".git").exists():
        return _commit_of_checkout()
    try:
        return (ROOT / COMMIT).read_text("utf-8").strip() or None
    except (OSError, ValueError):
        return None


def _commit_of_checkout() -> str | None:
    try:
        output = run_git(str(ROOT), "describe", "--always", "--dirty", "--abbrev=8", "--exclude=*")
    except GitError:
        return None
    return output.out.decode("utf-8", "replace").strip() or None if output.code == 0 else None
