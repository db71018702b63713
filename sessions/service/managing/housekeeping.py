"""Housekeeping of sessions: rename, pin, archive, delete and restore them, and conclude those whose runner died.

Runners and the MCP server read no settings: a front end that has read the file stores what they need in the database.
"""

from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from typing import NamedTuple

from agentdash.sessions.model.clock import now_ms
from agentdash.sessions.model.errors import ConfigError, SessionBusyError, UnknownSessionError, UsageError
from agentdash.sessions.model.session import ENDED, LIVE, Session, StoppedBy
from agentdash.sessions.model.threads import in_threads
from agentdash.sessions.runner.processes import runner_lock
from agentdash.sessions.runner.queue.pump import pump
from agentdash.sessions.runner.runner_process import poke
from agentdash.sessions.service.families.rights import Guarded, Rights, acts
from agentdash.sessions.service.lifecycle import session_ref
from agentdash.sessions.service.lifecycle.recovery.ghosts import Ghost, ghosts, remove_empty
from agentdash.sessions.service.lifecycle.recovery.reconcile import settle
from agentdash.sessions.service.lifecycle.session_ref import check_movable, held_elsewhere
from agentdash.sessions.service.lifecycle.starts.launch_plan import new_title
from agentdash.sessions.service.reader import SessionReader
from agentdash.sessions.settings.config import Config, Loaded
from agentdash.sessions.settings.sections import period_budgets, project_budgets, real
from agentdash.sessions.storage.files import trash
from agentdash.sessions.storage.files.session_record import write_identity
from agentdash.sessions.storage.files.trash import Cleaned
from agentdash.sessions.storage.paths import Layout, SessionFolder
from agentdash.sessions.storage.prompts.drafts import forget_drafts
from agentdash.sessions.storage.store import Store

WRITERS = 8
"""Number of session records written at the same time."""


def keep_settings(store: Store, config: Config) -> bool:
    """Store what runners and the MCP server need of the settings; return whether a budget changed."""
    store.keep(
        {
            "max_running": config.queue.max_running,
            "max_depth": config.orchestration.max_depth,
            "wakes": config.orchestration.wakes,
            "escalate_ms": round(config.orchestration.escalate_seconds * 1000),
        }
    )
    return store.period_budgets.keep(period_budgets(config.budgets))


def keep_start(store: Store, settings: Loaded, *, own: bool = True) -> None:
    """Store what the runner of a start needs; the budgets of a project bind its folder beside the user's own.

    ``own`` is false for a start by a session: the file that it reads is not stored in place of the user's.
    """
    project = settings.project
    if own:
        keep_settings(store, settings.config if project is None else project.own)
    if project is not None:
        root = project.path.parent
        store.period_budgets.keep(project_budgets(project.stated, root), real(str(root)))


class Housekeeping(Guarded):
    """Keeps sessions in order; starts nothing, and stops only the linked workers of what is archived.

    Args:
        end_workers: stops the linked workers of a session.
    """

    def __init__(
        self,
        rights: Rights,
        layout: Layout,
        store: Store,
        reader: SessionReader,
        end_workers: Callable[[Session], object] = lambda _: None,
    ) -> None:
        super().__init__(rights)
        self._layout = layout
        self._store = store
        self._reader = reader
        self._end_workers = end_workers

    @acts("archive")
    def archive(self, ref: str) -> Session:
        """Archive an ended session: no list shows it unless asked, and no clean-up deletes it.

        Raises:
            SessionBusyError: it has not ended, or a user of this machine has taken it over.
        """
        session = self.settled(ref)
        if not session.status.ended:
            raise SessionBusyError(
                f"Session {session.short_id} is {session.status}: only ended sessions can be archived."
            )
        check_movable(self._layout, session, "archived")
        self._stop_workers([session.id])
        if not self._store.archive(session.id, now_ms(), holder=_holder(session)):
            raise SessionBusyError(f"Session {session.short_id} was started again; not archived.")
        self._close_agents([session.id])
        self.record(self._layout.session(session.id))
        return self._reader.by_id(session.id)

    @acts("archive")
    def archive_all(
        self, session_ids: Sequence[str], *, away: bool = True, each: Callable[[int], object] = lambda _: None
    ) -> list[str]:
        """Archive several sessions in one transaction, or take them out of the archive.

        Args:
            session_ids: whole ids.  Sessions that have not ended, are taken over on this machine, or are already in the
                requested state do not change.
            away: False takes them out of the archive.
            each: called with the number of sessions whose folder records it so far.

        Returns:
            The ids of the sessions that changed.
        """
        if away:
            self._stop_workers(session_ids)
        gone = [taken.run_id for one in self._store.taken() if (taken := held_elsewhere(one)) is not None]
        changed = self._store.archive_all(session_ids, now_ms() if away else None, holders=gone)
        if away:
            self._close_agents(changed)
        folders = [self._layout.session(session_id) for session_id in changed]
        # The disk takes the most time, and it can write several files at the same time.
        for number, _ in enumerate(in_threads(self.record, folders, WRITERS), 1):
            each(number)
        return changed

    def _stop_workers(self, session_ids: Sequence[str]) -> None:
        """Stop the linked workers of sessions that are being archived."""
        if self._store.families.leading():
            for session in filter(None, map(self._store.session, session_ids)):
                if session.status.ended:
                    self._end_workers(session)

    def _close_agents(self, session_ids: Collection[str]) -> None:
        """Request that the live agents of these sessions that wait for prompts are closed."""
        for session in self._store.with_warm_agent():
            if session.id in session_ids:
                self._store.request_close(session, StoppedBy.YOU)
                poke(self._layout.session(session.id).poke)

    @acts("rename")
    def rename(self, ref: str, title: str) -> Session:
        """Give a session another title; an empty one restores the automatic title, the beginning of its task.

        Raises:
            UsageError: the title is longer than 200 characters, or is not text.
        """
        session = self._reader.get(ref)
        return self._noted(session, self._store.rename(session.id, new_title(title, session.task)))

    @acts("pin")
    def pin(self, ref: str, pinned: bool = True) -> Session:
        """Pin a session above the others, or unpin it; pinning twice changes nothing."""
        session = self._reader.get(ref)
        return self._noted(session, self._store.pin(session.id, now_ms() if pinned else None))

    @acts("restore")
    def restore(self, ref: str) -> Session:
        """Bring back a deleted or archived session."""
        self._layout.check_writable()
        with suppress(UnknownSessionError):
            session = self._reader.get(ref) if ref != session_ref.LAST else None
            if session is not None and session.archived_at is None:
                raise UsageError(f"Session {session.short_id} is neither deleted nor archived.")
            if session is not None:
                self._store.archive(session.id, None)
                self.record(self._layout.session(session.id))
                return self._reader.by_id(session.id)
        trashed = trash.find(self._layout, ref)
        trash.take_back(self._layout, self._store, trashed.id)
        pump(self._layout, self._store)  # sessions may wait for it
        return self._reader.by_id(trashed.id)

    def mark_seen(self, ref: str, steps: int | None = None) -> None:
        """Record that the user has seen ``steps`` steps (default: all recorded steps); never fewer than before.

        A read by a session does not count: it must not hide a need from the user.
        """
        session = self._reader.get(ref)
        if self.rights.caller.acts_for_user:
            self._store.mark_seen(session.id, steps)

    @acts("mark")
    def mark_all_seen(self, refs: Sequence[str], *, seen: bool = True) -> list[Session]:
        """Mark sessions read, or unread if not ``seen``; return them as they are now."""
        ids = [self._reader.get(ref).id for ref in refs]
        (self._store.mark_all_seen if seen else self._store.mark_all_unseen)(ids)
        return [self._reader.by_id(session_id) for session_id in ids]

    @acts("mark")
    def recall_seen(self, refs: Sequence[str], before: Sequence[Session]) -> list[Session]:
        """Undo a mark: record again when the user saw these sessions, and what, as they were ``before``."""
        ids = {self._reader.get(ref).id for ref in refs}
        self._store.recall_seen(
            {one.id: (one.seen_at, one.seen_steps, one.handled_at) for one in before if one.id in ids}
        )
        return [self._reader.by_id(session_id) for session_id in ids]

    def clean(self, older_than_s: float = 7 * 86_400, *, dry_run: bool = False) -> Cleaned:
        """Delete sessions that ended over ``older_than_s`` seconds ago, and empty the trash of those deleted earlier.

        The age counts from the end, not from the start: a session that worked for a week and has just ended stays.
        Sessions that run, are archived or taken over, lead linked workers that run, have left processes running, or
        have a live agent that waits stay as well, and so do those for which another session waits: it would lose the
        answer that it is to get.
        Empty folders of starts that were cut off are removed too.
        """
        if not dry_run:
            self.rights.check_user("clean up")
            self._layout.check_writable()
        limit = now_ms() - round(older_than_s * 1000)
        old = [s for s in self._store.sessions(ENDED) if (s.ended_at or s.updated_at) < limit and not s.archived_at]
        needed = {waiting.before.id for waiting in self._store.chains.waiting()} | self._store.families.leading()
        kept = [s for s in old if s.left or s.warm_since is not None or s.taken_by is not None or s.id in needed]
        deleted = [session for session in old if session not in kept]
        removed = trash.empty(self._layout, limit, dry_run=dry_run)
        if not dry_run:
            for trashed in removed:
                forget_drafts(self._layout, trashed.id)
            deleted = [session for session in deleted if self.bury(session)]
            pump(self._layout, self._store)  # sessions that wait for one of them need a decision
            from agentdash.sessions.transcript.index import index_file

            index_file.forget_others(self._layout.indexes, {session.id for session in self._store.sessions()})
        empty = [folder for folder, kind in ghosts(self._layout, self._store.ids()) if kind is Ghost.EMPTY]
        gone = len(empty) if dry_run else sum(map(remove_empty, empty))
        return Cleaned(deleted=tuple(deleted), kept=tuple(kept), removed=tuple(removed), empty_folders=gone)

    def settle(self) -> None:
        """Settle sessions whose runner died: adopt those whose agent lives, conclude the others, restart lost runners.

        In a read-only state folder this does nothing, and sessions are shown as recorded.
        """
        if self._layout.read_only:
            return
        with suppress(ConfigError):  # the next start reports broken settings
            if self.rights.states_settings and keep_settings(self._store, self._reader.settings.config()):
                for session in self._store.sessions(LIVE):  # they read the budgets again
                    with suppress(OSError):
                        poke(self._layout.session(session.id).poke)
        settle(self._layout, self._store)
        if reported := self._store.families.reported():  # ephemeral workers that are done, and whose leads know it
            changed = self._store.archive_all(reported, now_ms())
            self._close_agents(changed)
            for session_id in changed:
                self.record(self._layout.session(session_id))

    @acts("delete", on_itself=False)
    def bury(self, session: Session, *, patience: float = 0.0, archived: bool = False) -> bool:
        """Move an ended session to the trash; False if it runs again, is gone, or has just been archived.

        Nothing is stopped: no runner can start under the lock, and the rows decide.
        """
        folder = self._layout.session(session.id)
        there = folder.path.is_dir()
        if not there:
            folder.create()  # its record goes to the trash in this folder, so that this deletion can be undone too
        try:
            lock = runner_lock.hold(folder.lock, timeout=patience)
        except FileNotFoundError:
            return False
        if lock is None and not archived:
            return False
        try:
            self.record(folder)
            if not self._store.delete(session.id, session.turn, archived=archived, holder=_holder(session)):
                if not there:
                    remove_empty(folder)
                return False
            trash.put(self._layout, folder)
            from agentdash.sessions.transcript.index import index_file

            index_file.forget(self._layout.indexes, session.id)
        finally:
            if lock is not None:
                lock.release()
        return True

    def _noted(self, session: Session, exists: bool) -> Session:
        """Record a new title or pin in the session's folder too, and return the session as it is now."""
        if not exists:
            raise UnknownSessionError(f"Session {session.short_id} was deleted.")
        self.record(self._layout.session(session.id))
        return self._reader.by_id(session.id)

    def record(self, folder: SessionFolder) -> None:
        """Write the session's rows into its folder too: a queued turn must survive the loss of the database."""
        with suppress(OSError):
            write_identity(self._store, folder)

    def settled(self, ref: str) -> Session:
        """Return the session that ``ref`` names, after :meth:`settle` if it has not ended or is taken over."""
        session = self._reader.get(ref)
        if session.status.ended and session.taken_by is None:
            return session
        self.settle()
        return self._reader.by_id(session.id)


class Shared(NamedTuple):
    """The things that most acts need, the same for all parts of a manager."""

    rights: Rights
    layout: Layout
    store: Store
    reader: SessionReader
    housekeeping: Housekeeping


class ManagerPart(Guarded):
    """A part of the manager that changes sessions."""

    def __init__(self, shared: Shared) -> None:
        super().__init__(shared.rights)
        _, self._layout, self._store, self._reader, self._housekeeping = shared


def _holder(session: Session) -> str:
    """Return the ``run_id`` of the user of another machine who has the session; empty if there is none."""
    taken = held_elsewhere(session)
    return taken.run_id if taken is not None else ""
