"""Where somebody writes to an agent, and reads before sending what sending will do."""

from typing import ClassVar, Protocol

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.events import Key
from textual.message import Message
from textual.widgets import TextArea

from ..drawing.glyphs import UNICODE, Signs
from ..drawing.line import Line
from .history import Recall


class PromptInput(TextArea):
    """A text of several lines that Enter sends; up and down go through what was written before."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+j,alt+enter", "newline", "a new line", show=False, id="prompt.new_line"),
        Binding("up", "cursor_up", "in the first line: an earlier prompt", show=False, id="prompt.earlier"),
        Binding("down", "cursor_down", "in the last line: a later prompt", show=False, id="prompt.later"),
        Binding("escape", "leave", "back, keeping the text", show=False, id="prompt.leave"),
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
        self.recall = Recall()
        """What was written before."""
        self.clears = False
        """Whether sending takes the text out at once: what is typed next belongs to the next prompt."""

    async def on_key(self, event: Key) -> None:
        """Send by Enter."""
        # Not a priority binding: that would overtake the characters typed just before, and send less than was written.
        if event.key == "enter":
            event.stop()
            event.prevent_default()
            self.send()

    def send(self) -> None:
        """Send what is there; whoever listens knows what to do about nothing but blanks."""
        text = self.text
        if self.clears and text.strip():
            self.clear()
        self.post_message(self.Sent(text))

    def action_cursor_up(self, select: bool = False) -> None:
        """Up by a line; from the first one to an earlier prompt."""
        if select or self._row > 0 or not self._put(self.recall.older(self.text)):
            super().action_cursor_up(select)

    def action_cursor_down(self, select: bool = False) -> None:
        """Down by a line; from the last one to a later prompt."""
        if select or self._row < self.wrapped_document.height - 1 or not self._put(self.recall.newer()):
            super().action_cursor_down(select)

    @property
    def _row(self) -> int:
        """The row of the cursor as the screen shows it: a long line takes several."""
        return self.wrapped_document.location_to_offset(self.cursor_location).y

    def _put(self, text: str | None) -> bool:
        if text is None:
            return False
        self.text = text
        self.move_cursor(self.document.end)
        return True

    def action_newline(self) -> None:
        """Begin another line."""
        self.insert("\n")

    def action_leave(self) -> None:
        """Go back."""
        self.post_message(self.Left())


class DraftBook(Protocol):
    """Where the texts are kept that were written and not sent, by session; None stands for a new session."""

    def get(self, session_id: str | None) -> str:
        """The draft; empty if there is none."""

    def put(self, session_id: str | None, text: str) -> None:
        """Keep a draft; called at each key."""


class PromptBox(Vertical):
    """A prompt below the line that says where it goes."""

    DEFAULT_CSS = """
    PromptBox { height: auto; max-height: 40%; }
    PromptBox > #prompt-target { color: $muted; }
    PromptBox:focus-within > #prompt-target { color: $foreground; text-style: bold; }
    PromptBox > .-hinted { min-height: 3; }
    PromptBox > PromptInput { height: auto; max-height: 8; padding: 0; background: $background; }
    """

    def __init__(self, drafts: DraftBook, *, signs: Signs = UNICODE, placeholder: str = "") -> None:
        super().__init__()
        self.target = Line(signs=signs, id="prompt-target")
        """The line that says what sending will do."""
        self._placeholder = placeholder
        self._drafts = drafts
        self._session_id: str | None = None

    def compose(self) -> ComposeResult:
        """The label and the text."""
        yield self.target
        text = PromptInput(placeholder=self._placeholder, id="prompt-input")
        text.clears = True
        yield text.set_class(bool(self._placeholder), "-hinted")

    @property
    def input(self) -> PromptInput:
        """The text that is being written."""
        return self.query_one(PromptInput)

    def say(self, target: str) -> None:
        """Show what sending will do."""
        self.target.say(target)

    def switch(self, session_id: str | None) -> None:
        """Show what was begun for a session, which is selected now or was written to elsewhere."""
        if session_id != self._session_id and self.has_focus_within:
            self._drafts.put(self._session_id, self.input.text)  # the last key may not have come round yet
        self._session_id = session_id
        draft = self._drafts.get(session_id)
        if draft != self.input.text:
            self.input.text = draft
            self.input.move_cursor(self.input.document.end)

    def on_mount(self) -> None:
        """Show what was begun without a session."""
        self.show_draft()

    def show_draft(self) -> None:
        """Show the draft of the selected session as it is now."""
        self.switch(self._session_id)

    @on(TextArea.Changed)
    def _changed(self) -> None:
        self._drafts.put(self._session_id, self.input.text)

    def accepted(self, text: str) -> None:
        """The prompt is on its way."""
        self.input.recall.sent(text)

    def give_back(self, session_id: str | None, text: str) -> None:
        """The prompt for a session could not be sent: its draft has it again, before what was typed since."""
        self._drafts.put(session_id, "\n".join(filter(None, (text, self._drafts.get(session_id)))))
        if session_id == self._session_id:
            self.switch(session_id)
