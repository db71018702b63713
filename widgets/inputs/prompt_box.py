"""The box for prompts to an agent, below a rule with the effect of sending."""

from typing import ClassVar, Protocol

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.events import Key
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Static, TextArea

from ...sessions.model import StepKind
from ...sessions.text.sanitize import cell_width, cut
from ..drawing.glyphs import UNICODE, Signs
from .history import History


class PromptInput(TextArea):
    """A text of several lines that Enter sends; up and down walk through earlier prompts."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+j,alt+enter", "newline", "new line", show=False, id="prompt.new_line"),
        Binding("up", "cursor_up", "previous prompt (from the first line)", show=False, id="prompt.earlier"),
        Binding("down", "cursor_down", "next prompt (from the last line)", show=False, id="prompt.later"),
        Binding("escape", "leave", "back (keeps the draft)", show=False, id="prompt.leave"),
    ]

    class Sent(Message):
        """The user asked to send the text, and perhaps to go on to the next session."""

        def __init__(self, text: str, *, then_next: bool = False) -> None:
            super().__init__()
            self.text = text
            self.then_next = then_next

    class Left(Message):
        """The user left the box; the text stays."""

    def __init__(self, *, placeholder: str = "", id: str | None = None) -> None:  # noqa: A002
        super().__init__(
            id=id, placeholder=placeholder, show_line_numbers=False, soft_wrap=True, compact=True, tab_behavior="focus"
        )
        self.cursor_blink = False
        self.highlight_cursor_line = False
        self.earlier = History()
        """Earlier prompts."""
        self.clears = False
        """True if sending clears the text at once: text typed after that belongs to the next prompt."""

    async def on_key(self, event: Key) -> None:
        """Send on Enter."""
        # Not a priority binding: that would overtake characters typed just before, and send less than was typed.
        if event.key == "enter":
            event.stop()
            event.prevent_default()
            self.send()

    def send(self, *, then_next: bool = False) -> None:
        """Send the text; the receiver handles a blank one."""
        text = self.text
        if self.clears and text.strip():
            self.clear()
        self.post_message(self.Sent(text, then_next=then_next))

    def action_cursor_up(self, select: bool = False) -> None:
        """Move up by a line; from the first line to an earlier prompt."""
        if select or self._row > 0 or not self._put(self.earlier.older(self.text)):
            super().action_cursor_up(select)

    def action_cursor_down(self, select: bool = False) -> None:
        """Move down by a line; from the last line to a later prompt."""
        if select or self._row < self.wrapped_document.height - 1 or not self._put(self.earlier.newer()):
            super().action_cursor_down(select)

    @property
    def _row(self) -> int:
        """The cursor's row on the screen; a long line takes several."""
        return self.wrapped_document.location_to_offset(self.cursor_location).y

    def _put(self, text: str | None) -> bool:
        if text is None:
            return False
        self.text = text
        self.move_cursor(self.document.end)
        return True

    def action_newline(self) -> None:
        """Begin a new line."""
        self.insert("\n")

    def action_leave(self) -> None:
        """Leave the box."""
        self.post_message(self.Left())


class DraftBook(Protocol):
    """A store of unsent texts by session; None is the key of a new session."""

    def get(self, session_id: str | None) -> str:
        """The draft of a session; "" if there is none."""

    def put(self, session_id: str | None, text: str) -> None:
        """Store a draft; called at each key."""


class TitledRule(Widget):
    """A horizontal line with a text in it."""

    DEFAULT_CSS = "TitledRule { height: 1; }"

    def __init__(self, *, signs: Signs = UNICODE, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._signs = signs
        self._title = ""

    def show_title(self, title: str) -> None:
        """Show a text; the same text again is not drawn again."""
        if title != self._title:
            self._title = title
            self.refresh()

    def render(self) -> Content:
        """Return the text, and the line after it."""
        text = f"{cut(self._title, self.size.width - 2)} " if self._title else ""
        line = self._signs.rule * max(0, self.size.width - cell_width(text))
        return Content(self._signs.plain(f"{text}{line}")).stylize("$rule", len(text))


class PromptBox(Vertical):
    """A prompt below a rule that shows its target."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+n", "send_and_next", "send, then next that needs you", show=False, id="prompt.send_next")
    ]
    DEFAULT_CSS = """
    PromptBox { height: auto; max-height: 40%; }
    PromptBox > #prompt-target { color: $muted; }
    PromptBox:focus-within > #prompt-target { color: $text-primary; text-style: $focused-style; }
    PromptBox > Horizontal { height: auto; }
    PromptBox #prompt-sign { width: 2; height: 1; color: $text-primary; text-style: bold; }
    PromptBox PromptInput { width: 1fr; height: auto; max-height: 8; padding: 0; background: $background; }
    """

    def __init__(self, drafts: DraftBook, *, signs: Signs = UNICODE) -> None:
        super().__init__()
        self.target = TitledRule(signs=signs, id="prompt-target")
        """The rule that shows what sending will do."""
        self._sign = signs.kinds[StepKind.PROMPT]
        self._drafts = drafts
        self._session_id: str | None = None

    def compose(self) -> ComposeResult:
        """Yield the rule, the sign and the text."""
        yield self.target
        text = PromptInput(id="prompt-input")
        text.clears = True
        with Horizontal():
            yield Static(self._sign, markup=False, id="prompt-sign")
            yield text

    def action_send_and_next(self) -> None:
        """Send the text, and go on to the next session that needs the user."""
        self.input.send(then_next=True)

    @property
    def input(self) -> PromptInput:
        """The widget with the current text."""
        return self.query_one(PromptInput)

    def show_target(self, target: str, placeholder: str = "") -> None:
        """Show what sending will do, and in an empty box what to write there."""
        self.target.show_title(target)
        if self.input.placeholder != placeholder:
            self.input.placeholder = placeholder

    def switch(self, session_id: str | None) -> None:
        """Show the draft of a session that was just selected, or was edited elsewhere."""
        if session_id != self._session_id and self.has_focus_within:
            self._drafts.put(self._session_id, self.input.text)  # the event of the last key may not have arrived yet
        self._session_id = session_id
        draft = self._drafts.get(session_id)
        if draft != self.input.text:
            self.input.text = draft
            self.input.move_cursor(self.input.document.end)

    def on_mount(self) -> None:
        """Show the draft of a new session."""
        self.show_draft()

    def show_draft(self) -> None:
        """Show the current draft of the selected session."""
        self.switch(self._session_id)

    @on(TextArea.Changed)
    def _changed(self) -> None:
        self._drafts.put(self._session_id, self.input.text)

    def accepted(self, text: str) -> None:
        """Add a prompt that was accepted to the history."""
        self.input.earlier.sent(text)

    def give_back(self, session_id: str | None, text: str) -> None:
        """Put an unsent prompt back into the session's draft, before the text typed since."""
        self._drafts.put(session_id, "\n".join(filter(None, (text, self._drafts.get(session_id)))))
        if session_id == self._session_id:
            self.switch(session_id)
