"""The sessions that wait for the end of another one: start them at once, or make them wait for another one."""

from ..errors import SessionBusyError, UnknownSessionError
from ..families.guarded import Guarded, acts
from ..families.rights import Rights
from ..model import Session
from ..reader import SessionReader
from ..storage.paths import Layout
from ..storage.prompts.chains import Waiting
from ..storage.store import Store
from ..supervision.queue.chains import last_message, release
from ..supervision.queue.pump import pump


class SessionChains(Guarded):
    """The decisions of the user about sessions that wait; a stop cancels them as it cancels any queued session."""

    def __init__(self, rights: Rights, layout: Layout, store: Store, reader: SessionReader) -> None:
        super().__init__(rights)
        self._layout = layout
        self._store = store
        self._reader = reader

    @acts("start")
    def start(self, ref: str, *, answer: bool = True) -> Session:
        """Start a session that waits, whatever became of the other one.

        Args:
            ref: the session.
            answer: give it the last message of the other session's newest turn, if there is one.

        Raises:
            UnknownSessionError, AmbiguousSessionError: no such session, or several.
            SessionBusyError: it does not wait for another one.
            RefusalError: a limit or a budget of its lead forbids it now.
            StoreError: the answer cannot be read.
        """
        self._layout.check_writable()
        session = self._reader.get(ref, destructive=True)
        while True:
            waiting = self._waiting(session)
            if release(self._layout, self._store, waiting, self._answer(waiting) if answer else None):
                break
        pump(self._layout, self._store)
        return self._reader.by_id(session.id)

    @acts("change")
    def wait_for(self, ref: str, other: str) -> Session:
        """Make a session that waits wait for another one instead; it starts at once if that one is done.

        Raises:
            UnknownSessionError, AmbiguousSessionError: no such session, or several.
            SessionBusyError: it does not wait for another one.
            UsageError: the other one is the session itself, or waits for it.
        """
        self._layout.check_writable()
        session = self._reader.get(ref, destructive=True)
        self._store.chains.wait_for(session.id, self._reader.get(other).id)
        pump(self._layout, self._store)
        return self._reader.by_id(session.id)

    def _waiting(self, session: Session) -> Waiting:
        waiting = self._store.chains.one(session.id)
        if waiting is None:
            status = self._reader.by_id(session.id).status
            raise SessionBusyError(f"Session {session.short_id} does not wait for another one: it is {status}.")
        return waiting

    def _answer(self, waiting: Waiting) -> str | None:
        if waiting.before.status is None:
            return None
        try:
            return last_message(self._layout, self._store, waiting.before.id)
        except UnknownSessionError:
            return None  # deleted meanwhile
