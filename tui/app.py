"""The dashboard's app: where the manager and the screens meet."""

import os
import signal
import sys
import traceback

from rich.text import Text
from textual import work
from textual.app import App

from ..sessions import watch
from ..sessions.clock import now_ms
from ..sessions.manager import SessionManager
from ..widgets import signs
from .crash import record
from .feed import Feed
from .messages import SessionsChanged
from .operations import Operations
from .requests import Requests
from .screens.main import MainScreen

NOT_A_REQUEST = 2
"""Exit code where there is no terminal to draw on."""


class Dashboard(App[None]):
    """Watches the state folder and hands what changed to the main screen."""

    CSS_PATH = "agentdash.tcss"
    TITLE = "agentdash"
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (70, "-medium"), (140, "-wide")]  # noqa: RUF012 - as Textual declares it

    def __init__(self, manager: SessionManager, *, plain_ascii: bool = False) -> None:
        super().__init__()
        self.animation_level = "none"
        self.set_class(plain_ascii, "-ascii")
        self._manager = manager
        self.requests = Requests(self, manager.home)
        self.feed = Feed(manager, self._announce, lambda wait: self.set_timer(wait, self.feed.tell))
        characters = signs.ASCII if plain_ascii else signs.UNICODE
        operations = Operations(self, manager, self.requests)
        self.main = MainScreen(manager, self.feed, self.requests, operations, clock=now_ms, signs=characters)

    def on_mount(self) -> None:
        """Show the screen and begin to watch."""
        self.push_screen(self.main)
        self._leave_on_signals()
        self._watch_disk()

    @work
    async def _watch_disk(self) -> None:
        async for change in watch.changes(self._manager.home, self._manager.live_dir):
            if change.database:
                await self.requests.expect(self.feed.pull())
            if change.turn_files or change.sweep:
                self.main.detail.turn_files_grew(change.turn_files, sweep=change.sweep)
            if change.sweep:
                self._settle()

    @work(exclusive=True, group="settle")
    async def _settle(self) -> None:
        await self.requests.ask(self._manager.settle)

    def _announce(self) -> None:
        self.main.post_message(SessionsChanged())

    def _leave_on_signals(self) -> None:
        """A terminal that goes away or a polite kill ends the dashboard, and only the dashboard."""
        if self._loop is not None:
            for number in (signal.SIGTERM, signal.SIGHUP):
                self._loop.add_signal_handler(number, self.exit)

    def _fatal_error(self) -> None:
        # Textual (8.2) would print a traceback with local variables, which hold what agents wrote.
        where = record(self._manager.home, traceback.format_exc())
        self._exit_renderables.append(Text(f"agentdash: the dashboard crashed; the sessions go on. Details: {where}"))
        self._close_messages_no_wait()


def run_dashboard(manager: SessionManager) -> int:
    """Open the dashboard until somebody quits; the exit code."""
    problem = _no_screen()
    if problem is not None:
        print(f"agentdash: {problem} For a list: agentdash ls.", file=sys.stderr)  # noqa: T201
        return NOT_A_REQUEST
    app = Dashboard(manager, plain_ascii=_plain_ascii())
    app.run(mouse=False)
    return app.return_code or 0


def _no_screen() -> str | None:
    """Why there can be no dashboard here; None where there can."""
    # Textual reads from stdin and draws on stderr.
    if not all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stdout, sys.stderr)):
        return "The dashboard needs a terminal for input, output and errors."
    if os.environ.get("TERM", "") in ("", "dumb"):
        return f"The dashboard cannot draw on TERM={os.environ.get('TERM', '')!r}."
    return None


def _plain_ascii() -> bool:
    encoding = (sys.stdout.encoding or "ascii").lower().replace("-", "")
    return encoding != "utf8" or bool(os.environ.get("AGENTDASH_ASCII"))
