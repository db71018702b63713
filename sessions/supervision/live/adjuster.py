"""The changes of settings that a live agent takes while its process runs: written, and concluded from its answers."""

from ...adjustments import Adjustment
from ...agents.base import Agent
from ...agents.dialogue import Changed, Event, NotChanged
from ...storage.store import Store
from .agent import LiveAgent


class Adjuster:
    """Writes the requested changes to the agent.

    A runner that adopts the agent writes a change again that the agent has not confirmed: to set the same value twice
    does no harm.

    Args:
        live: the agent.
        store: the rows.
        session_id: the session.
        agent: its adapter.
    """

    def __init__(self, live: LiveAgent, store: Store, session_id: str, agent: Agent) -> None:
        self._live = live
        self._agent = agent
        self._store = store
        self._session = session_id
        self._waiting: list[Adjustment] = []
        """The changes to write, the oldest first."""
        self._written: dict[int, Adjustment] = {}
        """The changes that the agent has not answered."""
        self._known: set[int] = set()

    def look(self) -> None:
        """Read the requested changes.

        Raises:
            StoreError: they cannot be read.
        """
        for one in self._store.adjustments.pending(self._session):
            if one.id not in self._known:
                self._known.add(one.id)
                self._waiting.append(one)

    def advance(self) -> None:
        """Send what can be sent.

        Raises:
            StoreError: the state of a change cannot be recorded.
        """
        while self._waiting and self._live.dialogue.ready:
            one = self._waiting.pop(0)
            line = self._live.dialogue.change(one.what, one.value)
            if line is None:
                self._store.adjustments.refused(one.id, f"it has no way to change its {one.what}")
                continue
            self._written[one.id] = one
            self._live.send(line)
            self._store.adjustments.sent(one.id)

    def hear(self, event: Event) -> None:
        """Conclude from an event of the agent.

        Raises:
            StoreError: the state of a change cannot be recorded.
        """
        match event:
            case Changed(what=what, value=value):
                one = self._answered(what, value)
                if one is not None:
                    self._live.adjusted(what, value, dangerous=value in self._agent.dangerous)
                    self._store.adjustments.in_force(one)
            case NotChanged(what=what, value=value, reason=reason):
                one = self._answered(what, value)
                if one is not None:
                    self._store.adjustments.refused(one.id, reason)
            case _:
                pass

    def _answered(self, what: str, value: str) -> Adjustment | None:
        """Return the oldest unanswered change to this value, and forget it; None if there is none."""
        found = next((one for one in self._written.values() if (one.what, one.value) == (what, value)), None)
        if found is not None:
            del self._written[found.id]
        return found
