"""The base of dialogs that show a text or a list: a title, the keys below, and the keys that move."""

import re
from abc import abstractmethod
from collections.abc import Iterable, Sequence
from enum import StrEnum
from itertools import takewhile
from typing import ClassVar, TypeVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.geometry import Size
from textual.screen import ModalScreen
from textual.widget import Widget
from textual.widgets import Input, Static, TextArea

from agentdash.sessions.text.sanitize import cell_width, cut, one_line
from agentdash.tui._textual_hacks import OwnWidth
from agentdash.widgets.lists.row_list import DialogList, Draw, RowList

Result = TypeVar("Result")

_LEAST, _MOST = 40, 116
"""The least and the most cells of a dialog's text."""
_FIELD = 72
"""Cells of a field in which the user writes."""
_QUOTED = re.compile(r'(.*?")(.*)(".*)', re.DOTALL)
_KEY = re.compile(
    r"[^\W_]|[^\w\s]{1,2}|\.\w+|(Ctrl|Shift|Alt)\+\S+|F\d+|Enter|Esc|Tab|Space|Up|Down|Left|Right|PgUp|PgDn"
)
"""The names of keys, and the endings of files."""


class Kind(StrEnum):
    """The kind of a dialog: the colour of its border shows it."""

    ENDS = "-ends"
    """It ends or deletes something."""
    ASKS = "-asks"
    """It asks for a decision."""
    TAKES = "-takes"
    """It takes a text or a choice."""
    TELLS = "-tells"


class Frame(OwnWidth):
    """The box of a dialog, as wide as its contents need: it gets wider with them while it is open, not narrower.

    Args:
        title: a title that is too long loses cells of its quoted name first.
    """

    def __init__(self, kind: Kind, title: str = "") -> None:
        super().__init__(classes=f"dialog {kind}")
        self._cells = _LEAST
        self.title = title

    def entitle(self, title: str) -> None:
        """Show another title."""
        self.title = title
        self._fit()
        self.refresh(layout=True)

    def on_resize(self) -> None:
        """Cut the title to the new width."""
        self._fit()

    def _fit(self) -> None:
        title, over = one_line(self.title), cell_width(self.title) - max(1, self.size.width - 2)
        if over > 0 and self.size.width and (parts := _QUOTED.fullmatch(title)):
            name = parts[2]
            title = f"{parts[1]}{cut(name, max(1, cell_width(name) - over))}{parts[3]}"
        self.border_title = Content(title)

    def get_content_width(self, container: Size, viewport: Size) -> int:
        """Return the cells that the title and the widest line need."""
        wanted = max(cell_width(self.title) + 2, *(_wanted(child, viewport) for child in self.displayed_children))
        self._cells = max(self._cells, min(wanted, _MOST))
        return min(self._cells, container.width)


def _wanted(widget: Widget, viewport: Size) -> int:
    """Return the cells that a part of a dialog needs for its lines."""
    if isinstance(widget, Input | TextArea):
        return _FIELD
    if widget.is_container:
        inside = max((_wanted(child, viewport) for child in widget.displayed_children), default=0)
        return inside + widget.gutter.width + isinstance(widget, VerticalScroll)
    return widget.get_content_width(Size(_MOST, 0), viewport) + widget.gutter.width


class KeyLine(Static):
    """The keys of a dialog, in bold, each with its words: ``y stop   n cancel``."""

    def __init__(self, keys: str = "") -> None:
        super().__init__(keys_in_bold(keys), classes="keys")

    def show_keys(self, keys: str) -> None:
        """Show other keys."""
        self.update(keys_in_bold(keys))


def keys_in_bold(line: str) -> Content:
    """Return a line of keys and words; the first words of each part are its keys, if they are names of keys."""
    parts: list[str | tuple[str, str]] = []
    for part in re.split(r"( {2,}|, )", line):
        words = part.split(" ")
        keys = list(takewhile(_KEY.fullmatch, words))
        bold = " ".join(keys)
        parts += [(bold, "bold $foreground"), part[len(bold) :]]
    return Content.assemble(*parts)


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

    KIND: ClassVar[Kind] = Kind.TELLS

    def __init__(self, title: str, keys: str, *, hint: str = "") -> None:
        super().__init__()
        self.dialog = Frame(self.KIND, title)
        self.field = Input(placeholder=hint, compact=True)
        """The words of the user that narrow the text."""
        self.field.cursor_blink = False
        self.keys = KeyLine(keys)

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

    KIND = Kind.TAKES

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
