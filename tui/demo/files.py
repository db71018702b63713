"""The files of the demo's agents: new ones below the projects folder, and conversations."""

import difflib
import hashlib
import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

PROJECTS, RECORDS = "projects", "files"
"""The folders of the projects, and of the digests of the files that the demo wrote, below the demo's folder."""


def is_inside(demo: Path, path: Path) -> bool:
    """Return whether a path is in the projects folder of a demo, with all symbolic links followed."""
    return path.resolve().is_relative_to(demo.resolve() / PROJECTS)


def write_own(demo: Path, path: Path, content: str) -> str:
    """Write a new file, or one that the demo wrote and that has not changed since; return its previous text.

    Raises:
        OSError: the file is not the demo's, or cannot be written.
    """
    if not is_inside(demo, path):
        raise PermissionError(f"{path} is outside the demo folder")
    path.parent.mkdir(parents=True, exist_ok=True)
    record = demo / RECORDS / _digest(os.fsencode(path.resolve()))
    before = path.read_bytes() if path.is_file() and not path.is_symlink() else b""
    if os.path.lexists(path):
        if path.is_symlink() or not record.is_file() or record.read_text("ascii") != _digest(before):
            raise FileExistsError(f"{path.name} exists and is not the demo's: not overwritten")
        path.unlink()
    with path.open("xb") as file:  # a file that appears at this moment is not overwritten either
        file.write(content.encode())
    replace(record, _digest(content.encode()))
    return before.decode("utf-8", "replace")


def replace(path: Path, text: str) -> None:
    """Write a file of the demo in one step; create its folder if needed."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    part = path.with_name(f"{path.name}.{os.getpid()}")
    part.write_text(text, "utf-8")
    part.replace(path)


_NO_SETTINGS = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
_BEGIN = ("-c", "user.name=demo", "-c", "user.email=demo@localhost", "commit", "-q", "--allow-empty", "-m", "Begin")


def make_repository(folder: Path) -> Path:
    """Make the folder of a project, a git repository if git is installed, and return it.

    It has a first commit, with which the changes of its sessions are compared; no settings of the user apply to it.
    """
    folder.mkdir(parents=True, exist_ok=True)
    git = shutil.which("git")
    if git is not None and not (folder / ".git").exists():
        for words in (("init", "-q", "--template="), _BEGIN):
            own = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
            subprocess.run(
                [git, *words], cwd=folder, env=own | _NO_SETTINGS, stdin=subprocess.DEVNULL, capture_output=True,
                check=False,
            )  # fmt: skip
    return folder


def hunks(before: str, after: str) -> list[str]:
    """Return the lines of a unified diff without its head."""
    return list(difflib.unified_diff(before.splitlines(), after.splitlines(), lineterm="", n=3))[2:]


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


class Conversation:
    """The prompts of one conversation, and the tokens that it used, in a file of the agent's own folder."""

    def __init__(self, home: Path, name: str) -> None:
        self.name = name
        self.home = home
        self._path = home / "demo" / f"{name}.json"
        self.prompts: list[tuple[str, str]] = []
        """Key and text of each, oldest first."""
        self.used = [0, 0, 0]
        """Input, cached input and output tokens."""

    @property
    def exists(self) -> bool:
        """True if the conversation was begun."""
        return self._path.is_file()

    def load(self) -> "Conversation":
        """Read the file; a file that is missing has no prompts."""
        if self.exists:
            kept: dict[str, Any] = json.loads(self._path.read_text("utf-8"))
            self.prompts, self.used = [(key, text) for key, text in kept["prompts"]], kept["used"]
        return self

    def save(self) -> None:
        """Write the file."""
        replace(self._path, json.dumps({"prompts": self.prompts, "used": self.used}))

    def fork(self, name: str, prompts: int | None) -> "Conversation":
        """Return a copy with the first ``prompts`` prompts under another name; None copies all."""
        copy = Conversation(self.home, name)
        copy.prompts, copy.used = self.prompts[:prompts], [*self.used]
        copy.save()
        return copy
