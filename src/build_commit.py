"""The commit in a wheel and in an archive of the sources: that of the checkout from which they are made."""

import subprocess
from pathlib import Path

from setuptools.command.build_py import build_py
from setuptools.command.sdist import sdist

ROOT = Path(__file__).parents[1]
PACKAGE = "agentdash"
COMMIT = "commit.txt"
"""Read by ``sessions/service/build.py``."""


def write_commit(folder: Path) -> None:
    """Write the checkout's commit into the folder of a build; a build from a source archive has its file already."""
    if not (ROOT / ".git").exists():
        return
    describe = ["git", "-C", str(ROOT), "describe", "--always", "--dirty", "--abbrev=8", "--exclude=*"]
    try:
        answer = subprocess.run(describe, capture_output=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return  # no git, or a checkout of another user: the build says no commit
    (folder / COMMIT).unlink(missing_ok=True)  # it may be a link to the file of the sources
    (folder / COMMIT).write_bytes(answer)


class BuildWithCommit(build_py):
    """A wheel's files, and the commit; an editable installation is asked for its commit when it runs."""

    def run(self) -> None:
        """Build."""
        super().run()
        if not self.editable_mode:
            write_commit(Path(self.build_lib) / PACKAGE)


class SourcesWithCommit(sdist):
    """The archive of the sources, and the commit."""

    def make_release_tree(self, base_dir: str, files: list[str]) -> None:
        """Gather the files."""
        super().make_release_tree(base_dir, files)
        write_commit(Path(base_dir) / "src" / PACKAGE)
