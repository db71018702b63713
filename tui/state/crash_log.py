"""Records a crash: details in the state folder's log, one line on the terminal, and no screenful of traceback."""

import faulthandler
import os
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path


def record_stacks(home: Path, why: str) -> str:
    """Append what each thread does now to the dashboard's log; return its path, or why it could not be written."""
    where = record(home, why)
    with suppress(OSError), open(where, "ab") as file:
        faulthandler.dump_traceback(file)
    return where


def record(home: Path, details: str) -> str:
    """Append details to the dashboard's log; return its path, or the reason why it could not be written."""
    path = home / "dashboard.log"
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        with open(descriptor, "a", encoding="utf-8", errors="replace") as file:
            file.write(f"{datetime.now(UTC).isoformat(timespec='seconds')}\n{details}\n")
    except OSError as error:
        return f"no log ({error})"
    return str(path)
