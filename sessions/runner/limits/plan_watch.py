"""The reports of one turn's agent about the windows of the user's plan."""

from collections.abc import Mapping
from contextlib import suppress

from agentdash.sessions.agents.base import Agent
from agentdash.sessions.model.clock import now_ms
from agentdash.sessions.model.errors import StoreError
from agentdash.sessions.model.plan_windows import MOST_WINDOWS, PlanWindow, window_words
from agentdash.sessions.storage.store import Store


class PlanWatch:
    """Records what an agent reports about its plan; costs a search in each line, and a query for each report.

    Args:
        env: the environment of the turn.
        began: the start of the turn, UTC ms.
    """

    def __init__(self, store: Store, agent: Agent, env: Mapping[str, str], began: int) -> None:
        self._store = store
        self._plan = agent.plan
        self._env = env
        self._began = began
        self._limited: dict[tuple[str, str], str] = {}

    def feed(self, line: bytes) -> None:
        """Read a line of the agent's output."""
        if self._plan is not None and self._plan.mark in line:
            self._keep(self._plan.windows(line))

    def finish(self, agent_session: str | None) -> None:
        """Read what only the agent's own record of the turn has."""
        at_end = self._plan.at_end if self._plan is not None else None
        if agent_session is not None and at_end is not None:
            with suppress(StoreError, OSError):
                self._keep(at_end(agent_session, self._env, self._began))

    @property
    def limited(self) -> str | None:
        """The windows that the agent reported as used up in this turn, in words; None if there is none."""
        return ", ".join(self._limited.values()) or None

    def _keep(self, windows: tuple[PlanWindow, ...]) -> None:
        with suppress(StoreError):
            self._store.plan_windows.note(windows)
        for one in windows:
            key = (one.account, one.window)
            if one.status != "limited":
                self._limited.pop(key, None)
            elif len(self._limited) < MOST_WINDOWS:
                self._limited[key] = window_words(one, now_ms())
