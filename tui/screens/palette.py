"""The palette: the actions of a screen's keys, and the command line's commands for its panes, found by their texts."""

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from inspect import isawaitable
from typing import ClassVar

from textual import on
from textual.app import SystemCommand
from textual.binding import Binding, BindingType
from textual.widgets import Input

from agentdash.tui.dialogs.dialog import ListDialog
from agentdash.tui.keys.actions import TABLE_ACTIONS, VIEWER_ACTIONS, here
from agentdash.tui.keys.command_line import Command
from agentdash.tui.keys.keymap import Keymap
from agentdash.tui.screens.session_screen import SessionScreen
from agentdash.widgets.lists.row_list import line


class Palette(ListDialog[SystemCommand]):
    """Lists the commands that apply now, and narrows the list to those that match the typed text.

    Args:
        commands: the commands, the most relevant ones first.
        recent: titles of commands that were run before, newest first; these lead the list.
    """

    BINDINGS: ClassVar[list[BindingType]] = [Binding("ctrl+n", "move(1)", "down", show=False)]

    def __init__(self, commands: Iterable[SystemCommand], recent: Sequence[str] = ()) -> None:
        super().__init__("Commands", "Enter run   Up Down choose   Esc close", hint="type to filter")
        rank = {title: number for number, title in enumerate(recent)}
        self._commands = sorted(commands, key=lambda command: rank.get(command.title, len(rank)))
        self._wide = max((len(command.title) for command in self._commands), default=0)
        self._found: list[SystemCommand] = []

    @on(Input.Changed)
    def _narrow(self) -> None:
        self._found = matching(self._commands, self.field.value)
        # Not by the style sheet: the dialog would keep the room that the whole list needs.
        self.list.styles.height = min(len(self._found), max(3, self.app.size.height * 9 // 10 - 6))
        self.show([line((f"{one.title:<{self._wide}}  ", "strong"), (one.help, "dim")) for one in self._found])

    def on_resize(self) -> None:
        """Fit the list into the new size."""
        self._narrow()

    def action_take(self) -> None:
        """Run the command under the cursor."""
        if self._found:
            self.dismiss(self._found[self.list.cursor])


def matching(commands: Sequence[SystemCommand], text: str) -> list[SystemCommand]:
    """Return the commands with all words of a text in their title or help; matching titles first."""
    words = text.lower().split()
    found = []
    for command in commands:
        title, help_ = command.title.lower(), command.help.lower()
        if all(word in title or word in help_ for word in words):
            begins = title.startswith(text.lower().strip())
            found.append((not begins, sum(word not in title for word in words), command))
    return [command for _, _, command in sorted(found, key=lambda one: one[:2])]


def offered(screen: SessionScreen, keymap: Keymap) -> Iterator[SystemCommand]:
    """Yield the actions that are valid now: those of the screen, then of the focused pane, then of the other pane.

    The title of a pane's action names the pane, because its key may mean something else outside it.
    """
    for action in here(table=screen.has_table):
        if action.id != "back" and screen.target.can(action.id):  # Esc closes the palette itself
            run = partial(screen.run_action, action.run)
            yield SystemCommand(f"{action.label} ({keymap.name(action.id)})", action.help, run)
    commands = {command.names[0]: command for command in reversed(list(screen.commands()))}
    panes = [TABLE_ACTIONS, VIEWER_ACTIONS]
    for action in (action for pane in (reversed(panes) if screen.reading else panes) for action in pane):
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
