"""Run the agent's own interface of a session in our terminal; without a library of the screen, for the command line."""

import signal
from typing import TYPE_CHECKING

from agentdash.sessions.model.errors import AgentdashError
from agentdash.tui.services.pager_editor import run
from agentdash.tui.terminal.watchdog import deaf

if TYPE_CHECKING:
    from agentdash.sessions.service.lifecycle.takeover import Takeover
    from agentdash.sessions.service.manager import SessionManager
    from agentdash.sessions.storage.turns.takeovers import ByHand


class InterfaceError(AgentdashError):
    """The interface could not be started."""


def run_interface(manager: "SessionManager", takeover: "Takeover", stdout: int | None = None) -> "ByHand":
    """Run the interface of a session that was taken over, then record what was said there.

    The interface is in our process group, which is the terminal's foreground group: it gets the keys and the size of
    the terminal as if a shell had started it.

    Args:
        manager: records what was said.
        takeover: the session.
        stdout: the descriptor of the terminal, if our own standard output is another file.

    Raises:
        InterfaceError: it could not be started; the session is free again.
        StoreError: what was said could not be recorded now; the next command that reads the session tries again.
    """
    code: int | None = None
    # A Ctrl+C too many for the interface must not cut off the record of what was said.
    with deaf(signal.SIGINT, signal.SIGQUIT):
        try:
            code = run(takeover.argv, takeover.cwd, env=takeover.env, stdout=stdout, started=takeover.started)
        except (OSError, ValueError) as error:
            raise InterfaceError(f"{takeover.argv[0]} could not be started: {error}.") from None
        finally:
            done = manager.give_back(takeover, code)
    return done
