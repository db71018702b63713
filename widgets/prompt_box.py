"""Where somebody writes to an agent, and reads before sending what sending will do."""

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.events import Key
from textual.message import Message
from textual.widgets import TextArea

from .line import Line
from .signs import UNICODE, Signs


class PromptInput(TextArea):
    """A text of several lines that Enter sends."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+j,alt+enter", "newline", "new line", show=False),
        Binding("escape", "leave", "back, keeping the text", show=False),
    ]

    class Sent(Message):
        """The text is to be sent."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    class Left(Message):
        """Back to where one came from; the text stays."""

    def __init__(self, *, placeholder: str = "", id: str | None = None) -> None:  # noqa: A002
        super().__init__(
            id=id, placeholder=placeholder, show_line_numbers=False, soft_wrap=True, compact=True, tab_behavior="focus"
        )
        self.cursor_blink = False
        self.highlight_cursor_line = False

    async def _on_key(self, event: Key) -> None:
        # Not a priority binding: that would overtake the characters typed just before, and send less than was written.
        if event.key == "enter":
            event.stop()
            event.prevent_default()
            self.send()

    def send(self) -> None:
        """Send, unless there is nothing but blanks."""
        if self.text.strip():
            self.post_message(self.Sent(self.text))

    def action_newline(self) -> None:
        """Begin another line."""
        self.insert("\n")

    def action_leave(self) -> None:
        """Go back."""
        self.post_message(self.Left())


class PromptBox(Vertical):
    """A prompt below the line that says where it goes."""

    DEFAULT_CSS = """
    PromptBox { height: auto; max-height: 40%; }
    PromptBox > #prompt-target { color: $text-muted; }
    PromptBox:focus-within > #prompt-target { color: $foreground; text-style: bold; }
    PromptBox > PromptInput { height: auto; max-height: 8; padding: 0; background: $background; }
    """

    def __init__(self, *, signs: Signs = UNICODE) -> None:
        super().__init__()
        self._target = Line(signs=signs, id="prompt-target")

    def compose(self) -> ComposeResult:
        """The label and the text."""
        yield self._target
        yield PromptInput(id="prompt-input")

    @property
    def input(self) -> PromptInput:
        """The text that is being written."""
        return self.query_one(PromptInput)

    def say(self, target: str) -> None:
        """Show what sending will do."""
        self._target.say(target)

    def accepted(self) -> None:
        """The prompt is on its way: make room for the next one."""
        self.input.clear()
