"""Deleted sessions: their folders stay in ``trash/`` until ``clean``, and can be restored.

Only sessions' folders are ever touched here; other files in ``trash/`` are left alone.  What is in the trash gives the
tombstones again if the database was lost: families go on counting what their deleted sessions spent."""

import os
import shutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

from msgspec import Struct, structs

from agentdash.sessions.model.errors import AmbiguousSessionError, StoreError, UnknownSessionError, UsageError
from agentdash.sessions.model.session import Session, Status, short_id
from agentdash.sessions.rules.costs.repricing import Estimates
from agentdash.sessions.storage.files.session_record import Identity, read_identity, restore, write_record
from agentdash.sessions.storage.paths import SESSION_ID, Layout, SessionFolder
from agentdash.sessions.storage.rows import dump
from agentdash.sessions.storage.store import Store

T = TypeVar("T")


class Trashed(Struct, frozen=True, kw_only=True):
    """One deleted session."""

    id: str
    title: str
    deleted_at: int
    """UTC ms."""
    bytes: int


class Cleaned(Struct, frozen=True, kw_only=True):
    """The result of a clean-up, or of a dry run."""

    deleted: tuple[Session, ...]
    """Moved to the trash."""
    kept: tuple[Session, ...]
    """Old, but some of their processes still run."""
    removed: tuple[Trashed, ...]
    """Removed from the trash for good."""
    empty_folders: int = 0
    """Number of folders left by starts that broke off before they recorded anything; removed for good."""


def put(layout: Layout, folder: SessionFolder) -> None:
    """Move a session's folder to the trash; its modification time becomes the time of the deletion."""
    os.utime(folder.path)
    folder.path.rename(layout.trash / folder.id)


def _entries(layout: Layout) -> list[Path]:
    """Everything in the trash; empty if there is no trash, as in a read-only folder that never had one."""
    try:
        return list(layout.trash.iterdir())
    except FileNotFoundError:
        return []


def count(layout: Layout) -> int:
    """The number of deleted sessions; their records are not read."""
    return sum(map(_is_a_sessions, _entries(layout)))


def listing(layout: Layout) -> list[Trashed]:
    """The deleted sessions with their sizes, last deleted first."""
    return sorted(_each(layout, _trashed), key=lambda trashed: -trashed.deleted_at)


def sessions(layout: Layout) -> list[Session]:
    """The deleted sessions, last deleted first; a placeholder for each whose record cannot be read."""
    return sorted(_each(layout, _session), key=lambda session: -(session.deleted_at or 0))


def _each(layout: Layout, read: Callable[[Path], T]) -> Iterator[T]:
    for path in _entries(layout):
        with suppress(FileNotFoundError):  # restored or removed since the trash was listed
            if _is_a_sessions(path):
                yield read(path)


def _session(path: Path) -> Session:
    at = path.stat().st_mtime_ns // 10**6
    try:
        return structs.replace(read_identity(path / "session.json").session, deleted_at=at)
    except StoreError as error:
        return Session(
            id=path.name, agent="?", title=path.name, task="", status=Status.LOST, reason=str(error), cwd="", turn=0,
            created_at=at, updated_at=at, deleted_at=at,
        )  # fmt: skip


def record(layout: Layout, session_id: str) -> Identity | None:
    """The record of the deleted session with exactly this id; None if the trash has no such session.

    Raises:
        StoreError: the record cannot be read.
    """
    path = layout.trash / session_id
    known = SESSION_ID.fullmatch(session_id) is not None and _is_a_sessions(path)
    return read_identity(path / "session.json") if known else None


def begins(layout: Layout, ref: str) -> str | None:
    """The id of the only deleted session whose id begins with ``ref``; None if there is none, or several."""
    names = [path.name for path in _entries(layout) if path.name.startswith(ref) and _is_a_sessions(path)]
    return names[0] if len(names) == 1 else None


def find(layout: Layout, ref: str) -> Trashed:
    """Find one deleted session by a unique beginning of its id, or by ``@last``.

    Raises:
        UnknownSessionError, AmbiguousSessionError, UsageError: none, several, or an empty text.
    """
    ref = ref.strip().lower()
    if not ref:
        raise UsageError("Empty session id. List deleted sessions: agentdash restore")
    there = listing(layout)
    matches = there[:1] if ref == "@last" else [trashed for trashed in there if trashed.id.startswith(ref)]
    if not matches:
        raise UnknownSessionError(f"No deleted session with id {ref!r}.")
    if len(matches) > 1:
        lines = [f"  {trashed.id[:13]}  {trashed.title[:60]}" for trashed in matches[:8]]
        raise AmbiguousSessionError("\n".join([f"{ref!r} is ambiguous:", *lines]))
    return matches[0]


def take_back(layout: Layout, store: Store, session_id: str) -> Session:
    """Undo a deletion: move the folder back to its place, and insert its record as rows.

    Raises:
        StoreError: the record cannot be read, or a session with this id exists.
    """
    folder = layout.session(session_id)
    identity = read_identity(layout.trash / session_id / folder.identity.name)
    if folder.path.exists():
        raise StoreError(f"{folder.path} already exists.")
    (layout.trash / session_id).rename(folder.path)
    try:
        if not restore(store, identity):
            raise StoreError(f"Session {short_id(session_id)} already exists.")
    except BaseException:
        folder.path.rename(layout.trash / session_id)
        raise
    return identity.session


def set_estimates(layout: Layout, session_id: str, estimates: Estimates) -> None:
    """Write other estimated costs into the record of a deleted session: a restored one then has them.

    Raises:
        OSError: the record cannot be written, or the session is no longer in the trash.
        StoreError: the record cannot be read.
    """
    folder = layout.trash / session_id
    deleted = folder.stat()
    identity = read_identity(folder / "session.json")
    session = structs.replace(identity.session, cost_about_usd=estimates.whole, cost_missing=estimates.missing)
    turns = [
        structs.replace(turn, cost_about_usd=estimates.turns.get(turn.n, turn.cost_about_usd))
        for turn in identity.turns
    ]
    write_record(folder / "session.json", structs.replace(identity, session=session, turns=tuple(turns)))
    os.utime(folder, ns=(deleted.st_atime_ns, deleted.st_mtime_ns))  # it is the time of the deletion


def empty(layout: Layout, before_ms: int, *, dry_run: bool = False) -> list[Trashed]:
    """Remove for good the sessions deleted before a time (UTC ms); return them, also in a dry run."""
    old = [trashed for trashed in listing(layout) if trashed.deleted_at < before_ms]
    if not dry_run:
        old = [trashed for trashed in old if _remove(layout.trash / trashed.id)]
    return old


def _remove(path: Path) -> bool:
    """Remove a folder for good.  It is renamed first, so that no process can restore it during the removal."""
    going = path.with_name(f".gone-{path.name}")
    try:
        path.rename(going)
    except FileNotFoundError:
        return False
    shutil.rmtree(going)
    return True


def _is_a_sessions(path: Path) -> bool:
    known = SESSION_ID.fullmatch(path.name) is not None and not path.is_symlink() and path.is_dir()
    return known and (path / "turns").is_dir()


def _trashed(path: Path) -> Trashed:
    try:
        session = read_identity(path / "session.json").session
        title = session.label
    except StoreError:
        title = "?"
    size = sum(file.lstat().st_size for file in path.rglob("*") if file.is_file() and not file.is_symlink())
    return Trashed(id=path.name, title=title, deleted_at=path.stat().st_mtime_ns // 10**6, bytes=size)


_INSERT = (
    "INSERT INTO tombstones (session, seq, deleted_at, parent, lead, budget, total_tokens, cost_usd, cost_about_usd,"
    " cost_missing, tokens_missing) SELECT ?1, 0, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10"
    " WHERE NOT EXISTS (SELECT 1 FROM sessions WHERE id = ?1)"
    " AND NOT EXISTS (SELECT 1 FROM tombstones WHERE session = ?1)"
)
"""Its place in the change feed is before all others: the deletion is not a change that a reader has missed."""


def remember(store: Store, deleted: Iterable[Session]) -> None:
    """Record deleted sessions that have neither rows nor a tombstone, because the database was lost.

    Args:
        deleted: the sessions as their records in the trash have them, with the times of their deletion.
    """
    rows = [
        (
            one.id, one.deleted_at or 0, one.parent, one.lead, dump(one.budget) if one.budget else None,
            one.usage.total_tokens, one.cost_usd, one.cost_about_usd, one.cost_missing, one.tokens_missing,
        )
        for one in deleted
    ]  # fmt: skip
    if rows:
        with store.database.transaction() as db:
            db.executemany(_INSERT, rows)
