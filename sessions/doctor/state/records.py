"""Check whether rows, folders and runners' locks agree."""

from collections.abc import Iterable, Iterator

from ...lifecycle.recovery.ghosts import Ghost, kind_of
from ...model import LIVE, short_id
from ...processes import processes, runner_lock
from ...storage.paths import SESSION_ID, Layout
from ..model import Finding, Subject, ok, warn
from .database import REBUILD, rows

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
    if gone:
        yield warn("session folders", f"{named(gone)} in the database, folder missing", _remove(gone))
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


def _remove(sessions: list[str]) -> str:
    """Return the command that removes rows whose folder is gone; a restore brings back the contents of the rows."""
    more = f" (then the other {len(sessions) - _REMOVED})" if len(sessions) > _REMOVED else ""
    return f"agentdash rm {' '.join(map(short_id, sessions[:_REMOVED]))}{more}"


def live_turns(subject: Subject) -> Iterator[Finding]:
    """Report turns that are recorded as live, and live agents that wait for prompts, whose runner is gone."""
    live = _live(subject.layout)
    if live is None:
        return
    free = {session for session in live if not runner_lock.is_held(subject.layout.session(session).lock)}
    # A runner records the end before it releases its lock, so read again: a turn that just ended is not live.
    abandoned = free & (_live(subject.layout) or set())
    waiting = _without_runner(subject.layout)
    if abandoned:
        yield warn("live turns", f"{named(abandoned)} recorded as live, runner missing", "run agentdash ls")
    if waiting:
        yield warn("live turns", f"{named(waiting)} wait for prompts, runner missing", "run agentdash ls")
    if not abandoned and not waiting:
        yield ok("live turns", "every live turn has its runner")


def _without_runner(layout: Layout) -> set[str]:
    """Return the sessions of this machine whose live agent is recorded as waiting, and whose lock is free."""
    waiting = rows(layout.database, _WARM_OF_HOST, (processes.host_name(),)) or []
    free = {row["id"] for row in waiting if not runner_lock.is_held(layout.session(row["id"]).lock)}
    # A runner records that its agent ended before it releases its lock, so read again.
    return free & {row["id"] for row in rows(layout.database, _WARM_OF_HOST, (processes.host_name(),)) or []}


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
