"""Report the versions of agentdash and of the software it runs on."""

import platform
import sqlite3
import sys
from collections.abc import Iterator

from ...build import described
from ..model import Finding, Subject, fail, ok

OLDEST_SQLITE = (3, 37, 0)
"""The first with STRICT tables."""


def versions(_: Subject) -> Iterator[Finding]:
    """Report agentdash, Python and SQLite."""
    yield ok("agentdash", described())
    yield ok("Python", f"{platform.python_version()} ({sys.executable})")
    if sqlite3.sqlite_version_info < OLDEST_SQLITE:
        found = f"{sqlite3.sqlite_version} is too old"
        yield fail("SQLite", found, "use a Python that was built with SQLite 3.37 or newer")
    else:
        yield ok("SQLite", sqlite3.sqlite_version)
