"""The changes of settings of the fake manager, by the interface of the real ones."""

from factories import T0

from agentdash.sessions.agents.registry import agent_named
from agentdash.sessions.model.adjustments import Adjustment, AdjustmentState
from agentdash.sessions.model.errors import UsageError


class FakeAdjuster:
    """Every live agent takes every change at once; the change of an ended session is for its next turn."""

    def __init__(self, manager):
        self._manager = manager

    def mode(self, ref, mode):
        session = self._manager.get(ref)
        if mode not in agent_named(session.agent).modes.names:
            raise UsageError(f"It has no mode {mode!r}.")
        return self._changed(session, "mode", mode)

    def model(self, ref, name):
        return self._changed(self._manager.get(ref), "model", name)

    def _changed(self, session, what, value):
        self._manager.asked(what, session.id, value)
        key = "model" if what == "model" else agent_named(session.agent).modes.key
        self._manager.options_of.setdefault(session.id, {})[key] = value
        state = AdjustmentState.NEXT if session.status.ended else AdjustmentState.IN_FORCE
        return Adjustment(
            id=1, session=session.id, turn=session.turn, what=what, value=value, asked_by="you", asked_at=T0,
            changed_at=T0, counts_from=agent_named(session.agent).live.adjusts_from, state=state,
        )  # fmt: skip
