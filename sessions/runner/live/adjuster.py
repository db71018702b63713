"""The changes of settings that a live agent takes while its process runs: written, and concluded from its answers."""

import contextlib
from functools import partial

from agentdash.sessions.agents.base import Agent
from agentdash.sessions.agents.dialogue import Changed, Event, NotChanged
from agentdash.sessions.model.adjustments import Adjustment
from agentdash.sessions.model.errors import StoreError
from agentdash.sessions.rules.launch import TurnPlan, with_mode
from agentdash.sessions.runner.live.agent import LiveAgent
from agentdash.sessions.storage.store import Store


class Adjuster:
    """Writes the requested changes to the agent.

    A runner that adopts the agent writes a change again that the agent has not confirmed: to set the same value twice
    does no harm.
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
            one = self._waiting[0]
            line = self._live.dialogue.change(one.what, one.value)
            if line is None:
                self._store.adjustments.refused(one.id, f"it has no way to change its {one.what}")
            else:
                self._written[one.id] = one
                self._live.unsure = self._live.unsure or one.what == "mode"
                self._live.send(line, partial(self._sent, one.id))
            self._waiting.pop(0)

    def _sent(self, number: int) -> None:
        with contextlib.suppress(StoreError):
            self._store.adjustments.sent(number)

    def hear(self, event: Event) -> None:
        """Conclude from an event of the agent.

        Raises:
            StoreError: the state of a change cannot be recorded.
        """
        match event:
            case Changed(what=what, value=value):
                one = self._answered(what, value)
                if one is not None:
                    self._live.adjusted(what, value, dangerous=self._agent.is_dangerous(value))
                    self._store.adjustments.in_force(one)
                elif what == "mode" and not (self._live.changing or self._known):
                    # Beside requested changes, a report may be older than they are.
                    self._follow(value)
            case NotChanged(what=what, value=value, reason=reason):
                one = self._answered(what, value)
                if one is not None:
                    self._store.adjustments.refused(one.id, reason)

    def _follow(self, mode: str) -> None:
        """Keep a mode for later turns that the agent took by itself: after a plan, or a permission for the session.

        If it permits more, an answer must have given it: whatever writes into the output can report any mode.
        """
        own, modes, live = self._live.launch.mode, self._agent.modes, self._agent.live
        if own is None or own.permissions is None or modes is None or live is None:
            return
        if mode == own.permissions or mode not in modes.names:
            return
        dangerous = mode in modes.dangerous
        if live.adjusts_from != "step" or (dangerous and own.dangerous):
            return
        former = own.permissions
        self._live.adjusted("mode", mode, dangerous=dangerous)
        asks = self._store.asks.of_session(self._session)
        given = any(one.stream == self._live.stream and one.gives(mode) for one in asks)
        if dangerous or not (modes.permits_no_more(mode, former) or given):
            return  # the next turn has the user's mode again

        def planned(plan: TurnPlan) -> TurnPlan:
            same = plan.settings.get(modes.key) == former
            return with_mode(plan, options, mode, dangerous=False) if same else plan

        options = modes.options(mode)
        self._store.adjustments.follow(self._session, mode, options, planned)

    def _answered(self, what: str, value: str) -> Adjustment | None:
        """Return the oldest unanswered change to this value, and forget it; None if there is none."""
        found = next((one for one in self._written.values() if (one.what, one.value) == (what, value)), None)
        if found is not None:
            del self._written[found.id]
            self._live.unsure = any(one.what == "mode" for one in self._written.values())
        return found
