"""The box for prompts to an agent, below a rule with the effect of sending."""

from collections.abc import Awaitable
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

from agentdash.sessions.model.session import StepKind
from agentdash.sessions.text.sanitize import cell_width, cut
from agentdash.widgets.drawing import glyphs
from agentdash.widgets.inputs.completing_text import CompletingText
from agentdash.widgets.inputs.history import History


class PromptTools(Protocol):
    """The user's tools for writing a prompt."""

    def edit(self, text: str) -> str | None:
        """Return the text after the user edited it in the editor; None if that failed."""

    def search(self) -> Awaitable[str | None]:
        """Return an earlier prompt that the user found; None if the user chose none."""

    def template(self) -> Awaitable[str | None]:
        """Return the text of a template that the user chose; None if the user chose none."""

    def paths(self, letters: str, limit: int) -> Awaitable[list[str]]:
        """Return the files that match the letters of a path, the best first."""


class PromptInput(CompletingText):
    """A text of several lines that Enter sends; up and down walk through earlier prompts."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+j,alt+enter", "newline", "new line", show=False, id="prompt.new_line"),
        Binding("up", "cursor_up", "previous prompt (from the first line)", show=False, id="prompt.earlier"),
        Binding("down", "cursor_down", "next prompt (from the last line)", show=False, id="prompt.later"),
        Binding("ctrl+r", "search", "search earlier prompts of all sessions", show=False, id="prompt.search"),
        Binding("ctrl+g", "editor", "write the prompt in $EDITOR", show=False, id="prompt.editor"),
        Binding("escape", "leave", "back (keeps the draft)", show=False, id="prompt.leave"),
    ]

    class Sent(Message):
        """The user asked to send the text, and perhaps to go on to the next session or to interrupt the turn."""

        def __init__(self, text: str, *, then_next: bool = False, interrupts: bool = False) -> None:
            super().__init__()
            self.text = text
            self.then_next = then_next
            self.interrupts = interrupts

    class Left(Message):
        """The user left the box; the text stays."""

    class EditAsked(Message):
        """The user asked to edit the last queued prompt."""

    class ModeAsked(Message):
        """The user asked for the next permission mode."""

    def __init__(self, *, placeholder: str = "", id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id, placeholder=placeholder)
        self.cursor_blink = False
        self.highlight_cursor_line = False
        self.earlier = History()
        """Earlier prompts."""
        self.clears = False
        """True if sending clears the text at once: text typed after that belongs to the next prompt."""
        self.has_queue = False
        """True if prompts wait behind this one: up in an empty box edits the last of them."""
        self.tools: PromptTools | None = None
        """The tools; without any, their keys do nothing."""

    def on_key(self, event: Key) -> None:
        """Send on Enter."""
        # Not a priority binding: that would overtake characters typed just before, and send less than was typed.
        if event.key == "enter" and not self.offers.is_open:
            event.stop()
            event.prevent_default()
            self.send()

    def send(self, *, then_next: bool = False, interrupts: bool = False) -> None:
        """Send the text; the receiver handles a blank one."""
        text = self.text
        if self.clears and text.strip():
            self.clear()
        self.post_message(self.Sent(text, then_next=then_next, interrupts=interrupts))

    def action_cursor_up(self, select: bool = False) -> None:
        """Move up by a line; from the first line to an earlier prompt, from an empty box to the last queued one."""
        if self.has_queue and not self.text and not select:
            self.post_message(self.EditAsked())
            return
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

    def action_editor(self) -> None:
        """Edit the text in the user's editor."""
        if self.tools is not None and (edited := self.tools.edit(self.text)) is not None:
            self._put(edited)

    def action_search(self) -> None:
        """Let the user find an earlier prompt, which replaces the text; up brings the replaced text back."""
        if self.tools is not None:
            self.run_worker(self._search(self.tools), exclusive=True, group="search")

    async def _search(self, tools: PromptTools) -> None:
        found = await tools.search()
        if found is not None:
            if self.text.strip():
                self.earlier.sent(self.text)
            self._put(found)

    def insert_template(self) -> None:
        """Insert the text of a template that the user chooses."""
        if self.tools is not None:
            self.run_worker(self._insert_template(self.tools), exclusive=True, group="search")

    async def _insert_template(self, tools: PromptTools) -> None:
        text = await tools.template()
        if text is not None:
            self.insert_apart(text)

    def insert_apart(self, text: str) -> None:
        """Insert a text at the cursor, on a line of its own if a word is before it."""
        row, column = self.cursor_location
        before = self.document.get_line(row)[:column]
        self.insert(text if not before or before[-1].isspace() else f"\n{text}")

    @on(CompletingText.PathsAsked)
    def _complete(self, event: CompletingText.PathsAsked) -> None:
        event.stop()
        if self.tools is not None:
            self.run_worker(self._offer(self.tools, event.letters), exclusive=True, group="paths")

    async def _offer(self, tools: PromptTools, letters: str) -> None:
        self.offer(letters, await tools.paths(letters, self.offers.room))

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

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._title = self._note = ""
        self._alarming = False

    def show_title(self, title: str, note: str = "", *, alarming: bool = False) -> None:
        """Show a text and a note behind it, in the colour of failures if it is alarming; the same is not drawn again.

        The title is cut, not the note.
        """
        if (title, note, alarming) != (self._title, self._note, self._alarming):
            self._title, self._note, self._alarming = title, note, alarming
            self.refresh()

    def render(self) -> Content:
        """Return the text, and the line after it."""
        note = f"{cut(self._note, self.size.width - 2)} " if self._note else ""
        text = f"{cut(self._title, self.size.width - 2 - cell_width(note))} " if self._title else ""
        line = glyphs.RULE * max(0, self.size.width - cell_width(text + note))
        shown = Content(f"{text}{note}{line}").stylize("$rule", len(text + note))
        return shown.stylize("bold $text-error" if self._alarming else "bold", len(text), len(text + note))


class PromptBox(Vertical):
    """A prompt below a rule that shows its target."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+n", "send_and_next", "send, then next that needs you", show=False, id="prompt.send_next"),
        Binding("ctrl+t", "interrupt_and_send", "interrupt the turn and send", show=False, id="prompt.interrupt"),
        Binding("shift+tab", "next_mode", "next permission mode, for one prompt", show=False, id="prompt.mode"),
    ]
    DEFAULT_CSS = """
    PromptBox { height: auto; max-height: 40%; }
    PromptBox > #prompt-target { color: $muted; }
    PromptBox:focus-within > #prompt-target { color: $text-primary; text-style: $focused-style; }
    PromptBox > Horizontal { height: auto; }
    PromptBox #prompt-sign { width: 2; height: 1; color: $text-primary; text-style: bold; }
    PromptBox PromptInput { width: 1fr; height: auto; max-height: 8; padding: 0; background: $background; }
    """

    def __init__(self, drafts: DraftBook) -> None:
        super().__init__()
        self.target = TitledRule(id="prompt-target")
        """The rule that shows what sending will do."""
        self._sign = glyphs.KINDS[StepKind.PROMPT]
        self._drafts = drafts
        self._session_id: str | None = None
        self._stored = ""
        """The text as it was last stored or read: a tool may change the text before a dialog's screen has gone."""
        self._edits: dict[str | None, str] = {}
        """The texts of queued prompts that are being edited, by session: they are not drafts."""

    def compose(self) -> ComposeResult:
        """Yield the rule, the sign and the text."""
        yield self.target
        text = PromptInput(id="prompt-input")
        text.clears = True
        yield text.offers
        with Horizontal():
            yield Static(self._sign, markup=False, id="prompt-sign")
            yield text

    def action_send_and_next(self) -> None:
        """Send the text, and go on to the next session that needs the user."""
        self.input.send(then_next=True)

    def action_interrupt_and_send(self) -> None:
        """Interrupt the turn that is running, and send the text in its place."""
        self.input.send(interrupts=True)

    def action_next_mode(self) -> None:
        """Choose the next permission mode."""
        self.input.post_message(PromptInput.ModeAsked())

    @property
    def input(self) -> PromptInput:
        """The widget with the current text."""
        return self.query_one(PromptInput)

    def show_target(self, target: str, placeholder: str = "", *, mode: str = "", dangerous: bool = False) -> None:
        """Show the effect of sending, the mode that the user chose, and in an empty box a hint."""
        self.target.show_title(target, mode, alarming=dangerous)
        if self.input.placeholder != placeholder:
            self.input.placeholder = placeholder

    def switch(self, session_id: str | None) -> None:
        """Show the draft of a session that was just selected, or was edited elsewhere."""
        if session_id != self._session_id and self.has_focus_within:
            self._changed()  # the event of the last key may not have arrived yet
        self._session_id = session_id
        self._show_text()

    def _show_text(self) -> None:
        shown = self._session_id
        text = self._stored = self._edits[shown] if shown in self._edits else self._drafts.get(shown)
        if text != self.input.text:
            self.input.text = text
            self.input.move_cursor(self.input.document.end)

    def on_mount(self) -> None:
        """Show the draft of a new session."""
        self.show_draft()

    def show_draft(self) -> None:
        """Show the current draft of the selected session, unless the text was changed since it was stored."""
        if self.input.text != self._stored:
            self._changed()
        self.switch(self._session_id)

    @on(TextArea.Changed)
    def _changed(self) -> None:
        self._stored = self.input.text
        if self._session_id in self._edits:
            self._edits[self._session_id] = self.input.text
        else:
            self._drafts.put(self._session_id, self.input.text)

    def begin_edit(self, session_id: str, text: str) -> None:
        """Edit a queued prompt in place of the draft, which comes back at the end."""
        self._changed()
        self._edits[session_id] = text
        self._show_text()

    def end_edit(self, session_id: str) -> None:
        """Show the session's draft again."""
        self._edits.pop(session_id, None)
        self._show_text()

    def accepted(self, text: str) -> None:
        """Add a prompt that was accepted to the history."""
        self.input.earlier.sent(text)

    def give_back(self, session_id: str | None, text: str) -> None:
        """Put an unsent prompt back into the session's draft, before the text typed since."""
        self._drafts.put(session_id, "\n".join(filter(None, (text, self._drafts.get(session_id)))))
        if session_id == self._session_id:
            self.switch(session_id)

    def insert(self, session_id: str | None, text: str) -> None:
        """Insert a text at the cursor; if another session is shown by now, add it to the session's draft."""
        if session_id == self._session_id:
            self.input.insert_apart(text)
        else:
            self.give_back(session_id, text)
