"""Check the user's files: the settings, the state folder and its database, and the processes of its sessions.

The database is opened read-only and never created.  A caller that needs its rows gets None if it cannot be read.
"""

import os
import shlex
import shutil
import sqlite3
from collections.abc import Callable, Container, Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from agentdash.sessions.agents.registry import agent_named, agent_names
from agentdash.sessions.doctor.machine import MOUNTS, REMOTE, mount_of, parse_mounts
from agentdash.sessions.doctor.model import Finding, Subject, fail, ok, warn
from agentdash.sessions.model.errors import AgentdashError, ConfigError, NewerStoreError, OlderStoreError
from agentdash.sessions.model.session import LIVE, short_id
from agentdash.sessions.rules.limits.period_budgets import full, state_words, used_words
from agentdash.sessions.runner.processes import processes, runner_lock
from agentdash.sessions.runner.processes.processes import Process
from agentdash.sessions.service.lifecycle.recovery.ghosts import Ghost, kind_of
from agentdash.sessions.service.lifecycle.starts.own_folders import within_reach
from agentdash.sessions.settings.config import read_settings
from agentdash.sessions.settings.prices import check_prices
from agentdash.sessions.storage import schema
from agentdash.sessions.storage.database import Database, open_read_only
from agentdash.sessions.storage.paths import SESSION_ID, Layout, is_read_only
from agentdash.sessions.storage.use.period_budgets import PeriodBudgets
from agentdash.sessions.text.sanitize import one_line
from agentdash.sessions.text.units import count, size


def settings_file(subject: Subject) -> Iterator[Finding]:
    """Check the settings file; an error names file, line and key."""
    path = subject.config_path
    try:
        loaded = read_settings(path)
    except ConfigError as error:
        yield fail("settings", str(error), "fix it: no agent starts until then")
        return
    try:
        subject.check(loaded)
    except ConfigError as error:
        yield fail("settings", str(error), "fix it: the dashboard does not start until then")
        return
    try:
        check_prices(loaded)
    except ConfigError as error:
        yield warn("settings", str(error), "set it, or remove the entry")
        return
    yield ok("settings", str(path) if path.exists() else f"defaults ({path} does not exist)")


_BUDGETS_REMEDY = "wait until the period ends, or raise it: agentdash budget"
_WAITING = "SELECT COUNT(*) AS n FROM sessions WHERE status = 'queued' AND reason LIKE 'waits: %budget%'"


def budgets(subject: Subject) -> Iterator[Finding]:
    """Yield a finding for each budget of which nothing is left; one if none is, or there are none."""
    if not subject.layout.database.exists():
        return
    database = Database(subject.layout.database)
    try:
        states = PeriodBudgets(database).states()
        waiting = database.rows(_WAITING)[0]["n"]
    except AgentdashError:
        return  # a database that cannot be read is a finding of its own
    finally:
        database.close()
    spent = full(states)
    for one in spent:
        held = f"; {count(waiting, 'session')} waiting for a budget" if waiting else ""
        yield warn("budgets", f"{used_words(one)}{held}", _BUDGETS_REMEDY)
    if not spent:
        words = "; ".join(f"{one.budget.name}: {state_words(one)}" for one in states)
        yield ok("budgets", words or "no budget of a day or a week")


REBUILD = "agentdash doctor --rebuild"

_PATIENCE_SECONDS = 5.0


def database(subject: Subject) -> Iterator[Finding]:
    """Check the pages of the database, then its schema."""
    path = subject.layout.database
    if not path.exists():
        yield ok("database", "none yet")
        return
    try:
        with opened(path) as connection:
            problem = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
            complete = schema.is_there(connection, path)
    except sqlite3.OperationalError as error:
        yield fail("database", f"{path} cannot be read: {error}", "check the owner of the file and its folder")
    except sqlite3.DatabaseError as error:
        yield fail("database", f"{path} is damaged: {error}", REBUILD)
    except NewerStoreError as error:
        yield fail("database", str(error), "upgrade agentdash")
    except OlderStoreError as error:
        yield fail("database", error.fact, f"agentdash stop ID, or wait; then {REBUILD}" if error.runs else REBUILD)
    except AgentdashError as error:
        yield fail("database", str(error), "check the owner of the file and its folder")
    else:
        if problem != "ok":
            yield fail("database", f"damaged: {problem}", REBUILD)
        elif complete:
            yield ok("database", f"ok, schema {schema.VERSION}")
        else:
            yield warn("database", "empty", "agentdash ls gives it its tables")


@contextmanager
def opened(path: Path) -> Iterator[sqlite3.Connection]:
    """Open a connection that writes no page.

    Raises:
        sqlite3.OperationalError: there is no such file, or it may not be read.
    """
    copy = None
    if is_read_only(path.parent):
        database = open_read_only(path, _PATIENCE_SECONDS)
        connection, copy = database.connection, database.copy
    else:
        uri = f"{path.absolute().as_uri()}?mode=ro"
        connection = sqlite3.connect(uri, uri=True, timeout=_PATIENCE_SECONDS, isolation_level=None)
    connection.row_factory = sqlite3.Row
    try:
        yield connection
    finally:
        connection.close()
        if copy is not None:
            copy.cleanup()


def rows(path: Path, sql: str, parameters: tuple[object, ...] = ()) -> list[sqlite3.Row] | None:
    """Return all rows of a query; [] if there is no database yet, None if it cannot be read."""
    if not path.exists():
        return []
    try:
        with opened(path) as connection:
            return connection.execute(sql, parameters).fetchall()
    except (sqlite3.Error, AgentdashError):
        return None


LITTLE_BYTES = 1_000_000_000
TOO_LITTLE_BYTES = 50_000_000

_ELSEWHERE = "set AGENTDASH_HOME to a writable folder"


def folder(subject: Subject) -> Iterator[Finding]:
    """Report the folder's path, and whether it is writable."""
    home = subject.layout.home
    there = nearest(home)
    if not there.is_dir():
        yield fail("state folder", f"{there} is not a folder", _ELSEWHERE)
    elif is_read_only(there):
        yield _unwritable(home, there)
    elif there != home:
        yield ok("state folder", f"{home}, created on first use")
    else:
        yield ok("state folder", str(home))


def _unwritable(home: Path, there: Path) -> Finding:
    """Choose the remedy by the cause: the mount, or the owner and the mode."""
    can = "sessions can be read but not started or changed" if there == home else f"{home} cannot be created"
    if os.statvfs(there).f_flag & os.ST_RDONLY:
        return fail(
            "state folder", f"{there} is on a read-only file system: {can}", f"mount it writable, or {_ELSEWHERE}"
        )
    return fail("state folder", f"{there} cannot be written: {can}", f"chmod u+rwx it if it is yours, or {_ELSEWHERE}")


def permissions(subject: Subject) -> Iterator[Finding]:
    """Check whether other users may read the state folder: prompts and answers may hold secrets."""
    home = subject.layout.home
    if not home.is_dir():
        return
    open_ones = [path for path in _private(subject.layout) if _mode(path) & 0o077]
    if not open_ones:
        yield ok("permissions", "folders 0700, files 0600")
        return
    first = open_ones[0]
    more = f" and {len(open_ones) - 1} more" if len(open_ones) > 1 else ""
    found = f"accessible to other users: {first} ({_mode(first):04o}){more}"
    yield warn("permissions", found, f"chmod -R go-rwx {shlex.quote(str(home))}")


def disk_space(subject: Subject) -> Iterator[Finding]:
    """Check the free space: a full disk ends turns."""
    there = nearest(subject.layout.home)
    free = shutil.disk_usage(there).free
    found = f"{size(free)} free"
    if free < TOO_LITTLE_BYTES:
        yield fail("disk space", f"{found}: too little to record a turn", f"free space on the disk of {there}")
    elif free < LITTLE_BYTES:
        yield warn("disk space", found, f"free space on the disk of {there}, or delete sessions: agentdash rm ID")
    else:
        yield ok("disk space", found)


def file_system(subject: Subject) -> Iterator[Finding]:
    """Check the file system: over a network neither locks nor file events are reliable."""
    mount = mount_of(parse_mounts(subject.text(MOUNTS)), nearest(subject.layout.home).resolve())
    if mount is None:
        return
    if mount.kind in REMOTE:
        found = f"{mount.kind} on {mount.point}: locks and file events are unreliable there"
        yield warn("file system", found, "set AGENTDASH_HOME to a folder on a local disk")
    else:
        yield ok("file system", f"{mount.kind} on {mount.point}")


def nearest(path: Path) -> Path:
    """Return the path itself, or its nearest existing parent."""
    return next((there for there in (path, *path.parents) if there.exists()), path)


def _mode(path: Path) -> int:
    """Return the permission bits; 0 for a file that was just deleted."""
    try:
        return path.stat().st_mode & 0o777
    except FileNotFoundError:
        return 0


def _private(layout: Layout) -> Iterator[Path]:
    """Yield the existing paths that no other user may read; each folder also hides its contents."""
    yield layout.home
    yield from layout.home.glob("agentdash.db*")
    for room in (layout.sessions, layout.live, layout.trash):
        if room.is_dir():
            yield room
            yield from (entry for entry in room.iterdir() if room == layout.sessions and entry.is_dir())


_TURNS_OF_HOST = (
    "SELECT session, turns.status, boot_id, pid_ns FROM turns JOIN sessions ON sessions.id = turns.session"
    " WHERE sessions.host = ?"
)

_WARM_OF_HOST = "SELECT id FROM sessions WHERE host = ? AND warm_since IS NOT NULL"

_SHOWN = 3
"""Number of sessions listed by id; the others are only counted."""

_REMOVED = 12
"""Number of sessions that one remedy removes; a longer command does not fit on a line."""


def folders_and_rows(subject: Subject) -> Iterator[Finding]:
    """Report folders without rows and rows without a folder, each with its remedy; none if the rows cannot be read."""
    return differences(subject.layout)


def differences(layout: Layout) -> Iterator[Finding]:
    """Compare the folders of a state folder with the rows of its database."""
    # Read the folders first and check each difference again: other processes create and delete sessions during this.
    folders = session_folders(layout)
    known = session_rows(layout)
    if known is None:
        return
    by_kind: dict[Ghost, list[str]] = {}
    for session in sorted(folders - known):
        folder = layout.session(session)
        if folder.path.is_dir():
            by_kind.setdefault(kind_of(folder), []).append(session)
    by_kind.pop(Ghost.NEW, None)  # a start in progress
    gone = sorted(session for session in known - folders if not layout.session(session).path.is_dir())
    for kind, sessions in by_kind.items():
        what, remedy = _GHOSTS[kind]
        yield warn("session folders", f"{named(sessions)} {what}", remedy)
    if gone:  # a restore brings back the contents of the rows
        more = f" (then the other {len(gone) - _REMOVED})" if len(gone) > _REMOVED else ""
        remedy = f"agentdash rm {' '.join(map(short_id, gone[:_REMOVED]))}{more}"
        yield warn("session folders", f"{named(gone)} in the database, folder missing", remedy)
    if not by_kind and not gone:
        yield ok("session folders", f"{len(known)}, all in the database" if known else "none yet")


_GHOSTS = {
    Ghost.RECORDED: ("in sessions/, missing in the database", f"{REBUILD} adds them to the database"),
    Ghost.UNRECORDED: (
        "in sessions/, missing in the database, session.json unreadable",
        f"{REBUILD} recovers them from their turn files",
    ),
    Ghost.EMPTY: ("empty in sessions/ (interrupted starts)", f"{REBUILD} removes them"),
    Ghost.OTHER: ("in sessions/, not made by agentdash", "move them elsewhere"),
    Ghost.FOREIGN: ("in sessions/, written by a newer agentdash", "upgrade agentdash"),
}


def live_turns(subject: Subject) -> Iterator[Finding]:
    """Report turns that are recorded as live, and live agents that wait for prompts, whose runner is gone."""
    abandoned = _without_runner(subject.layout, _live)
    waiting = _without_runner(subject.layout, _warm)
    if abandoned is None or waiting is None:
        return
    if abandoned:
        yield warn("live turns", f"{named(abandoned)} recorded as live, runner missing", "run agentdash ls")
    if waiting:
        yield warn("live turns", f"{named(waiting)} wait for prompts, runner missing", "run agentdash ls")
    if not abandoned and not waiting:
        yield ok("live turns", "every live turn has its runner")


def _without_runner(layout: Layout, read: Callable[[Layout], set[str] | None]) -> set[str] | None:
    """Return the sessions that a query finds and whose lock is free; None if the rows cannot be read."""
    found = read(layout)
    free = {session for session in found or () if not runner_lock.is_held(layout.session(session).lock)}
    # A runner records the end before it releases its lock, so read again: what just ended is not found.
    return None if found is None else free & (read(layout) or set())


def _warm(layout: Layout) -> set[str] | None:
    """Return the sessions of this machine whose live agent is recorded as waiting."""
    found = rows(layout.database, _WARM_OF_HOST, (processes.host_name(),))
    return None if found is None else {row["id"] for row in found}


def session_folders(layout: Layout) -> set[str]:
    """Return the ids that have a folder."""
    if not layout.sessions.is_dir():
        return set()
    return {entry.name for entry in layout.sessions.iterdir() if SESSION_ID.fullmatch(entry.name) and entry.is_dir()}


def session_rows(layout: Layout) -> set[str] | None:
    """Return the ids in the database; None if it cannot be read."""
    ids = rows(layout.database, "SELECT id FROM sessions")
    return None if ids is None else {row["id"] for row in ids if SESSION_ID.fullmatch(row["id"])}


def named(sessions: Iterable[str]) -> str:
    """``3 (0f3a61c2, 1b77d0e4, ...)``: the number of sessions, and the short ids of the first."""
    ids = sorted(sessions)
    more = ", ..." if len(ids) > _SHOWN else ""
    return f"{len(ids)} ({', '.join(map(short_id, ids[:_SHOWN]))}{more})"


def _live(layout: Layout) -> set[str] | None:
    """Return the sessions of this machine with a live turn; None if the rows cannot be read."""
    turns = rows(layout.database, _TURNS_OF_HOST, (processes.host_name(),))
    if turns is None:
        return None
    boot, namespace = processes.boot_id(), processes.pid_namespace()
    # A turn of another container is for a process there to settle.
    ours = (row for row in turns if row["boot_id"] != boot or row["pid_ns"] == namespace)
    return {row["session"] for row in ours if row["status"] in LIVE}


_MODES = """
    SELECT sessions.id, sessions.agent, sessions.cwd,
        coalesce(sessions.mode, json_extract(turns.launch, '$.mode.permissions')) AS mode
    FROM sessions JOIN turns ON turns.session = sessions.id AND turns.n = sessions.turn
    WHERE sessions.archived_at IS NULL
"""


def own_files(subject: Subject) -> Iterator[Finding]:
    """Report the sessions whose agents can write agentdash's own files, and whether an agent started here could."""
    home, settings = subject.layout.home, subject.config_path

    @cache
    def reached(folder: str) -> str | None:
        return within_reach(folder, home, settings)

    modes = {name: agent_named(name).modes for name in agent_names()}
    writing = {name: of.writing for name, of in modes.items() if of is not None}
    found = rows(subject.layout.database, _MODES) or []
    sessions = {row["id"] for row in found if row["mode"] in writing.get(row["agent"], ()) and reached(row["cwd"])}
    remedy = "start agents in the folder of a project, or set AGENTDASH_HOME and AGENTDASH_CONFIG to other folders"
    if sessions:
        yield warn("own files", f"agents can change the state folder or the settings: {named(sessions)}", remedy)
    here = reached(_here())
    if here is not None:
        yield warn("own files", f"an agent that writes in the current folder can change {here}", remedy)
    if not sessions and here is None:
        yield ok("own files", "in the folder of no agent that writes there")


def _here() -> str:
    try:
        return str(Path.cwd())
    except OSError:  # it is gone
        return os.devnull


_NAMED_PROCESSES = 5
"""Number of processes listed by name; the others are only counted."""


def strays(subject: Subject) -> Iterator[Finding]:
    """Report the processes that no stop can reach, because their session is gone."""
    unknown = unknown_processes(subject.layout)
    if not unknown:
        yield ok("strays", "no processes of deleted sessions")
        return
    names = ", ".join(f"{one_line(process.command, 60)} {process.pid}" for process in unknown[:_NAMED_PROCESSES])
    more = ", ..." if len(unknown) > _NAMED_PROCESSES else ""
    pids = " ".join(str(process.pid) for process in unknown)
    yield warn(
        "strays", f"{count(len(unknown), 'process', 'processes')} of deleted sessions: {names}{more}", f"kill {pids}"
    )


def unknown_processes(layout: Layout) -> list[Process]:
    """Return the living processes of sessions that have neither row nor folder, oldest first."""
    deleted = {row["session"] for row in rows(layout.database, "SELECT session FROM tombstones") or ()}
    others = (processes.by_pid(pid) for pid in processes.scan() if pid != os.getpid())
    living = [process for process in others if process is not None and not process.zombie]
    tagged = [(process, session) for process in living if (session := _session(process, layout, deleted))]
    # Read after the scan: a session that was just started has its row and its folder by now.
    known = session_folders(layout) | (session_rows(layout) or set())
    return sorted((process for process, session in tagged if session not in known), key=lambda p: p.start)


def _session(process: Process, layout: Layout, deleted: Container[str]) -> str | None:
    """Return the session in a process's tag, if the session belongs to this state folder.

    A session that was deleted here does, whatever folder the process names: it chooses its own environment.
    """
    env = processes.environment(process.pid)
    session, home = env.get(processes.SESSION_TAG), env.get(processes.HOME)
    if not session or session in deleted:
        return session or None
    return session if home and os.path.realpath(home) == os.path.realpath(layout.home) else None
