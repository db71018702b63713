"""The stops of sessions: of one with its linked workers, of several, of a whole family, and before a deletion."""

from collections.abc import Iterable

from agentdash.sessions.model.errors import AgentdashError, SessionBusyError, StoreError, UnknownSessionError
from agentdash.sessions.model.session import Receipt, Session, StoppedBy
from agentdash.sessions.model.threads import in_threads
from agentdash.sessions.runner.caller import Caller
from agentdash.sessions.runner.queue.pump import pump
from agentdash.sessions.service.families.rights import Guarded, acts
from agentdash.sessions.service.lifecycle.session_ref import check_free, check_movable
from agentdash.sessions.service.lifecycle.stop import continue_runner, stop_session, stop_unread
from agentdash.sessions.service.lifecycle.stop_family import AT_ONCE, GENTLY, StopHow, stop_with_workers, stop_workers
from agentdash.sessions.service.managing.housekeeping import Housekeeping
from agentdash.sessions.service.reader import SessionReader
from agentdash.sessions.storage.paths import Layout
from agentdash.sessions.storage.store import Store
from agentdash.sessions.text.sanitize import one_line


class Stopping(Guarded):
    """The part of the manager that ends sessions."""

    layout: Layout
    store: Store
    reader: SessionReader
    housekeeping: Housekeeping
    caller: Caller

    @acts("stop")
    def stop(self, ref: str, how: StopHow = GENTLY, *, turn: int | None = None) -> Receipt:
        """Stop a session: ladder, sweep, receipt.

        Its linked and ephemeral workers are stopped with it, and the receipt is that of all of them.  ``turn`` is the
        one turn to stop, without workers: if it has ended, those that follow it go on.

        Raises:
            SessionBusyError: a user has taken it over.
            AgentdashError: it could not be stopped.
        """
        session = self.reader.get(ref, destructive=True)
        if turn is not None:
            return self._stop(session, how, turn)
        continue_runner(self.layout, session.id)
        session = self._not_taken(session)
        self.store.wakes.waive(session.id)  # before the ends of its workers, which would wake it
        receipt = stop_with_workers(self.store, session, lambda one: self._stop(one, how))
        if session.status.ended and self.caller.acts_for_user:
            self.store.mark_handled(session.id)
        return receipt

    @acts("stop")
    def stop_all(self, refs: Iterable[str], how: StopHow = GENTLY) -> list[Receipt | AgentdashError]:
        """Stop several sessions at once; return each one's receipt, or the error that prevented it.

        Raises:
            UnknownSessionError, AmbiguousSessionError: before anything is stopped.
        """
        ids = [self.reader.get(ref, destructive=True).id for ref in refs]

        def one(session_id: str) -> Receipt | AgentdashError:
            try:
                return self.stop(session_id, how)
            except StoreError as error:
                return self.stop_unread([session_id], error)[0]
            except AgentdashError as error:
                return error

        return list(in_threads(one, ids, AT_ONCE))

    @acts("stop")
    def stop_unread(self, refs: Iterable[str], why: StoreError) -> list[Receipt | AgentdashError]:
        """Stop sessions whose rows cannot be read; return each one's receipt, or the error that prevented it.

        ``why`` is the error that kept them from being read.
        """

        def one(ref: str) -> Receipt | AgentdashError:
            try:
                return stop_unread(self.layout, ref, why)
            except AgentdashError as error:
                return error

        return list(in_threads(one, list(refs), AT_ONCE))

    @acts("stop")
    def stop_family(self, refs: Iterable[str], how: StopHow = GENTLY) -> list[tuple[Session, Receipt | AgentdashError]]:
        """Stop sessions and all their descendants, until none is left: new ones may begin while others end.

        Raises:
            UnknownSessionError, AmbiguousSessionError: before anything is stopped.
        """
        roots = [self.reader.get(ref, destructive=True) for ref in refs]
        done: dict[str, tuple[Session, Receipt | AgentdashError]] = {}
        due = roots
        while due:
            receipts = self.stop_all([session.id for session in due], how)
            done |= {session.id: (session, receipt) for session, receipt in zip(due, receipts, strict=True)}
            below = [one for root in roots for one in self.store.descendants(root.id)]
            due = list({one.id: one for one in below if one.id not in done and not one.status.ended}.values())
        return list(done.values())

    @acts("delete", on_itself=False)
    def delete(self, ref: str) -> Receipt | None:
        """Stop a session if needed, then move its folder to the trash; return the receipt if anything was stopped.

        :meth:`.housekeeping.Housekeeping.restore` brings it back until the trash is cleaned.

        Raises:
            SessionBusyError: a new turn started first, or a user of this machine has taken it over.
        """
        session = self.reader.get(ref, destructive=True)
        if session.taken_by is not None:
            self.housekeeping.settle()
            session = self.reader.by_id(session.id)
            check_movable(self.layout, session, "deleted")

        def end(one: Session) -> Receipt:
            return self._end(one, GENTLY) if one.id == session.id else self._stop(one, GENTLY)

        self.store.wakes.waive(session.id)
        receipt = stop_with_workers(self.store, session, end)
        if not self.housekeeping.bury(session, patience=5.0, archived=True):
            if self.store.session(session.id) is None:
                raise UnknownSessionError(f"Session {session.short_id} was deleted.")
            raise SessionBusyError(f"Session {session.short_id} was started again; not deleted.")
        pump(self.layout, self.store)  # sessions that wait for it need a decision
        return receipt if receipt.ended or receipt.left else None

    def _stop_workers(self, session: Session) -> None:
        """Stop the linked workers of a session, but not the session."""
        stop_workers(self.store, session, lambda one: self._stop(one, GENTLY))

    def _stop(self, session: Session, how: StopHow, turn: int | None = None) -> Receipt:
        """Stop a session without its workers."""
        return self._end(self._not_taken(session), how, turn)

    def _end(self, session: Session, how: StopHow, turn: int | None = None) -> Receipt:
        if turn is None:
            self.store.wakes.waive(session.id)
        receipt = stop_session(
            self.layout, self.store, session, settle=self.housekeeping.settle, now=how.now, only=turn,
            by=_stopper(self.caller, self.store, session.id, how.reason),
        )  # fmt: skip
        pump(self.layout, self.store)  # a session that was cancelled before its start frees its place
        if not receipt.ended:
            self.housekeeping.record(self.layout.session(session.id))
        return receipt

    def _not_taken(self, session: Session) -> Session:
        """Return a session, as it is now; refuse one that a user has taken over."""
        session = self.reader.by_id(session.id)
        if session.taken_by is not None:
            self.housekeeping.settle()
            session = self.reader.by_id(session.id)
            check_free(session, "stopped")
        return session


_REASON_CELLS = 200
"""Longest reason of a stop, on one line."""

_OTHER = "another session"
"""Recorded for a session that stops one that it does not lead (``orchestration.reach = "all"``)."""


def _stopper(caller: Caller, store: Store, session_id: str, reason: str = "") -> str:
    """Return the text to record for a stop of a session; the reason may have any shape."""
    given = one_line(reason, _REASON_CELLS).strip()
    if caller.session is None:
        by: str = StoppedBy.YOU if caller.acts_for_user else StoppedBy.LEAD
    elif caller.session == session_id:
        by = StoppedBy.YOU
    else:
        by = StoppedBy.LEAD if store.families.is_below(session_id, caller.session) else _OTHER
    return f"{by}: {given}" if given else by
