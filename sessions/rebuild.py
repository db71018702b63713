"""The database once more, from the session folders: each holds a readable record of its own rows."""

from pathlib import Path

from msgspec import Struct, structs

from .clock import now_ms
from .errors import NewerStoreError, StoreError
from .identity_file import Identity, read_identity
from .layout import SESSION_ID, Layout
from .settling import settle
from .store.restore import restore
from .store.store import Store


class Rebuilt(Struct, frozen=True, kw_only=True):
    """What a rebuild did."""

    restored: tuple[str, ...] = ()
    """Sessions that have rows again."""
    skipped: tuple[str, ...] = ()
    """Why a folder could not be read, one line each."""
    set_aside: str | None = None
    """Where a database that could not be used lies now."""


def rebuild(layout: Layout, max_running: int | None = None) -> Rebuilt:
    """Give every session folder its rows again; rows that are there stay as they are.

    A database that cannot be read is moved aside first, never deleted.  Runners that live open the new one at
    their next look and go on recording.  ``max_running`` is the cap of the queue by the settings.
    """
    layout.check_writable()
    layout.create()
    aside = None if _usable(layout.database) else _set_aside(layout.database)
    store = Store(layout.database)
    try:
        if max_running is not None:
            store.max_running(max_running)
        restored, skipped = _restore_all(layout, store)
        settle(layout, store)
    finally:
        store.close()
    return Rebuilt(restored=tuple(restored), skipped=tuple(skipped), set_aside=str(aside) if aside else None)


def _restore_all(layout: Layout, store: Store) -> tuple[list[str], list[str]]:
    restored, skipped = [], []
    for path in sorted(layout.sessions.iterdir()):
        if SESSION_ID.fullmatch(path.name) is None or store.session(path.name) is not None:
            continue
        try:
            identity = read_identity(layout.session(path.name).identity)
        except StoreError as error:
            skipped.append(str(error))
            continue
        if identity.session.id == path.name and restore(store, _marker_lost(identity)):
            restored.append(path.name)
    return restored, skipped


def _marker_lost(identity: Identity) -> Identity:
    """The record without what it says of who looked: it was written before anybody could see how the turn ended.

    How many steps were seen is not known then, and nothing counts as unread until the next look.  What needs
    attention does as before.
    """
    session = identity.session
    lost = structs.replace(session, seen_at=session.seen_at or session.created_at, seen_steps=None)
    return structs.replace(identity, session=lost)


def _usable(path: Path) -> bool:
    """Whether every page of the database can be read.

    Raises:
        NewerStoreError: a newer agentdash wrote it: then it is not broken.
    """
    if not path.exists():
        return not path.with_name(f"{path.name}-wal").exists()  # the log of a database that is gone fits no other
    store = Store(path)
    try:
        return [row[0] for row in store.database.rows("PRAGMA quick_check")] == ["ok"]
    except NewerStoreError:
        raise
    except StoreError:
        return False
    finally:
        store.close()


def _set_aside(path: Path) -> Path:
    aside = path.with_name(f"{path.name}.broken-{now_ms()}")
    for ending in ("-wal", "-shm", ""):
        part = path.with_name(path.name + ending)
        if part.exists():
            part.rename(aside.with_name(aside.name + ending))
    return aside
