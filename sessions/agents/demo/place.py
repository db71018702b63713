"""The mark of a demo: the demo agent starts only in a state folder that `agentdash demo` made.

The agent writes files and reports a made-up cost, so it must never touch a user's own folders or totals.  The mark
names its state folder: a copy of the mark, or of the whole folder, permits nothing.  It is a file beside the database,
so that it survives ``doctor --rebuild``.  The agent's own process reads it before it does anything.
"""

import os
from pathlib import Path

import msgspec
from msgspec import Struct

from agentdash.sessions.agents.parsing.json_lines import UNREADABLE
from agentdash.sessions.model.errors import UsageError
from agentdash.sessions.storage.paths import write_atomic

MARK = "demo.json"
DEMO_DEFAULT = "codex-demo"
"""The agent that a demo starts when none is named."""
ONLY_INSIDE = "The demo agent works only inside `agentdash demo`."


class DemoPlace(Struct, frozen=True, kw_only=True):
    """A demo's state folder, and the folder below which its agents may write."""

    home: str
    projects: str

    def holds(self, path: Path) -> bool:
        """Return whether a path is in the projects folder, with all symbolic links followed."""
        return path.resolve().is_relative_to(self.projects)

    def write(self, path: Path, content: str) -> str:
        """Write a new file, or one that the demo made and that has not changed since; return its previous text.

        Raises:
            OSError: the file is not the demo's, or cannot be written.
        """
        if not self.holds(path):
            raise PermissionError(f"{path} is outside the demo folder")
        path.parent.mkdir(parents=True, exist_ok=True)
        data = content.encode()
        before = self._own(path)
        if before is None:
            # Exclusive: a file that appears at this moment is not overwritten either.
            with path.open("xb") as file:
                file.write(data)
        else:
            write_atomic(path, data)
        record = self._record(path)
        record.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_atomic(record, _digest(data).encode())
        return (before or b"").decode("utf-8", "replace")

    def _own(self, path: Path) -> bytes | None:
        """Read a file that the demo made; None if it does not exist."""
        if not os.path.lexists(path):
            return None
        try:
            written = self._record(path).read_text("ascii")
            data = path.read_bytes()
        except (OSError, ValueError):
            written, data = "", b""
        if path.is_symlink() or written != _digest(data):
            raise FileExistsError(f"{path.name} exists and is not the demo's: not overwritten")
        return data

    def _record(self, path: Path) -> Path:
        return Path(self.home) / "demo" / "files" / _digest(os.fsencode(path.resolve()))


def make_demo(home: Path, projects: Path) -> DemoPlace:
    """Mark a state folder as a demo's; create both folders if they are missing.

    Raises:
        UsageError: the state folder or the projects folder holds files that no demo made.
    """
    if (demo := find_demo(home)) is not None:
        return demo
    for folder in (home, projects):
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise UsageError(f"{folder} contains other files. Name a new or an empty folder.")
    for folder in (home, projects):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return mark_demo(home, projects)


def mark_demo(home: Path, projects: Path) -> DemoPlace:
    """Write the mark into an existing state folder."""
    place = DemoPlace(home=str(home.resolve()), projects=str(projects.resolve()))
    write_atomic(home / MARK, msgspec.json.encode(place))
    return place


def find_demo(home: Path) -> DemoPlace | None:
    """Return the mark of a state folder; None if it has none, or that of another folder."""
    try:
        place = msgspec.json.decode((home / MARK).read_bytes(), type=DemoPlace)
        return place if place.home == str(home.resolve()) else None
    except (OSError, *UNREADABLE):
        return None


def check_demo(home: Path, cwd: str) -> None:
    """Check that the demo agent starts inside a demo.

    Raises:
        UsageError: the state folder is not a demo's, or the working folder is not below its projects folder.
    """
    place = find_demo(home)
    if place is None:
        raise UsageError(ONLY_INSIDE)
    if not place.holds(Path(cwd)):
        raise UsageError(f"The demo agent works only below {place.projects}, not in {cwd}.")


def _digest(data: bytes) -> str:
    from hashlib import sha256  # only a demo needs it, and it loads OpenSSL

    return sha256(data).hexdigest()
