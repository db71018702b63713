"""The model and the mode of a session that exists: the user chooses, and the running agent takes it."""

from collections.abc import Sequence

from agentdash.sessions.agents.registry import agent_named, is_agent
from agentdash.sessions.model.adjustments import Adjustment
from agentdash.sessions.model.session import Session
from agentdash.tui.render.prompts.prompts import adjustment_line
from agentdash.tui.services.desk import Actions
from agentdash.tui.texts import queue_texts


class AdjustActions(Actions):
    """Changes the settings of one session; the moment from which a change counts is shown."""

    async def choose_mode(self, session: Session | None) -> None:
        """Let the user choose a mode from a list; the mode of the next prompt is marked.

        The mode of the running turn may be another one: a change that the agent refused, or that no agent could take,
        counts for the next prompt.
        """
        if session is None:
            return
        from agentdash.tui.dialogs.table.pick import PickScreen

        modes = self.modes(session)
        if not modes:
            self._requests.show_refusal(queue_texts.no_modes(session))
            return
        with self._app.keys_held():
            following = await self._requests.outcome_of(lambda: self._next_mode(session))
            own = agent_named(session.agent).modes
            offers = queue_texts.mode_offers(modes, following, own.dangerous if own is not None else frozenset())
            at = modes.index(following) if following in modes else 0
            picked = self._app.push_screen(PickScreen(queue_texts.heading(session), offers, at), wait_for_dismiss=True)
        number = await picked
        if number is not None:
            await self.mode(session, modes[number])

    async def mode(self, session: Session, mode: str) -> None:
        """Change the mode of a session."""
        self._show(await self._requests.ask(lambda: self._access.manager("mode").adjuster.mode(session.id, mode)))

    async def model(self, session: Session, name: str) -> None:
        """Change the model of a session."""
        self._show(await self._requests.ask(lambda: self._access.manager("model").adjuster.model(session.id, name)))

    def modes(self, session: Session | None) -> Sequence[str]:
        """Return the modes of a session's agent; none if this version does not have the agent."""
        modes = agent_named(session.agent).modes if session is not None and is_agent(session.agent) else None
        return modes.names if modes is not None else ()

    def _next_mode(self, session: Session) -> str | None:
        """Return the mode of the next prompt; None if it is not known."""
        agent = next((one for one in self._reader.settings.agents() if one.name == session.agent), None)
        return agent.choice_of(self._reader.options(session.id)) if agent is not None else None

    def _show(self, changed: Adjustment | None) -> None:
        if changed is not None:
            self._requests.show_message(queue_texts.sent(adjustment_line(changed)))
