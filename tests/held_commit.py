"""A commit that the disk holds back: ``python held_commit.py FOLDER TITLE`` renames the newest session.

Between the write to the database's log and its fsync it makes the file FOLDER/held and waits for FOLDER/go, as on a
disk whose fsync takes long: the log has grown, and the commit is not visible yet.
"""

import _sqlite3
import ctypes
import sys
import time
from pathlib import Path

from agentdash.sessions.service.manager import SessionManager

OPEN_WAL = 0x00080000
"""The flag with which SQLite opens its log (SQLITE_OPEN_WAL)."""

ERROR = 1


class Methods(ctypes.Structure):
    """The beginning of ``sqlite3_io_methods``, and room for the rest of its third version."""

    _fields_ = [
        ("version", ctypes.c_int),
        *((name, ctypes.c_void_p) for name in ("close", "read", "write", "truncate", "sync")),
        ("rest", ctypes.c_void_p * 13),
    ]


class File(ctypes.Structure):
    """The beginning of ``sqlite3_file``."""

    _fields_ = [("methods", ctypes.POINTER(Methods))]


class System(ctypes.Structure):
    """The beginning of ``sqlite3_vfs``."""

    _fields_ = [
        ("version", ctypes.c_int),
        ("file_bytes", ctypes.c_int),
        ("longest_path", ctypes.c_int),
        ("next", ctypes.c_void_p),
        ("name", ctypes.c_char_p),
        ("data", ctypes.c_void_p),
        ("open", ctypes.c_void_p),
    ]


OPEN = ctypes.CFUNCTYPE(
    ctypes.c_int, ctypes.POINTER(System), ctypes.c_void_p, ctypes.POINTER(File), ctypes.c_int, ctypes.c_void_p
)
SYNC = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(File), ctypes.c_int)

KEPT = []
"""What SQLite points to."""


def hold_syncs_of_the_log(before):
    """From now on each fsync of a log that this process opens calls ``before`` first."""
    library = ctypes.CDLL(_sqlite3.__file__)
    library.sqlite3_vfs_find.restype = ctypes.POINTER(System)
    system = library.sqlite3_vfs_find(None)
    plain_open = OPEN(system.contents.open)

    def opened(vfs, name, file, flags, out_flags):
        code = plain_open(vfs, name, file, flags, out_flags)
        if code == 0 and flags & OPEN_WAL:
            _replace_sync(file, before)
        return code

    ours = OPEN(opened)
    KEPT.append(ours)
    system.contents.open = ctypes.cast(ours, ctypes.c_void_p)


def _replace_sync(file, before):
    methods = Methods.from_buffer_copy(file.contents.methods.contents)
    plain_sync = SYNC(methods.sync)

    def synced(file, flags):
        try:
            before()
        except Exception:
            return ERROR
        return plain_sync(file, flags)

    ours = SYNC(synced)
    methods.sync = ctypes.cast(ours, ctypes.c_void_p)
    KEPT.extend([ours, methods])
    file.contents.methods = ctypes.pointer(methods)


def main(folder, title):
    """Rename the newest session; the commit waits for the file ``go``."""
    armed = False

    def hold():
        if armed:
            (folder / "held").touch()
            while not (folder / "go").exists():
                time.sleep(0.005)

    hold_syncs_of_the_log(hold)
    with SessionManager() as manager:
        newest = manager.reader.sessions()[0].id
        armed = True
        manager.housekeeping.rename(newest, title)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
