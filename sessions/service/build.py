"""The build of agentdash: two installations of one version can be told apart by schema and commit."""

from pathlib import Path

from agentdash import __version__
from agentdash.sessions.runner.git.git_process import GitError, run_git
from agentdash.sessions.storage.schema import VERSION

PACKAGE = Path(__file__).parents[2]
"""The package; in a checkout its folders are links to those of the repository."""

COMMIT = "commit.txt"
"""The file in an installed package that names the commit it was built from; ``src/build_commit.py`` writes it."""


def described() -> str:
    """Return the version, the schema of its database, and the commit if it is known: ``0.1.0 (schema 15, 8d180481)``.

    A commit of a checkout with changed files ends with ``-dirty``, as git writes it.
    """
    commit = _commit()
    return f"{__version__} (schema {VERSION}{f', commit {commit}' if commit else ''})"


def _commit() -> str | None:
    # The sources, or the folder of packages, may be in a repository of another project: only their own commit counts.
    root = (PACKAGE / "sessions").resolve().parent
    try:
        if root == PACKAGE or not (root / ".git").exists():
            return (PACKAGE / COMMIT).read_text("utf-8").strip() or None
        output = run_git(str(root), "describe", "--always", "--dirty", "--abbrev=8", "--exclude=*")
    except (GitError, OSError, ValueError):
        return None
    return output.out.decode("utf-8", "replace").strip() or None if output.code == 0 else None
