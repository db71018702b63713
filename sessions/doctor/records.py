"""Whether rows, folders and runners' locks tell the same story."""

from collections.abc import Iterable, Iterator

from ..layout import SESSION_ID, Layout
from ..model import LIVE
from ..supervision import locks, procs
from .database import REBUILD, rows
from .model import Finding, Subject, ok, warn

_TURNS_OF_HOST = (
    "SELECT session, turns.status, boot_id, pid_ns FROM turns JOIN sessions ON sessions.id = turns.session"
    " WHERE sessions.host = ?"
)

_SHOWN = 3
"""Sessions that are named; of more there is the number."""


def folders_and_rows(subject: Subject) -> Iterator[Finding]:
    """Folders that no row knows, and rows whose folder is gone; nothing where the rows cannot be read."""
    layout = subject.layout
    # Folders first, and what differs again: others go on making and deleting sessions meanwhile.
    folders = session_folders(layout)
    known = session_rows(layout)
    if known is None:
        return
    unknown = {session for session in folders - known if layout.session(session).path.is_dir()}
    gone = {session for session in known - folders if not layout.session(session).path.is_dir()}
    if unknown:
        yield warn("session folders", f"{named(unknown)} in sessions/ but not in the database", REBUILD)
    if gone:
        yield warn("session folders", f"{named(gone)} in the database but without a folder", REBUILD)
    if not unknown and not gone:
        yield ok("session folders", f"{len(known)}, each with its row" if known else "none yet")


def live_turns(subject: Subject) -> Iterator[Finding]:
    """Turns that are recorded as live, but whose runner is gone."""
    live = _live(subject.layout)
    if live is None:
        return
    free = {session for session in live if not locks.is_held(subject.layout.session(session).lock)}
    # A runner records the end before it lets go of its lock: what ended meanwhile is not live any more.
    if abandoned := free & (_live(subject.layout) or set()):
        yield warn("live turns", f"{named(abandoned)} recorded as live without a runner", "agentdash ls settles it")
    else:
        yield ok("live turns", "each has its runner")


def session_folders(layout: Layout) -> set[str]:
    """The ids that have a folder."""
    if not layout.sessions.is_dir():
        return set()
    return {entry.name for entry in layout.sessions.iterdir() if SESSION_ID.fullmatch(entry.name) and entry.is_dir()}


def session_rows(layout: Layout) -> set[str] | None:
    """The ids that the database knows; None where it cannot be read."""
    found = rows(layout.database, "SELECT id FROM sessions")
    return None if found is None else {row["id"] for row in found if SESSION_ID.fullmatch(row["id"])}


def named(sessions: Iterable[str]) -> str:
    """``3 (0f3a61c2, 1b77d0e4, ...)``: how many, and the short ids of the first."""
    ids = sorted(sessions)
    more = ", ..." if len(ids) > _SHOWN else ""
    return f"{len(ids)} ({', '.join(session[:8] for session in ids[:_SHOWN])}{more})"


def _live(layout: Layout) -> set[str] | None:
    """Sessions of this machine with a live turn; None where the rows cannot be read."""
    found = rows(layout.database, _TURNS_OF_HOST, (procs.host_name(),))
    if found is None:
        return None
    boot, namespace = procs.boot_id(), procs.pid_namespace()
    # A turn of another container is for that one to settle.
    ours = (row for row in found if row["boot_id"] != boot or row["pid_ns"] == namespace)
    return {row["session"] for row in ours if row["status"] in LIVE}
