"""The palette's entries: the actions of a screen's keys, and the command line's commands for its panes."""

from collections.abc import Iterator
from functools import partial
from inspect import isawaitable
from typing import Any

from textual import on
from textual.app import SystemCommand
from textual.command import CommandPalette
from textual.css.query import NoMatches
from textual.worker import Worker, WorkerState

from ..keys.actions import TABLE_ACTIONS, VIEWER_ACTIONS, here
from ..keys.command_line import Command
from ..keys.keymap import Keymap
from .session_screen import SessionScreen


class Palette(CommandPalette):
    """Textual's palette; if it closes during a search (8.2: its list is gone), the search ends, not the dashboard."""

    def __init__(self) -> None:
        super().__init__(id="--command-palette")  # Textual detects an open palette by this id

    def run_worker(self, *args: Any, **options: Any) -> Worker[Any]:
        """Start a search; :meth:`_search_ended` handles its errors."""
        return super().run_worker(*args, **(options | {"exit_on_error": False}))

    @on(Worker.StateChanged)
    def _search_ended(self, event: Worker.StateChanged) -> None:
        error = event.worker.error if event.state is WorkerState.ERROR else None
        if error is not None and not isinstance(error, NoMatches):
            raise error


def offered(screen: SessionScreen, keymap: Keymap) -> Iterator[SystemCommand]:
    """Yield the actions that are valid now.

    The title of a pane's action names the pane, because its key may mean something else outside it.
    """
    for action in here(table=screen.has_table):
        if screen.target.can(action.id):
            run = partial(screen.run_action, action.run)
            yield SystemCommand(f"{action.label} ({keymap.name(action.id)})", action.help, run)
    commands = {command.names[0]: command for command in reversed(list(screen.commands()))}
    for action in (*TABLE_ACTIONS, *VIEWER_ACTIONS):
        if (command := commands.get(action.id)) is not None:
            pane = action.id.partition(".")[0]
            title = f"{pane}: {action.label} ({keymap.name(action.id)})"
            yield SystemCommand(title, action.help, partial(_run, screen, command, reading=pane == "steps"))


async def _run(screen: SessionScreen, command: Command, *, reading: bool) -> None:
    """Run a command without an argument, in the pane of its keys."""
    if reading:
        screen.go_to_steps()
    done = command.run("")
    if isawaitable(done):
        await done
