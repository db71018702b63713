"""Saving an export: the whole file or none, readable only by its owner."""

import os
import stat
import tempfile
import uuid
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from agentdash.sessions.model.errors import SaveError, UsageError


class ExistsError(UsageError):
    """The file exists, or its name is a link."""


def save(path: Path, pieces: Iterable[str], *, force: bool = False) -> int:
    """Write a document piece by piece; return its size in bytes.

    It is written to a file without a name, which gets its path when it is complete: an agent that can write in the
    folder cannot reach it before.  A file system without such files has a temporary name beside the path.

    Args:
        path: the file; a link is followed only with ``force``: an agent may have put it there.
        pieces: the text, which is read only if the file can be written.
        force: True to replace an existing file.

    Raises:
        ExistsError: the file exists or is a link, and ``force`` is False.
        UsageError: its folder is missing, or the path is not a regular file.
        SaveError: the folder cannot be written, or the disk is full.
    """
    target = Path(os.path.realpath(path))
    _check(path, target, force=force)
    try:
        descriptor, part = _opened(target.parent)
    except OSError as error:
        raise SaveError(f"{path}: cannot be written: {error.strerror}.") from None
    try:
        count = _write(descriptor, pieces)
        _put(descriptor, part, target, force=force)
    except FileExistsError:
        raise ExistsError(_there(path)) from None
    except OSError as error:
        raise SaveError(f"{path}: cannot be written: {error.strerror}. No file was left.") from None
    finally:
        os.close(descriptor)
        if part is not None:
            part.unlink(missing_ok=True)
    return count


def _opened(folder: Path) -> tuple[int, Path | None]:
    """Open a new file in a folder; return its descriptor, and its name if it needs one.

    Raises:
        OSError: the folder cannot be written.
    """
    with suppress(AttributeError, OSError):
        return os.open(folder, os.O_TMPFILE | os.O_WRONLY | os.O_CLOEXEC, 0o600), None
    descriptor, name = tempfile.mkstemp(prefix=".agentdash-", suffix=".part", dir=folder)
    return descriptor, Path(name)


def _check(path: Path, target: Path, *, force: bool) -> None:
    if not target.parent.is_dir():
        raise UsageError(f"{path}: no such folder: {target.parent}.")
    if path.is_symlink() and not force:
        raise ExistsError(_there(path))
    try:
        mode = target.stat().st_mode
    except OSError:
        return  # it does not exist, or cannot be checked; writing shows the error
    if stat.S_ISDIR(mode):
        raise UsageError(f"{path} is a folder, not a file.")
    if not stat.S_ISREG(mode):
        raise UsageError(f"{path} is not a regular file.")
    if not force:
        raise ExistsError(_there(path))


def _there(path: Path) -> str:
    what = f"is a link to {os.path.realpath(path)}" if path.is_symlink() else "already exists"
    return f"{path} {what}; not overwritten. Add --force to overwrite it."


def _write(descriptor: int, pieces: Iterable[str]) -> int:
    """Write all pieces and sync them, so that a full disk raises its error here; return the size in bytes."""
    count = 0
    with open(descriptor, "wb", closefd=False) as file:
        for piece in pieces:
            count += file.write(piece.encode("utf-8", "replace"))
        file.flush()
        os.fsync(file.fileno())
    return count


def _put(descriptor: int, part: Path | None, target: Path, *, force: bool) -> None:
    """Give the file its path; without ``force`` never that of an existing file, even one that was just created."""
    if force:
        named = part or target.with_name(f".{uuid.uuid4()}.part")
        if part is None:
            _name(descriptor, named)
        named.replace(target)
    elif part is None:
        _name(descriptor, target)
    else:
        _move(part, target)


def _name(descriptor: int, path: Path) -> None:
    """Give a file without a name its first one, which no other file may have."""
    folder = os.open("/dev/fd", os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        # With a folder Python uses linkat(2), which can follow the link.
        os.link(str(descriptor), path, src_dir_fd=folder, follow_symlinks=True)
    finally:
        os.close(folder)


def _move(part: Path, target: Path) -> None:
    try:
        target.hardlink_to(part)
    except FileExistsError:
        raise
    except OSError:  # a file system without hard links
        if os.path.lexists(target):
            raise FileExistsError from None
        part.replace(target)
