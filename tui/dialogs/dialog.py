"""The base of dialogs that show a text or a list: a title, the keys below, and the keys that move."""

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from typing import ClassVar, TypeVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widget import Widget
from textual.widgets import Input, Static

from agentdash.widgets.lists.row_list import DialogList, Draw, RowList

Result = TypeVar("Result")


class Dialog(ModalScreen[Result | None]):
    """A box with a title; Esc closes it, and so do ``q`` and Enter unless they mean something else in it.

    Args:
        title: the title, as plain text.
        keys: the keys that the last line names.
        hint: the hint in the empty field above the text; without one there is no field.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "dismiss(None)", "close", show=False),
        Binding("enter", "take", "take", show=False),
        Binding("j,down", "move(1)", "down", show=False),
        Binding("k,up", "move(-1)", "up", show=False),
        Binding("g,home", "edge(False)", "first line", show=False),
        Binding("G,end", "edge(True)", "last line", show=False),
        Binding("pagedown", "page(1)", "page down", show=False),
        Binding("pageup", "page(-1)", "page up", show=False),
    ]

    def __init__(self, title: str, keys: str, *, hint: str = "") -> None:
        super().__init__()
        self.dialog = Vertical(classes="dialog")
        self.dialog.border_title = Content(title)
        self.field = Input(placeholder=hint, compact=True)
        """The words of the user that narrow the text."""
        self.field.cursor_blink = False
        self.keys = Static(keys, markup=False, classes="keys")

    def compose(self) -> ComposeResult:
        """Yield the field, the body and the keys."""
        with self.dialog:
            if self.field.placeholder:
                yield self.field
            yield from self.body()
            yield self.keys

    @abstractmethod
    def body(self) -> Iterable[Widget]:
        """Return the widgets between the title and the keys."""

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        if event.input is self.field:
            self.action_take()

    def action_take(self) -> None:
        """Close, with what is under the cursor if the dialog has one."""
        self.dismiss(None)

    def action_move(self, lines: int) -> None:
        """Scroll by lines."""
        self.query_one(VerticalScroll).scroll_relative(y=lines, animate=False)

    def action_page(self, pages: int) -> None:
        """Scroll by pages."""
        scroll = self.query_one(VerticalScroll)
        scroll.scroll_relative(y=pages * max(1, scroll.size.height - 1), animate=False)

    def action_edge(self, last: bool) -> None:
        """Scroll to the end, or to the beginning."""
        scroll = self.query_one(VerticalScroll)
        scroll.scroll_end(animate=False) if last else scroll.scroll_home(animate=False)


class ListDialog(Dialog[Result]):
    """A dialog with a list; the list has the keys, unless there is a field that narrows it.

    Args:
        title: the title, as plain text.
        keys: the keys that the last line names.
        hint: the hint in the field; without one there is no field.
        empty: the text in place of an empty list.
    """

    goes_round: ClassVar[bool] = True
    """The item after the last one is the first."""

    def __init__(self, title: str, keys: str, *, hint: str = "", empty: str = "") -> None:
        super().__init__(title, keys, hint=hint)
        self.list = DialogList()
        self.list.can_focus = not hint
        self.list.note = empty

    def body(self) -> Iterable[Widget]:
        """Return the list."""
        return [self.list]

    def show(self, items: Sequence[Draw], cursor: int = 0) -> None:
        """Show other items, with the cursor on one of them."""
        self.list.show(items, cursor)
        self.list.refresh(layout=self.list.styles.is_auto_height)

    @on(RowList.Highlighted)
    def _cursor_moved(self) -> None:
        self.highlighted()

    @on(DialogList.Clicked)
    def _clicked(self) -> None:
        self.clicked()

    def clicked(self) -> None:
        """Take the item that was clicked."""
        self.action_take()

    def action_take(self) -> None:
        """Take the item under the cursor: nothing, unless the dialog has a use for it."""

    def highlighted(self) -> None:
        """Show what depends on the item under the cursor."""

    def action_move(self, lines: int) -> None:
        """Move the cursor by an item; beyond an end to the other end, if the list goes round."""
        count = max(1, self.list.count())
        self.list.move((self.list.cursor + lines) % count - self.list.cursor if self.goes_round else lines)

    def action_page(self, pages: int) -> None:
        """Move the cursor by pages."""
        self.list.move(pages * max(1, self.list.page_lines - 1))

    def action_edge(self, last: bool) -> None:
        """Move the cursor to the last item, or to the first one."""
        self.list.move(self.list.count() if last else -self.list.count())
