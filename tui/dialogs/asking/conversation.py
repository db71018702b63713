"""The dialog before a conversation is forked, cut, restored or compacted: the facts, and a box for a text."""

from collections.abc import Awaitable, Callable, Sequence
from typing import ClassVar

from msgspec import Struct
from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.geometry import Size
from textual.screen import ModalScreen
from textual.widgets import Static, TextArea

from agentdash.sessions.text.sanitize import cell_width
from agentdash.tui.dialogs.dialog import Frame, KeyLine, Kind
from agentdash.widgets.drawing.roles import MUTED
from agentdash.widgets.drawing.spans import wrap
from agentdash.widgets.inputs.choice import Field
from agentdash.widgets.inputs.prompt_box import PromptInput

Act = Callable[[str], Awaitable[str | None]]
"""Does it, with the text of the box; returns the reason if it was refused."""


class Box(Struct, frozen=True):
    """The box for a text."""

    label: str
    text: str = ""
    placeholder: str = ""
    needed: bool = True
    """True if an empty text does nothing."""
    keep: Callable[[str], object] = lambda _: None
    """Keeps the text at each key."""


class FactLines(Static):
    """Labels, and texts that are wrapped beside them."""

    LABEL_CELLS = 12

    def __init__(self, facts: Sequence[tuple[str, str]]) -> None:
        super().__init__(markup=False)
        self._facts = facts

    def get_content_width(self, container: Size, viewport: Size) -> int:  # noqa: ARG002 - as Textual declares it
        """Return the cells of the longest text beside its label."""
        longest = max((cell_width(line) for _, text in self._facts for line in text.split("\n")), default=0)
        return min(self.LABEL_CELLS + longest, container.width)

    def on_resize(self) -> None:
        """Wrap the texts to the width."""
        room = max(1, self.size.width - self.LABEL_CELLS)
        lines = []
        for label, text in self._facts:
            for number, row in enumerate(wrap(text, room)):
                name = label if number == 0 else ""
                blank = " " * max(1, self.LABEL_CELLS - cell_width(name))
                lines.append(Content.assemble((name + blank, MUTED), row))
        self.update(Content("\n").join(lines))


class ConversationScreen(ModalScreen[bool]):
    """Shows what will happen.  Without a box ``y`` does it, with one Enter; if it is refused, the reason is shown.

    Args:
        verb: the word for doing it.
        box: the box for a text; None for none.
    """

    DECIDING: ClassVar[frozenset[str]] = frozenset({"y", "enter"})
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "act", "yes", show=False),
        Binding("n,escape,enter,q", "leave", "no", show=False),
    ]

    def __init__(
        self, title: str, facts: Sequence[tuple[str, str]], verb: str, act: Act, *, box: Box | None = None
    ) -> None:
        super().__init__()
        self._title = title
        self._facts = facts
        self._verb = verb
        self._act = act
        self._box = box
        self._acting = False
        self._input = PromptInput(placeholder=box.placeholder if box is not None else "", id="conversation-text")
        self._error = Static("", id="conversation-error", markup=False)

    def compose(self) -> ComposeResult:
        """Yield the facts, the box and the keys; the question is the border title."""
        with Frame(Kind.ASKS if self._box is None else Kind.TAKES, self._title):
            with VerticalScroll(can_focus=False):
                yield FactLines(self._facts)
            if self._box is not None:
                yield Field(self._box.label, self._input)
            yield self._error
            keys = f"y {self._verb}   n cancel" if self._box is None else f"Enter {self._verb}   Esc cancel"
            yield KeyLine(keys)

    def on_mount(self) -> None:
        """Fill in the box, and give it the keys."""
        self._error.display = False
        if self._box is not None:
            self._input.text = self._box.text
            self._input.move_cursor(self._input.document.end)
            self._input.focus()

    @on(TextArea.Changed)
    def _changed(self) -> None:
        if self._box is not None and not self._acting:
            self._box.keep(self._input.text)

    @on(PromptInput.Left)
    def action_leave(self) -> None:
        """Close, and do nothing."""
        if not self._acting:
            self.dismiss(False)

    @on(PromptInput.Sent)
    def action_act(self) -> None:
        """Do it once; an empty text does nothing if one is needed."""
        text = self._input.text if self._box is not None else ""
        if self._acting or (self._box is not None and self._box.needed and not text.strip()):
            return
        self._acting = True
        self._try(text)

    @work(exclusive=True)
    async def _try(self, text: str) -> None:
        reason = await self._act(text)
        self._acting = False
        if reason is None:
            self.dismiss(True)
        else:
            self._error.update(reason)
            self._error.display = True
