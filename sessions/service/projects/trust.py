"""The record of trusted project settings: path, hash and contents, in the state folder.

The contents are kept so that a change can be shown as a diff.  A damaged record trusts nothing.
"""

import os
from pathlib import Path

import msgspec
from msgspec import Struct

from agentdash.sessions.model import typed
from agentdash.sessions.model.clock import now_ms
from agentdash.sessions.model.errors import StoreError, UsageError
from agentdash.sessions.service.projects.file import MOST_BYTES, ProjectFile
from agentdash.sessions.storage.paths import is_read_only, read_only_error, write_atomic

MOST_RECORD_BYTES = 8 * MOST_BYTES
"""The maximum size of a record; JSON escapes make the contents longer."""


class Trusted(Struct, frozen=True, kw_only=True):
    """The contents of a file that the user trusted."""

    path: str
    sha256: str
    content: str
    at: int
    """The time, in milliseconds since 1970."""


class TrustStore:
    """The trusted files of a state folder; each has a record of its own, so two processes never lose one."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self._folder = home / "trust"

    def get(self, path: Path) -> Trusted | None:
        """Return the contents of a file that were trusted last; None if none were."""
        return _read(self._record(path), str(path))

    def put(self, file: ProjectFile) -> Trusted:
        """Trust the contents of a file.

        Raises:
            UsageError: they are not UTF-8 text.
            StoreError: the record cannot be written.
        """
        try:
            content = file.data.decode()
        except UnicodeDecodeError:
            raise UsageError(f"{file.path}: the file is not UTF-8 text.") from None
        trusted = Trusted(path=str(file.path), sha256=file.sha256, content=content, at=now_ms())
        self._check_writable()
        try:
            self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            write_atomic(self._record(file.path), msgspec.json.encode(trusted))
        except OSError as error:
            raise StoreError(f"{self._folder}: cannot be written: {error.strerror}.") from None
        return trusted

    def forget(self, path: Path) -> bool:
        """Trust a file no longer; return whether it was trusted.

        Raises:
            StoreError: the record cannot be removed.
        """
        self._check_writable()
        try:
            self._record(path).unlink()
        except FileNotFoundError:
            return False
        except OSError as error:
            raise StoreError(f"{self._folder}: cannot be changed: {error.strerror}.") from None
        return True

    def all(self) -> list[Trusted]:
        """Return all trusted files by path."""
        try:
            records = [entry for entry in self._folder.iterdir() if entry.suffix == ".json"]
        except OSError:
            return []
        found = (_read(record) for record in records)
        return sorted((one for one in found if one is not None), key=lambda one: one.path)

    def _record(self, path: Path) -> Path:
        return self._folder / f"{_digest(os.fsencode(path))}.json"

    def _check_writable(self) -> None:
        if is_read_only(self._home):
            raise read_only_error(self._home)


def _read(record: Path, path: str | None = None) -> Trusted | None:
    """Read a record; None if it is damaged, or that of another file."""
    try:
        with record.open("rb") as file:
            found = typed.decode(file.read(MOST_RECORD_BYTES + 1), Trusted)
    except (OSError, ValueError):
        return None
    intact = _digest(found.content.encode()) == found.sha256 and record.stem == _digest(os.fsencode(found.path))
    return found if intact and path in (None, found.path) else None


def _digest(data: bytes) -> str:
    from hashlib import sha256  # only a project needs it, and it loads OpenSSL

    return sha256(data).hexdigest()
