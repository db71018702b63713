"""The start of sessions, also to continue a conversation: the dialog, its last values, the trust in a project."""

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from msgspec import structs

from agentdash.sessions.model.session import Session
from agentdash.sessions.rules.launch import Launch, Start
from agentdash.sessions.service.lifecycle.agent_list import AgentInfo
from agentdash.sessions.service.lifecycle.starts.continue_plan import GO_ON
from agentdash.sessions.storage.prompts.drafts import NEW_SESSION
from agentdash.tui.services.actions.prompt_tools import PromptHelp, PromptWriting
from agentdash.tui.services.desk import Actions, Desk
from agentdash.tui.state.ui_state import LastStart, UiState
from agentdash.tui.texts import act_texts, conversation_texts
from agentdash.tui.texts import screen_texts as texts
from agentdash.widgets.drawing.short_forms import place

if TYPE_CHECKING:
    from agentdash.tui.dialogs.starting.offer import FolderSettings


class StartMemory(Actions):
    """Remembers agent, mode and model from one start to the next, also of a later dashboard."""

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk)
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
            self._app.run_worker(self._requests.outcome(self.state.save))


class ProjectActions(Actions):
    """Reads the settings that a folder has, and asks whether they are trusted."""

    async def settings_in(self, folder: str) -> "FolderSettings | None":
        """Return the agents and the presets of a start in a folder; None after an error, which is shown."""
        from agentdash.tui.dialogs.starting.offer import FolderSettings

        def read() -> FolderSettings:
            reader = self._reader
            return FolderSettings(
                agents=reader.settings.agents(folder),
                presets=reader.settings.presets(folder),
                project=reader.settings.project_of(folder),
                default_agent=reader.settings.default_agent(folder),
            )

        return await self._requests.ask(read)

    async def review(self, folder: str) -> bool:
        """Show the settings of a folder's project; return whether the user changed the trust in them."""
        from agentdash.tui.dialogs.starting.trust import TrustScreen
        from agentdash.tui.texts import project_texts

        with self._app.keys_held():
            found, reason = await self._requests.outcome(self._reader.settings.project_of, folder)
            if found is None:
                self._requests.show_refusal(reason or project_texts.no_project(folder))
                return False
            screen = TrustScreen(found, read_only=self._access.read_only)
            answer = self._app.push_screen(screen, wait_for_dismiss=True)
        choice = await answer
        if choice is None:
            return False
        path = found.path
        if choice == "trust":
            done = await self._requests.done(lambda: self._access.manager("trust").projects.trust(found))
        else:
            done = await self._requests.done(lambda: self._access.manager("trust").projects.forget(str(path)))
        if done:
            self._requests.show_message((project_texts.trusted if choice == "trust" else project_texts.forgotten)(path))
        return done


class StartActions(Actions):
    """Starts sessions, and knows which agents can be started."""

    def __init__(self, desk: Desk, writing: PromptWriting) -> None:
        super().__init__(desk)
        self._projects = ProjectActions(desk)
        self._writing = writing
        self.memory = StartMemory(desk)
        """The choices of the last start."""
        self.default_agent = ""
        """The agent that is started if the user names none; empty until it is known."""
        self.agents: list[AgentInfo] = []
        """The agents, installed or not; empty until they are known."""

    async def learn_default(self) -> None:
        """Read the default agent and the list of agents."""
        self.default_agent = await self._requests.ask(self._reader.settings.default_agent, "") or ""
        self.agents = await self._requests.ask(self._reader.settings.agents, "") or []

    @property
    def missing(self) -> str:
        """The reason a prompt cannot start a session: its agent is not installed.

        Empty if the agent is installed, or the agents are not known yet.
        """
        installed = [agent.name for agent in self.agents if agent.installed]
        if not self.agents or self.default_agent in installed:
            return ""
        return texts.not_installed(self.default_agent, bool(installed), self.desk.keymap.name("new_session"))

    async def earlier_prompts(self) -> list[str]:
        """Return the user's recent prompts, newest first."""
        return await self._requests.ask(self._reader.recent_prompts) or []

    async def ask_what_to_start(self, cwd: str, like: Session | None = None, *, after: Session | None = None) -> None:
        """Open the new-session dialog, filled in like the session ``like``, or to start after ``after``, if given."""
        with self._app.keys_held():
            await self._ask_what_to_start(cwd, like, after)

    async def _ask_what_to_start(self, cwd: str, like: Session | None, after: Session | None) -> None:
        from agentdash.tui.dialogs.starting.new_session import NewSessionScreen, NoAgentScreen
        from agentdash.tui.dialogs.starting.offer import Offer

        settings = await self._projects.settings_in(cwd)
        if settings is None:
            return
        agents = settings.agents
        if not any(agent.installed for agent in agents):
            self._app.push_screen(NoAgentScreen(agents))
            return
        if like is not None and like.agent not in {agent.name for agent in agents}:
            self._requests.show_error(texts.not_offered(like.agent))
            return
        draft = self.desk.drafts.get(NEW_SESSION)
        first = Start(draft, agent=settings.default_agent, cwd=place(cwd))
        if settings.project is None or settings.project.state != "trusted":
            first = self.memory.filled(first, agents)  # a project's own choices win over the last ones
        if like is not None:
            options = await self._requests.ask(self._reader.options, like.id)
            first = Start(like.task, agent=like.agent, cwd=place(like.cwd), model=like.model, options=options or {})
        first = structs.replace(first, after=after.short_id if after is not None else "")
        folders = await self._requests.ask(self._reader.recent_folders) or []
        prompts = await self.earlier_prompts()
        offer = Offer(
            agents=agents,
            first=first,
            folders=folders,
            prompts=prompts,
            presets=settings.presets,
            project=settings.project,
        )

        def keep(text: str | None) -> None:
            # A text repeated from a session, and then started or emptied, is not a draft of a new session.
            unchanged = text is None or (like is not None and not text)
            self.desk.drafts.put(NEW_SESSION, draft if unchanged else text or "")

        self._app.push_screen(
            NewSessionScreen(
                offer,
                self.plan,
                self.spawn_copies,
                keep,
                self.memory.keep,
                settings_in=self._projects.settings_in,
                review_in=self._projects.review,
                tools=partial(PromptHelp, self._writing),
                keymap=self.desk.keymap,
            )
        )

    async def review_project(self, cwd: str) -> None:
        """Show the settings of a folder's project, which the user can trust."""
        if await self._projects.review(cwd):
            await self.learn_default()

    async def plan(self, start: Start) -> tuple[Launch | None, str | None]:
        """Return the exact start, or the reason if the session cannot be started."""
        # The prompt affects nothing else in the command, so the command can be shown before the prompt is written.
        shown = structs.replace(start, prompt=start.prompt.strip() or "PROMPT")
        return await self._requests.outcome(self._reader.plan, shown)

    async def spawn(self, start: Start) -> str | None:
        """Start a session; return the reason if that failed."""
        session, reason = await self._requests.outcome(lambda: self._access.manager("spawn").spawn(start))
        if session is not None:
            self.desk.began(session, partial(act_texts.started, session))
        return reason

    async def spawn_copies(self, start: Start) -> str | None:
        """Start ``start.copies`` sessions; return the reason if that failed."""
        if start.copies == 1:
            return await self.spawn(start)
        sessions, reason = await self._requests.outcome(
            lambda: self._access.manager("spawn copies").spawn_copies(start)
        )
        if sessions:
            self.desk.began(sessions[0], partial(act_texts.started, sessions))
        return reason

    async def start(self, text: str, cwd: str) -> bool:
        """Start a session with a prompt; return whether it was accepted."""
        if self.missing:
            self._requests.show_error(f"{self.missing[0].upper()}{self.missing[1:]}.")
            return False
        reason = await self.spawn(Start(text, cwd=cwd))
        if reason is not None:
            self._requests.show_error(reason)
        return reason is None


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
        from agentdash.tui.dialogs.starting.new_session import ContinueScreen, NoAgentScreen
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

        def keep(written: str | None) -> None:
            if written is not None:
                self._drafts[session.id] = written

        offer = Offer(agents=agents, first=first, folders=folders)
        plan, begin = partial(self._plan, session), partial(self._begin, session)
        self._app.push_screen(ContinueScreen(conversation_texts.dialog_title(session), offer, plan, begin, keep))

    async def _limits(self, session: Session) -> dict[str, object]:
        """Return the limits of a session, which the new one keeps unless the user changes them; none from the trash."""
        options = await self._requests.outcome_of(self._reader.options, session.id) or {}
        return {key: value for key, value in options.items() if key == "limits"}

    async def _plan(self, session: Session, start: Start) -> tuple[Launch | None, str, str | None]:
        """Return the exact start and its consequences in words, or the reason why it is not possible."""
        asked = structs.replace(start, prompt=start.prompt.strip() or GO_ON)
        continued, reason = await self._requests.outcome(
            lambda: self._reader.continued(session.id, asked, inherits=False)
        )
        return (continued.launch, continued.words, None) if continued is not None else (None, "", reason)

    async def _begin(self, session: Session, start: Start) -> str | None:
        """Start it; return the reason if that failed."""

        def begin() -> Session:
            manager = self._access.manager("continue")
            return manager.continue_session(manager.reader.continued(session.id, start, inherits=False))

        begun, reason = await self._requests.outcome(begin)
        if begun is not None:
            self.desk.began(begun, partial(act_texts.continued, session, begun))
        return reason
