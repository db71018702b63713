"""The model and the mode of a session that exists: the user chooses, and the running agent takes it."""

from collections.abc import Sequence
from typing import Any

from ...sessions.adjustments import Adjustment
from ...sessions.agents.registry import agent_named
from ...sessions.model import Session
from ...sessions.reader import SessionReader
from .. import adjust_texts
from ..keys.key_queue import KeysInOrder
from .background import Requests
from .write_access import WriteAccess


class AdjustActions:
    """Changes the settings of one session; the moment from which a change counts is shown.

    Args:
        app: shows the list of modes.
        reader: reads the settings in force.
        access: the manager.
        requests: runs the calls.
    """

    def __init__(self, app: KeysInOrder[Any], reader: SessionReader, access: WriteAccess, requests: Requests) -> None:
        self._app = app
        self._reader = reader
        self._access = access
        self._requests = requests

    async def choose_mode(self, session: Session | None) -> None:
        """Let the user choose a mode from a list."""
        if session is None:
            return
        from ..dialogs.pick import PickScreen

        modes = agent_named(session.agent).modes()
        if not modes:
            self._requests.show_refusal(adjust_texts.no_modes(session))
            return
        with self._app.keys_held():
            present = await self._requests.outcome_of(lambda: self._present(session))
            dangerous = agent_named(session.agent).dangerous
            offers = adjust_texts.mode_offers(modes, present, dangerous)
            at = modes.index(present) if present in modes else 0
            picked = self._app.push_screen(PickScreen(adjust_texts.heading(session), offers, at), wait_for_dismiss=True)
        number = await picked
        if number is not None and modes[number] != present:
            await self.mode(session, modes[number])

    async def mode(self, session: Session, mode: str) -> None:
        """Change the mode of a session."""
        self._show(await self._requests.ask(lambda: self._access.manager("mode").adjuster.mode(session.id, mode)))

    async def model(self, session: Session, name: str) -> None:
        """Change the model of a session."""
        self._show(await self._requests.ask(lambda: self._access.manager("model").adjuster.model(session.id, name)))

    def modes(self, session: Session | None) -> Sequence[str]:
        """Return the modes of a session's agent."""
        return agent_named(session.agent).modes() if session is not None else ()

    def _present(self, session: Session) -> str | None:
        """Return the mode in force; None if it is not known."""
        if session.mode is not None:
            return session.mode
        newest = self._reader.turns(session.id)[-1:]
        return newest[0].mode.permissions if newest and newest[0].mode is not None else None

    def _show(self, changed: Adjustment | None) -> None:
        if changed is not None:
            self._requests.show_message(adjust_texts.changed(changed))
