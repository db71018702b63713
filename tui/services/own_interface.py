"""The agent's own interface of a session in the terminal of the dashboard, which waits."""

import os
import sys
import termios
from contextlib import suppress

from agentdash.sessions.agents.registry import agent_named
from agentdash.sessions.model.errors import AgentdashError
from agentdash.sessions.model.session import Session
from agentdash.sessions.storage.turns.takeovers import ByHand
from agentdash.sessions.text.sanitize import clean, one_line
from agentdash.tui.services.desk import Actions
from agentdash.tui.services.pager_editor import run_interface

AT_ONCE_SECONDS = 10.0
"""An interface that ends with an error within this time shows it on the terminal that the dashboard takes back."""


def _hold(done: ByHand) -> None:
    """Keep what an interface printed on the terminal until Enter, if it ended at once with an error."""
    if done.exit_code not in (None, 0) and done.seconds < AT_ONCE_SECONDS and sys.stdin.isatty():
        print("agentdash: Enter goes back to the dashboard.", flush=True)  # noqa: T201 - for that terminal
        with suppress(OSError, termios.error):
            termios.tcflush(sys.stdin, termios.TCIFLUSH)  # keys that were meant for the interface
            os.read(sys.stdin.fileno(), 1024)


class OwnInterfaces(Actions):
    """Opens agents' own interfaces from the dashboard, which waits."""

    async def take_over(self, session: Session) -> None:
        """Open the interface of a session, and show what became of what was said there."""
        from textual.app import SuspendNotSupported

        from agentdash.tui.texts import takeover_texts

        with self._app.keys_held():
            taken = await self._requests.ask(lambda: self._access.manager("take over").take_over(session.id))
        if taken is None:
            return
        manager = self._access.manager("take over")
        try:
            with self._app.suspend():
                title = agent_named(session.agent).title
                print(  # noqa: T201 - for the terminal that the interface gets
                    clean(f"agentdash: {title}, session {session.short_id} {one_line(session.label, 60)}"), flush=True
                )
                done = run_interface(manager, taken)
                _hold(done)
        except SuspendNotSupported:
            await self._requests.ask(manager.give_back, taken)
            self._requests.show_error(f"Cannot give the terminal to {taken.argv[0]}.")
            return
        except AgentdashError as error:
            self._requests.show_error(self._requests.worded(error))
            return
        with suppress(AttributeError):
            self._app.screen.refresh(layout=True)
        if failure := takeover_texts.failed(session, done):
            self._requests.show_error(f"{failure} {takeover_texts.outcome(session, done)}")
        else:
            self._requests.show_message(takeover_texts.outcome(session, done))
