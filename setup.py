"""The packages of agentdash and the commit of a build; all other facts of the project are in ``pyproject.toml``.

The repository root is the package ``agentdash``, and setuptools discovers no packages below a root with a different
name.  The list is computed here, so that a new folder of modules or of data needs no entry.
"""

import subprocess
import warnings
from pathlib import Path

from setuptools import find_namespace_packages, setup
from setuptools.command.build_py import build_py
from setuptools.command.sdist import sdist

ROOMS = ("docs.schema", "sessions", "tui", "widgets")
ROOT = Path(__file__).parent
COMMIT = "commit.txt"
"""Read by ``sessions/build.py``."""


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
            write_commit(Path(self.build_lib) / "agentdash")


class SourcesWithCommit(sdist):
    """The archive of the sources, and the commit."""

    def make_release_tree(self, base_dir: str, files: list[str]) -> None:
        """Gather the files."""
        super().make_release_tree(base_dir, files)
        write_commit(Path(base_dir))


# setuptools (80) warns at each editable install about folders that have the name of the package.
warnings.filterwarnings("ignore", message="Editable installation")

found = find_namespace_packages(include=[f"{room}{below}" for room in ROOMS for below in ("", ".*")])
packages = [name for name in found if "__pycache__" not in name]
# setuptools excludes this script from the root package by its name.
setup(
    script_name="setup.py",
    packages=["agentdash", *(f"agentdash.{name}" for name in packages)],
    cmdclass={"build_py": BuildWithCommit, "sdist": SourcesWithCommit},
)
