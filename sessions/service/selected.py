"""The session that is selected in a table, for those who watch it: ``agentdash watch --follow``.

Each table keeps a small file with the id of its session, and a lock on it while it runs, so that a file of a table that
was killed counts no more.  A table inside tmux is known by its pane, another one by the name that the user gave it.
"""

import fcntl
import hashlib
import os
import re
import socket
from collections.abc import Collection, Mapping
from contextlib import suppress
from pathlib import Path

from msgspec import Struct

from agentdash.sessions.model.errors import UsageError
from agentdash.sessions.service.tmux import panes_beside
from agentdash.sessions.storage.paths import SELECTED_ENDING, SESSION_ID, is_held

_LENGTH = 65
"""Bytes of a file: an id, filled with spaces, and a newline.  One write replaces all of it."""

_OWN = re.compile(r"[0-9a-f]{16}\.[0-9]*\.[0-9]+" + re.escape(SELECTED_ENDING))


class Followed(Struct, frozen=True):
    """The selection of a table."""

    table: bool = False
    """True if there is a table."""
    session: str | None = None
    """The id of the session that is selected in it."""


class Selected:
    """Records the session that is selected in this process's table.

    Args:
        folder: the folder of the files; created with the first one.
        env: the terminal's environment.
        name: the name of the table; without one, only a table inside tmux is recorded.
    """

    def __init__(self, folder: Path, env: Mapping[str, str], name: str | None = None) -> None:
        self._folder = folder
        group, pane = (_group(name), "") if name else _pane(env)
        self._path = folder / f"{group}.{pane}.{os.getpid()}{SELECTED_ENDING}" if group else None
        self._descriptor: int | None = None

    @property
    def wanted(self) -> bool:
        """True if the table can be found by those who follow it."""
        return self._path is not None

    def show(self, session_id: str | None) -> None:
        """Record the selected session, if the folder can be written."""
        if self._path is None:
            return
        with suppress(OSError):
            if self._descriptor is None:
                self._descriptor = self._begin(self._path)
            os.pwrite(self._descriptor, f"{session_id or '':<{_LENGTH - 1}}\n".encode(), 0)

    def _begin(self, path: Path) -> int:
        """Create the file with its lock, and delete those of tables that were killed."""
        self._folder.mkdir(mode=0o700, exist_ok=True)
        for other in self._folder.iterdir():
            if _OWN.fullmatch(other.name) and not is_held(other):
                other.unlink(missing_ok=True)
        while True:
            descriptor = os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
            fcntl.flock(descriptor, fcntl.LOCK_EX)  # a reader tests it for a moment
            if os.fstat(descriptor).st_nlink:
                return descriptor
            os.close(descriptor)  # another table deleted it before it had its lock

    def end(self) -> None:
        """Remove the file: the table has ended."""
        if self._descriptor is not None and self._path is not None:
            with suppress(OSError):
                self._path.unlink(missing_ok=True)
            os.close(self._descriptor)
            self._descriptor = None


class Follower:
    """Reads the session that is selected in the table of the same tmux window, or in the one of a name.

    Args:
        folder: the folder of the files; created here, so that it can be watched.
        env: the terminal's environment.
        name: the name of the table; empty for the tmux window.

    Raises:
        UsageError: there is neither a name nor a tmux window.
    """

    def __init__(self, folder: Path, env: Mapping[str, str], name: str = "") -> None:
        self.folder = folder
        self._env = env
        self._name = name
        self._group = _group(name) if name else _pane(env)[0]
        if not self._group:
            raise UsageError(
                "--follow without a name needs tmux. Name the table: agentdash ls --table --name left, and then: "
                "agentdash watch --follow left"
            )
        with suppress(OSError):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)

    @property
    def missing(self) -> str:
        """One line for the time in which there is no table."""
        if self._name:
            return f"No table with the name {self._name} runs. Waiting for: agentdash ls --table --name {self._name}"
        return "No table in this tmux window. Waiting for: agentdash ls --table"

    def read(self) -> Followed:
        """Return what the table shows; of several, the one in which the user chose last.

        Asks tmux, so it belongs in a thread.
        """
        files = self._files()
        if files and not self._name:
            beside = panes_beside(self._env)
            files = [path for path in files if path.name.split(".")[1] in beside]
        newest = max(files, key=_changed_at, default=None)
        if newest is None:
            return Followed()
        with suppress(OSError):
            found = newest.read_text(encoding="ascii", errors="replace").strip()
            return Followed(True, found if SESSION_ID.fullmatch(found) else None)
        return Followed()

    def _files(self) -> Collection[Path]:
        """Return the files of tables that run, on this server or of this name."""
        with suppress(OSError):
            own = [path for path in self.folder.iterdir() if _OWN.fullmatch(path.name)]
            return [path for path in own if path.name.startswith(self._group) and is_held(path)]
        return []


def _changed_at(path: Path) -> int:
    with suppress(OSError):
        return path.stat().st_mtime_ns
    return 0


def _pane(env: Mapping[str, str]) -> tuple[str, str]:
    """Return the tmux server, as the beginning of a file name, and the number of our pane; empty outside tmux."""
    server, pane = env.get("TMUX", "").rpartition(",")[0], env.get("TMUX_PANE", "")  # socket,pid,session; %3
    return (_group(f"{server}\0"), pane[1:]) if server and re.fullmatch(r"%[0-9]+", pane) else ("", "")


def _group(name: str) -> str:
    """Return the beginning of the file names of a server or of a named table, on this machine."""
    return hashlib.sha256(f"{socket.gethostname()}\0{name}".encode(errors="replace")).hexdigest()[:16]
