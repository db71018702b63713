"""The settings file of a project: its place, and a read that trusts nothing about it.

The bytes are read once.  Their hash decides whether they are trusted, and the same bytes are parsed: a file that
changes between the two steps changes nothing.
"""

import os
import stat
from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

NAME = ".agentdash.toml"
"""The name of the file."""

MOST_BYTES = 64 * 1024
"""The maximum size of the file, in bytes."""


class UnsafeFileError(Exception):
    """The file must not be used; the message is the reason, as the end of a sentence."""


class ProjectFile(Struct, frozen=True, kw_only=True):
    """The contents of a project's file."""

    path: Path
    """Without symbolic links."""
    data: bytes
    sha256: str
    """The hash of ``data``, in hexadecimal digits."""

    @property
    def text(self) -> str:
        """The contents as text; bytes that are not UTF-8 are replaced."""
        return self.data.decode("utf-8", "replace")


def find(folder: str | os.PathLike[str]) -> Path | None:
    """Return the path of the file that applies in a folder: the nearest one upwards; None if there is none.

    The search ends at the root of a git repository, at the border of a file system, and before the user's home
    folder: a file there would apply to all folders of the user.  Symbolic links of the folder are resolved.
    """
    for place in upwards(folder):
        if os.path.lexists(place / NAME):
            return place / NAME
        if os.path.lexists(place / ".git"):
            return None
    return None


def upwards(folder: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield a folder without symbolic links, and those above it that can be a project's.

    They end at the border of a file system, and before the user's home folder.
    """
    start = Path(os.path.realpath(Path(folder).expanduser()))
    home = Path(os.path.realpath(Path.home()))
    device = _device(start)
    for place in (start, *start.parents):
        here = _device(place)
        if place == home or (None not in (here, device) and here != device):
            return
        device = device if device is not None else here
        yield place


def read(path: Path) -> ProjectFile:
    """Read a project's file, if only the user or the administrator can have written it.

    Raises:
        UnsafeFileError: it is a symbolic link, not a regular file, another user's, writable for others, too large, or
            cannot be read; or its path is not text.
    """
    from hashlib import sha256  # only a project needs it, and it loads OpenSSL

    try:
        str(path).encode()
        _check(os.lstat(path))  # opening a device can have effects
        # O_NONBLOCK: the open of a FIFO that replaced the file returns at once.
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except UnicodeEncodeError:
        raise UnsafeFileError("its path is not UTF-8 text") from None
    except OSError as error:
        raise UnsafeFileError(f"it cannot be read: {error.strerror}") from None
    try:
        with os.fdopen(descriptor, "rb") as file:
            _check(os.fstat(file.fileno()))
            data = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise UnsafeFileError(f"it cannot be read: {error.strerror}") from None
    _check_size(len(data))
    return ProjectFile(path=path, data=data, sha256=sha256(data).hexdigest())


def _check(facts: os.stat_result) -> None:
    """Check the kind, the owner, the permissions and the size of a file."""
    if stat.S_ISLNK(facts.st_mode):
        raise UnsafeFileError("it is a symbolic link")
    if not stat.S_ISREG(facts.st_mode):
        raise UnsafeFileError("it is not a regular file")
    if facts.st_uid not in (0, os.geteuid()):
        raise UnsafeFileError("it belongs to another user")
    if facts.st_mode & stat.S_IWOTH:
        raise UnsafeFileError("all users can write it (chmod o-w)")
    if facts.st_mode & stat.S_IWGRP and not _is_private(facts.st_gid):
        raise UnsafeFileError("its group can write it (chmod g-w)")
    _check_size(facts.st_size)


def _check_size(size: int) -> None:
    if size > MOST_BYTES:
        raise UnsafeFileError(f"it is larger than {MOST_BYTES // 1024} KiB")


def _is_private(group: int) -> bool:
    """Return whether the user is the only member of a group.

    Many systems give each user a group of the user's name, and let it write new files.
    """
    import grp
    import pwd

    try:
        name, found = pwd.getpwuid(os.geteuid()).pw_name, grp.getgrgid(group)
    except KeyError:
        return False
    return found.gr_name == name and set(found.gr_mem) <= {name}


def _device(folder: Path) -> int | None:
    """Return the file system of a folder; None if there is no such folder."""
    try:
        return folder.stat().st_dev
    except OSError:
        return None
