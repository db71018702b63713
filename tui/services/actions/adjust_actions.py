"""Changes of one session: its mode, its model, and the session for which it waits."""

from collections.abc import Sequence
from string import ascii_lowercase, digits

from agentdash.sessions.agents.registry import agent_named, is_agent
from agentdash.sessions.model.adjustments import Adjustment
from agentdash.sessions.model.session import Session
from agentdash.tui.keys.key_names import LIST_LETTERS
from agentdash.tui.services.desk import Actions
from agentdash.tui.texts import act_texts, family_texts, prompt_texts
from agentdash.tui.texts import screen_texts as texts


class AdjustActions(Actions):
    """Changes the settings of one session; the moment from which a change counts is shown."""

    async def choose_mode(self, session: Session) -> None:
        """Let the user choose a mode from a list; the mode of the next prompt is marked.

        The mode of the running turn may be another one: a change that the agent refused, or that no agent could take,
        counts for the next prompt.
        """
        from agentdash.tui.dialogs.table.pick import PickScreen

        modes = self.modes(session)
        if not modes:
            self._requests.show_refusal(prompt_texts.no_modes(session))
            return
        with self._app.keys_held():
            following = await self._requests.outcome_of(lambda: self._next_mode(session))
            own = agent_named(session.agent).modes
            unlimited = own.dangerous if own is not None else frozenset()
            offers = prompt_texts.mode_offers(modes, following, unlimited)
            at = modes.index(following) if following in modes else 0
            picked = self._app.push_screen(PickScreen(prompt_texts.heading(session), offers, at), wait_for_dismiss=True)
        number = await picked
        if number is None:
            return
        mode = modes[number]
        if mode not in unlimited or mode == following or await self._agreed(session, mode):
            await self.mode(session, mode)

    async def _agreed(self, session: Session, mode: str) -> bool:
        """Ask before a session has no limits; return whether the user agreed."""
        from agentdash.tui.dialogs.asking.confirm import Answer, ConfirmScreen

        with self._app.keys_held():
            screen = ConfirmScreen(
                f"Change the mode to {mode}?", texts.listing([session]), prompt_texts.UNLIMITED, "change"
            )
            answer = self._app.push_screen(screen, wait_for_dismiss=True)
        return await answer is Answer.YES

    async def mode(self, session: Session, mode: str) -> None:
        """Change the mode of a session."""
        adjust = self._access.manager("mode").adjuster.mode
        self._show(session, await self._requests.ask(lambda: adjust(session.id, mode)))

    async def model(self, session: Session, name: str) -> None:
        """Change the model of a session."""
        adjust = self._access.manager("model").adjuster.model
        self._show(session, await self._requests.ask(lambda: adjust(session.id, name)))

    def modes(self, session: Session | None) -> Sequence[str]:
        """Return the modes of a session's agent; none if this version does not have the agent."""
        modes = agent_named(session.agent).modes if session is not None and is_agent(session.agent) else None
        return modes.names if modes is not None else ()

    def _next_mode(self, session: Session) -> str | None:
        """Return the mode of the next prompt; None if it is not known."""
        agent = next((one for one in self._reader.settings.agents() if one.name == session.agent), None)
        return agent.choice_of(self._reader.options(session.id)) if agent is not None else None

    def _show(self, session: Session, changed: Adjustment | None) -> None:
        if changed is not None:
            self._requests.show_message(act_texts.adjusted(session, changed))


_LETTERS = [letter for letter in digits[1:] + ascii_lowercase if letter not in LIST_LETTERS]
"""The letters of the sessions that are offered; the command line takes any other one."""


class ChainActions(Actions):
    """Starts sessions that wait, or makes them wait for others; an error is shown."""

    async def start(self, session: Session) -> None:
        """Start a session that waits, with the last message that the other one has given so far."""
        started = await self._requests.ask(lambda: self._access.manager("start").chains.start(session.id))
        if started is not None:
            self._requests.show_message(act_texts.started(started))

    async def choose(self, session: Session) -> None:
        """Let the user choose the session for which a session waits, from the newest ones; the present one is marked.

        Sessions that wait for it are not offered.
        """
        from agentdash.tui.dialogs.table.pick import PickScreen

        with self._app.keys_held():
            found = await self._requests.ask(self._reader.sessions) or []
            others = [one for one in found if session.id not in (one.id, one.after)][: len(_LETTERS)]
            if not others:
                self._requests.show_refusal(family_texts.NO_OTHER)
                return
            offers = [(letter, family_texts.offer(one)) for letter, one in zip(_LETTERS, others, strict=False)]
            at = next((number for number, one in enumerate(others) if one.id == session.after), 0)
            screen = PickScreen(family_texts.question(session), offers, at)
            picked = self._app.push_screen(screen, wait_for_dismiss=True)
        number = await picked
        if number is None:
            return
        other = others[number]
        changed = await self._requests.ask(
            lambda: self._access.manager("wait for").chains.wait_for(session.id, other.id)
        )
        if changed is not None:
            self._requests.show_message(family_texts.waits(changed, other))
