"""Saving an export: the whole file or none, readable only by its owner."""

import os
import stat
import tempfile
from collections.abc import Iterable
from pathlib import Path

from ..errors import SaveError, UsageError


class ExistsError(UsageError):
    """The file exists."""


def save(path: Path, pieces: Iterable[str], *, force: bool = False) -> int:
    """Write a document piece by piece; return its size in bytes.

    It is written to a temporary file beside its path, and moved there when it is complete.

    Args:
        path: the file; a link is followed.
        pieces: the text, which is read only if the file can be written.
        force: True to replace an existing file.

    Raises:
        ExistsError: the file exists, and ``force`` is False.
        UsageError: its folder is missing, or the path is not a regular file.
        SaveError: the folder cannot be written, or the disk is full.
    """
    target = Path(os.path.realpath(path))
    _check(path, target, force=force)
    try:
        descriptor, name = tempfile.mkstemp(prefix=".agentdash-", suffix=".part", dir=target.parent)
    except OSError as error:
        raise SaveError(f"{path}: cannot be written: {error.strerror}.") from None
    part = Path(name)
    try:
        count = _write(descriptor, pieces)
        _put(part, target, force=force)
    except FileExistsError:
        raise ExistsError(_there(path)) from None
    except OSError as error:
        raise SaveError(f"{path}: cannot be written: {error.strerror}. No file was left.") from None
    finally:
        part.unlink(missing_ok=True)
    return count


def _check(path: Path, target: Path, *, force: bool) -> None:
    if not target.parent.is_dir():
        raise UsageError(f"{path}: no such folder: {target.parent}.")
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
    return f"{path} already exists; not overwritten. Add --force to overwrite it."


def _write(descriptor: int, pieces: Iterable[str]) -> int:
    """Write all pieces and sync them, so that a full disk raises its error here; return the size in bytes."""
    count = 0
    with open(descriptor, "wb") as file:
        for piece in pieces:
            count += file.write(piece.encode("utf-8", "replace"))
        file.flush()
        os.fsync(file.fileno())
    return count


def _put(part: Path, target: Path, *, force: bool) -> None:
    """Move the file to its path; without ``force`` never over an existing file, even one that was just created."""
    if force:
        part.replace(target)
        return
    try:
        target.hardlink_to(part)
    except FileExistsError:
        raise
    except OSError:  # a file system without hard links
        if os.path.lexists(target):
            raise FileExistsError from None
        part.replace(target)
