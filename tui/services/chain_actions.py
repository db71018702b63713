"""Actions on sessions that wait for the end of another one."""

from ...sessions.model import Session
from .. import chain_texts
from .background import Requests
from .write_access import WriteAccess


class ChainActions:
    """Starts sessions that wait; an error is shown."""

    def __init__(self, access: WriteAccess, requests: Requests) -> None:
        self._access = access
        self._requests = requests

    async def start(self, session: Session | None) -> None:
        """Start a session that waits, with the last message that the other one has given so far."""
        if session is None:
            return
        started = await self._requests.ask(lambda: self._access.manager("start").chains.start(session.id))
        if started is not None:
            self._requests.show_message(chain_texts.started(started))
