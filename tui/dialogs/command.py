"""The command line at the bottom of the screen."""

from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from agentdash.tui.keys.command_line import CommandLine, UnusableLineError, longer
from agentdash.widgets.drawing.text_lines import Line
from agentdash.widgets.inputs.history import CommandInput, History


class CommandScreen(ModalScreen[str | None]):
    """Returns a valid command line; an invalid one stays in the field, and the hint shows the reason."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss(None)", "close", show=False)]

    def __init__(self, commands: CommandLine, history: History) -> None:
        super().__init__()
        self._commands = commands
        self._hint = Line(id="command-hint")
        self._input = CommandInput(self._completions, history, id="command-input")

    def compose(self) -> ComposeResult:
        """Yield the hint and the line."""
        with Vertical(id="command"):
            yield self._hint
            with Horizontal(id="command-line"):
                yield Static(":", id="command-sign")
                yield self._input

    def on_mount(self) -> None:
        """Show how to use the line."""
        self._hint.show_text("Enter run   Tab complete   Up history   Esc close")

    @on(Input.Changed)
    def _changed(self, event: Input.Changed) -> None:
        if event.value:
            self._hint.show_text(self._commands.hint(event.value, self._hint.size.width or self.size.width))

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        line = event.value.strip()
        try:
            if line:
                self._commands.find(line)
        except UnusableLineError as error:
            self._hint.show_text(str(error))
            return
        if line:
            self._input.earlier.sent(line)
        self.dismiss(line or None)

    def _completions(self, line: str) -> tuple[str, list[str]]:
        completions = self._commands.completions(line)
        return longer(line, completions), completions
