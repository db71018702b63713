"""Continue the conversation of a session in a new one: the dialog, filled in, and the start."""

import asyncio

from msgspec import structs

from agentdash.sessions.model.session import Session
from agentdash.sessions.rules.launch import Launch, Start
from agentdash.sessions.service.lifecycle.starts.continue_plan import GO_ON
from agentdash.tui.services.desk import Actions, Desk
from agentdash.tui.texts import continue_texts
from agentdash.widgets.drawing.short_forms import place


class ContinueActions(Actions):
    """Asks which agent continues a conversation, and starts it."""

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk)
        self._drafts: dict[str, str] = {}
        """The prompts that were written in the dialog and not sent, by session."""

    async def ask(self, session: Session) -> None:
        """Open the dialog, filled in for another agent than that of the session if one is installed."""
        with self._app.keys_held():
            await self._ask(session)

    async def _ask(self, session: Session) -> None:
        from agentdash.tui.dialogs.starting.continue_session import ContinueScreen
        from agentdash.tui.dialogs.starting.no_agent import NoAgentScreen
        from agentdash.tui.dialogs.starting.offer import Offer

        agents = await self._requests.ask(self._reader.settings.agents)
        if agents is None:
            return
        installed = [agent.name for agent in agents if agent.installed]
        if not installed:
            self._app.push_screen(NoAgentScreen(agents))
            return
        others = [name for name in installed if name != session.agent]
        text = self._drafts.get(session.id) or GO_ON
        limits = await self._limits(session)
        first = Start(text, agent=(others or installed)[0], cwd=place(session.cwd), options=limits)
        folders = await self._requests.ask(self._reader.recent_folders) or []

        async def plan(start: Start) -> tuple[Launch | None, str, str | None]:
            return await self._plan(session, start)

        async def begin(start: Start) -> str | None:
            return await self._begin(session, start)

        def keep(written: str | None) -> None:
            if written is not None:
                self._drafts[session.id] = written

        offer = Offer(agents=agents, first=first, folders=folders)
        self._app.push_screen(ContinueScreen(continue_texts.dialog_title(session), offer, plan, begin, keep))

    async def _limits(self, session: Session) -> dict[str, object]:
        """Return the limits of a session, which the new one keeps unless the user changes them; none from the trash."""
        options = await self._requests.outcome_of(self._reader.options, session.id) or {}
        return {key: value for key, value in options.items() if key == "limits"}

    async def _plan(self, session: Session, start: Start) -> tuple[Launch | None, str, str | None]:
        """Return the exact start and its consequences in words, or the reason why it is not possible."""
        asked = structs.replace(start, prompt=start.prompt.strip() or GO_ON)
        continued, reason = await self._requests.outcome(
            asyncio.to_thread(lambda: self._reader.continued(session.id, asked, inherits=False))
        )
        return (continued.launch, continued.words, None) if continued is not None else (None, "", reason)

    async def _begin(self, session: Session, start: Start) -> str | None:
        """Start it; return the reason if that failed."""

        def begin() -> Session:
            manager = self._access.manager("continue")
            return manager.continue_session(manager.reader.continued(session.id, start, inherits=False))

        begun, reason = await self._requests.outcome(asyncio.to_thread(begin))
        if begun is not None:
            self.desk.select(begun)
        return reason
