"""The choices of the last start, which fill the next new-session dialog."""

import asyncio
from collections.abc import Sequence
from typing import Any

from msgspec import structs
from textual.app import App

from ...sessions.launch import Start
from ...sessions.lifecycle.agent_list import AgentInfo
from ..state.ui_state import LastStart, UiState
from .background import Requests


class StartMemory:
    """Remembers agent, mode and model from one start to the next, also of a later dashboard."""

    def __init__(self, app: App[Any], requests: Requests) -> None:
        self._app = app
        self._requests = requests
        self.state: UiState | None = None
        """The file that keeps them; None on a screen that starts no sessions."""

    def filled(self, start: Start, agents: Sequence[AgentInfo]) -> Start:
        """Return the start with the choices of the last one, if its agent can be started."""
        last = self.state.now.start if self.state is not None else LastStart()
        agent = next((one for one in agents if one.installed and one.name == last.agent), None)
        if agent is None:
            return start
        options = agent.options_of(last.mode) if last.mode in agent.modes else {}
        return structs.replace(start, agent=agent.name, model=last.model or None, options=options)

    def keep(self, choices: LastStart) -> None:
        """Keep the choices of a start."""
        if self.state is not None and self.state.now.start != choices:
            self.state.set(start=choices)
            self._app.run_worker(self._requests.outcome(asyncio.to_thread(self.state.save)))
