"""What the palette offers: what the keys of a screen do, and what its command line takes about its panes."""

from collections.abc import Iterator
from functools import partial
from inspect import isawaitable
from typing import Any

from textual import on
from textual.app import SystemCommand
from textual.command import CommandPalette
from textual.css.query import NoMatches
from textual.worker import Worker, WorkerState

from ..keys.actions import ACTIONS, TABLE_ACTIONS, VIEWER_ACTIONS
from ..keys.command_line import Command
from ..keys.keymap import Keymap
from .session_screen import SessionScreen


class Palette(CommandPalette):
    """Textual's own; a search that its closing has overtaken (8.2: its list is gone) ends, and not the dashboard."""

    def __init__(self) -> None:
        super().__init__(id="--command-palette")  # by which Textual knows that it is open

    def run_worker(self, *args: Any, **options: Any) -> Worker[Any]:
        """Search; :meth:`_search_ended` judges how that went."""
        return super().run_worker(*args, **(options | {"exit_on_error": False}))

    @on(Worker.StateChanged)
    def _search_ended(self, event: Worker.StateChanged) -> None:
        error = event.worker.error if event.state is WorkerState.ERROR else None
        if error is not None and not isinstance(error, NoMatches):
            raise error


def offered(screen: SessionScreen, keymap: Keymap) -> Iterator[SystemCommand]:
    """What can be done now; what belongs to one pane says so, because its key may mean something else outside it."""
    for action in ACTIONS:
        if hasattr(screen, f"action_{action.run.partition('(')[0]}") and screen.check_action(action.id, ()):
            run = partial(screen.run_action, action.run)
            yield SystemCommand(f"{action.label} ({keymap.name(action.id)})", action.help, run)
    commands = {command.names[0]: command for command in reversed(list(screen.commands()))}
    for action in (*TABLE_ACTIONS, *VIEWER_ACTIONS):
        if (command := commands.get(action.id)) is not None:
            pane = action.id.partition(".")[0]
            title = f"{pane}: {action.label} ({keymap.name(action.id)})"
            yield SystemCommand(title, action.help, partial(_run, screen, command, reading=pane == "steps"))


async def _run(screen: SessionScreen, command: Command, *, reading: bool) -> None:
    """Do it where its keys would, without anything behind the name."""
    if reading:
        screen.go_to_steps()
    done = command.run("")
    if isawaitable(done):
        await done
