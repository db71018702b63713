"""Actions on sessions that wait for the end of another one."""

from string import ascii_lowercase, digits

from agentdash.sessions.model.session import Session
from agentdash.tui.keys.key_names import LIST_LETTERS
from agentdash.tui.services.desk import Actions
from agentdash.tui.texts import chain_texts

_LETTERS = [letter for letter in digits[1:] + ascii_lowercase if letter not in LIST_LETTERS]
"""The letters of the sessions that are offered; the command line takes any other one."""


class ChainActions(Actions):
    """Starts sessions that wait, or makes them wait for others; an error is shown."""

    async def start(self, session: Session | None) -> None:
        """Start a session that waits, with the last message that the other one has given so far."""
        if session is None:
            return
        started = await self._requests.ask(lambda: self._access.manager("start").chains.start(session.id))
        if started is not None:
            self._requests.show_message(chain_texts.started(started))

    async def choose(self, session: Session | None) -> None:
        """Let the user choose the session for which a session waits, from the newest ones; the present one is marked.

        Sessions that wait for it are not offered.
        """
        if session is None:
            return
        from agentdash.tui.dialogs.table.pick import PickScreen

        with self._app.keys_held():
            found = await self._requests.ask(self._reader.sessions) or []
            others = [one for one in found if session.id not in (one.id, one.after)][: len(_LETTERS)]
            if not others:
                self._requests.show_refusal(chain_texts.NO_OTHER)
                return
            offers = [(letter, chain_texts.offer(one)) for letter, one in zip(_LETTERS, others, strict=False)]
            at = next((number for number, one in enumerate(others) if one.id == session.after), 0)
            screen = PickScreen(chain_texts.question(session), offers, at)
            picked = self._app.push_screen(screen, wait_for_dismiss=True)
        number = await picked
        if number is not None:
            await self._wait_for(session, others[number])

    async def _wait_for(self, session: Session, other: Session) -> None:
        changed = await self._requests.ask(
            lambda: self._access.manager("wait for").chains.wait_for(session.id, other.id)
        )
        if changed is not None:
            self._requests.show_message(chain_texts.waits(changed, other))
