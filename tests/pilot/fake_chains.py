"""The chains of the fake manager, by the interface of the real ones."""

from msgspec import structs

from agentdash.sessions.model.errors import SessionBusyError
from agentdash.sessions.model.session import Status


class FakeChains:
    """A session that waits starts when it is asked to."""

    def __init__(self, manager):
        self._manager = manager

    def start(self, ref, *, answer=True):
        session = self._manager.get(ref)
        self._manager.asked("start", session.id, answer)
        if session.after is None:
            raise SessionBusyError(f"Session {session.short_id} does not wait for another one: it is {session.status}.")
        begun = structs.replace(
            session, status=Status.RUNNING, after=None, followed=session.after, blocked=False, reason=None
        )
        self._manager.put(begun)
        return begun

    def wait_for(self, ref, other):
        self._manager.asked("wait for", ref, other)
        changed = structs.replace(self._manager.get(ref), after=self._manager.get(other).id)
        self._manager.put(changed)
        return changed
