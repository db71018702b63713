"""Rebuild the database from the session folders, each of which holds a readable record of its rows.

A turn whose final event is in its file and was not read is corrected too: it is done, and was recorded as failed.
"""

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from msgspec import Struct, structs

from agentdash.sessions.agents.registry import agent_named
from agentdash.sessions.model.clock import now_ms
from agentdash.sessions.model.errors import AgentdashError, NewerStoreError, OlderStoreError, StoreError
from agentdash.sessions.model.session import Turn
from agentdash.sessions.rules.status import NO_PROOF, EndFacts, at_the_end
from agentdash.sessions.runner.processes import processes
from agentdash.sessions.service.lifecycle.recovery.ghosts import Ghost, ghosts, remove_empty
from agentdash.sessions.service.lifecycle.recovery.reconcile import no_runner, read_facts, settle
from agentdash.sessions.service.lifecycle.recovery.salvage import salvaged
from agentdash.sessions.storage.files import trash
from agentdash.sessions.storage.files.session_record import Identity, read_identity, restore, write_identity
from agentdash.sessions.storage.files.trash import remember
from agentdash.sessions.storage.paths import Layout, SessionFolder
from agentdash.sessions.storage.store import Store
from agentdash.sessions.storage.turns.turn_log import TurnLog
from agentdash.sessions.storage.use.day_sums import forget as forget_days


def correct_ends(layout: Layout, store: Store) -> Iterator[str]:
    """Read the ends of all such turns again; yield the id of the session of each that is corrected."""
    for turn in store.ended_by(NO_PROOF):
        with suppress(AgentdashError, OSError):  # one broken session must not keep the others from being corrected
            if _correct(layout, store, turn):
                write_identity(store, layout.session(turn.session))
                yield turn.session


def _correct(layout: Layout, store: Store, turn: Turn) -> bool:
    session = store.session(turn.session)
    facts, steps = read_facts(layout, store, turn)
    if session is None or facts.end is None:
        return False
    good = agent_named(session.agent).succeeded(facts, turn.exit_code)
    verdict = at_the_end(EndFacts(facts=facts, succeeded=good, exit_code=turn.exit_code))
    return TurnLog(store, turn.session, turn.n, no_runner(turn)).correct(facts, verdict, steps)


class Rebuilt(Struct, frozen=True, kw_only=True):
    """The result of a rebuild."""

    restored: tuple[str, ...] = ()
    """Sessions that have rows again."""
    removed: tuple[str, ...] = ()
    """Removed empty folders of starts that were cut off."""
    trashed: tuple[str, ...] = ()
    """Folders moved to the trash: their deletion was cut off, or they hold nothing that can be shown."""
    skipped: tuple[str, ...] = ()
    """The reason why a folder was left as it is, one line each."""
    corrected: tuple[str, ...] = ()
    """Sessions with a turn that was recorded as failed because the end of its output was not read."""
    set_aside: str | None = None
    """The path to which a database was moved that is damaged or has an older schema."""


def rebuild(layout: Layout, max_running: int | None = None) -> Rebuilt:
    """Give every session folder its rows again; existing rows stay as they are, but for the ends that were not read.

    A folder whose record is lost gets one made from its turn files.  The empty folder of a start that was cut off is
    removed.  A deletion that was cut off is finished.  Deleted sessions stay deleted, and count in the sums of their
    families again.

    A database that cannot be read, or that an older agentdash wrote, is moved aside first, never deleted.  Running
    runners of this version open the new one at their next check and continue to record.  ``max_running`` is the
    settings' cap of the queue.

    Raises:
        OlderStoreError: runners of an older agentdash run, which could not record in a new database.
        NewerStoreError: a newer agentdash wrote the database.
    """
    layout.check_writable()
    layout.create()
    aside = None if _usable(layout.database) else _set_aside(layout.database)
    forget_days(layout.day_sums)  # a new database can have the inode of the old one
    store = Store(layout.database)
    try:
        if max_running is not None:
            store.keep({"max_running": max_running})
        done = Rebuilt(set_aside=str(aside) if aside else None)
        for folder, kind in ghosts(layout, store.ids()):
            try:
                done = _mend(layout, store, folder, kind, done)
            except (StoreError, OSError) as error:
                done = structs.replace(done, skipped=(*done.skipped, str(error)))
        remember(store, trash.sessions(layout))
        settle(layout, store)
        done = structs.replace(done, corrected=tuple(dict.fromkeys(correct_ends(layout, store))))
    finally:
        store.close()
    return done


def _mend(layout: Layout, store: Store, folder: SessionFolder, kind: Ghost, done: Rebuilt) -> Rebuilt:
    """Repair one folder without rows, and return ``done`` with the result added."""
    if store.was_deleted(folder.id) and kind in (Ghost.RECORDED, Ghost.UNRECORDED):
        trash.put(layout, folder)
        return structs.replace(done, trashed=(*done.trashed, folder.id))
    if kind is Ghost.EMPTY and remove_empty(folder):
        return structs.replace(done, removed=(*done.removed, folder.id))
    identity = None
    if kind in (Ghost.RECORDED, Ghost.FOREIGN, Ghost.OTHER):
        identity = _marker_lost(read_identity(folder.identity))
    elif kind is Ghost.UNRECORDED:
        identity = salvaged(folder, processes.host_name())
        if identity is None:
            trash.put(layout, folder)
            return structs.replace(done, trashed=(*done.trashed, folder.id))
    if identity is not None and restore(store, identity):
        if kind is Ghost.UNRECORDED:
            with suppress(FileNotFoundError):  # the unreadable record stays beside the new one
                folder.identity.rename(folder.identity.with_name("session.json.damaged"))
            write_identity(store, folder)
        return structs.replace(done, restored=(*done.restored, folder.id))
    return done


def _marker_lost(identity: Identity) -> Identity:
    """Return the record without its read marker, which was written before the user could see how the turn ended.

    The number of steps seen is then unknown, so nothing counts as unread until the user next opens the session.
    Attention marks stay as they were.
    """
    session = identity.session
    lost = structs.replace(session, seen_at=session.seen_at or session.created_at, seen_steps=None)
    return structs.replace(identity, session=lost)


def _usable(path: Path) -> bool:
    """Return whether every page of the database can be read, and it has this version's schema.

    Raises:
        NewerStoreError: a newer agentdash wrote it, so it is not broken.
        OlderStoreError: an older agentdash wrote it, and still runs sessions.
    """
    if not path.exists():
        return not path.with_name(f"{path.name}-wal").exists()  # the log of a database that is gone fits no other
    store = Store(path)
    try:
        return [row[0] for row in store.database.rows("PRAGMA quick_check")] == ["ok"]
    except NewerStoreError:
        raise
    except OlderStoreError as error:
        if error.runs:
            raise
        return False
    except StoreError:
        return False
    finally:
        store.close()


def _set_aside(path: Path) -> Path:
    aside = path.with_name(f"{path.name}.aside-{now_ms()}")
    for ending in ("-wal", "-shm", ""):
        part = path.with_name(path.name + ending)
        if part.exists():
            part.rename(aside.with_name(aside.name + ending))
    return aside
