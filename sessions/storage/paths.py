"""The files and folders on disk, and their permissions (folders 0700, files 0600)."""

import fcntl
import os
import re
import time
from contextlib import suppress
from pathlib import Path

from agentdash.sessions.model.errors import ReadOnlyError, Remedy, StoreError

SESSION_ID = re.compile(r"[A-Za-z0-9_-]{8,64}")


def default_home() -> Path:
    """``$AGENTDASH_HOME``, else the platform's folder for a user's state."""
    chosen = os.environ.get("AGENTDASH_HOME")
    return Path(chosen).expanduser().absolute() if chosen else usual_home()


def usual_home() -> Path:
    """Return the platform's folder for a user's state."""
    from platformdirs import user_state_path

    return user_state_path("agentdash", appauthor=False)


class SessionFolder:
    """The paths of one session; creating this object does not access the disk."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.id = path.name
        self.turns = path / "turns"
        self.lock = path / "runner.lock"
        self.reading = path / "reading.lock"
        """Held by the server whose answer names the session's end, until the lead has the answer."""
        self.waiter_lock = path / "waiter.lock"
        """Held by the process that waits for the ends of the session's workers, or for a budget."""
        self.poke = path / "poke"
        self.stdin = path / "stdin"
        """The FIFO from which a live agent reads; made when it is needed."""
        self.procs = path / "procs.json"
        self.runner_log = path / "runner.log"
        self.identity = path / "session.json"
        self.images = path / "images"
        """Copies of the images of its prompts; created with the first one."""
        self.environment = path / "environment"
        """Digests of the environment with which the session began."""
        self.start = path / "start.json"
        """The state of its repository when it began; see :mod:`..runner.git.start_state`."""
        self.start_objects = path / "start"
        """The objects of git that this state needs; made if files differed from the last commit."""
        self.reserve = path / "reserve"
        """Disk space reserved while a turn runs, so that its end can be recorded on a full disk."""

    def output(self, stream: int) -> Path:
        """The agent's stdout, byte for byte; :mod:`.turns.turn_output` finds the part of a turn."""
        return self.turns / f"turn_{stream}.jsonl"

    def errors(self, stream: int) -> Path:
        """The agent's stderr."""
        return self.turns / f"turn_{stream}.err"

    def prompt(self, turn: int) -> Path:
        """The agent's stdin."""
        return self.turns / f"turn_{turn}.prompt"

    def times(self, stream: int) -> Path:
        """The arrival times of the bytes of the output."""
        return self.turns / f"turn_{stream}.times"

    def create(self) -> None:
        """Make the folder of a session."""
        self.turns.mkdir(parents=True, mode=0o700)
        self.path.chmod(0o700)
        os.mkfifo(self.poke, 0o600)


TOLD_SECONDS = 3_600
"""Time for which a file in :attr:`Layout.told` counts, and after which it is deleted."""


SELECTED_ENDING = ".selected"
"""The ending of the names of files in :attr:`Layout.selected`."""


class Layout:
    """The state folder."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.database = home / "agentdash.db"
        self.sessions = home / "sessions"
        self.live = home / "live"
        self.trash = home / "trash"
        self.indexes = home / "cache"
        """Indexes of long turn files; created when needed, and safe to delete."""
        self.day_sums = self.indexes / "use.days"
        """The sums of use by days; made when they are asked for, and safe to delete."""
        self.drafts = home / "drafts"
        """Prompts that are written and not sent; created with the first one."""
        self.told = home / "told"
        """Notifications that a front end has claimed, and asks that a caller was shown; created when needed."""
        self.selected = home / "selected"
        """The session that is selected in each table, for those who follow it; created when needed."""

    def create(self) -> None:
        """Create the state folder and its subfolders if they are missing.

        A read-only folder that has a database is left as it is: it can still be read.

        Raises:
            StoreError: it cannot be created, or it has no database and cannot be written.
        """
        if self.read_only and self.database.exists():
            return
        try:
            self.home.mkdir(parents=True, exist_ok=True, mode=0o700)
            for room in (self.sessions, self.live, self.trash):
                room.mkdir(exist_ok=True, mode=0o700)
        except OSError as error:
            raise StoreError(_unusable(self.home, error.strerror or str(error))) from None
        if not os.access(self.home, os.W_OK | os.X_OK):
            raise StoreError(_unusable(self.home, "permission denied"))

    @property
    def read_only(self) -> bool:
        """True if the state folder exists and this process cannot write in it."""
        return is_read_only(self.home)

    def check_writable(self) -> None:
        """Make sure that the state folder can be written.

        Raises:
            ReadOnlyError: the state folder cannot be written.
        """
        if self.read_only:
            raise read_only_error(self.home)

    def waiters(self, host: str) -> Path:
        """The lock that one of the processes of a host that wait for a time to serve the queue holds."""
        return self.home / f"waiters.{re.sub(r'[^A-Za-z0-9._-]', '_', host)}.lock"

    def session(self, session_id: str) -> SessionFolder:
        """The folder of a session.

        Raises:
            StoreError: agentdash cannot have created the id; an id is never used as a path unchecked.
        """
        if not SESSION_ID.fullmatch(session_id):
            raise StoreError(f"{session_id!r} is not a valid session id.")
        return SessionFolder(self.sessions / session_id)

    def live_name(self, session_id: str, stream: int) -> Path:
        """The second name of a turn file while it is written; watchers watch only ``live/``."""
        return self.live / f"{session_id}.{stream}.jsonl"


def is_held(lock: Path) -> bool:
    """Return whether a process, such as a session's runner, holds a lock; tested with a brief shared lock."""
    with suppress(FileNotFoundError, PermissionError):
        descriptor = os.open(lock, os.O_RDONLY | os.O_CLOEXEC)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        finally:
            os.close(descriptor)
    return False


def is_read_only(folder: Path) -> bool:
    """Return whether a folder exists and this process cannot write in it."""
    return folder.is_dir() and not os.access(folder, os.W_OK | os.X_OK)


def read_only_error(home: Path) -> ReadOnlyError:
    """The error of a change to a state folder that cannot be written."""
    return ReadOnlyError(f"The state folder {home} is read-only.", Remedy.DIAGNOSE, "Details: agentdash doctor")


def _unusable(home: Path, why: str) -> str:
    return f"The state folder {home} cannot be used: {why}. Set AGENTDASH_HOME to a writable folder."


def write_atomic(path: Path, data: bytes) -> None:
    """Replace a small file as a whole: readers see the old contents or the new, never a part."""
    # Not tempfile: its import is a tenth of what a runner loads.
    temporary = path.with_name(f".{path.name}.{os.getpid()}-{time.monotonic_ns()}")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        with open(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except OSError:
        temporary.unlink(missing_ok=True)
        raise
