"""The dialog for the table's columns: their choice, order and widths."""

from collections.abc import Callable
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from ....widgets.drawing.roles import MUTED
from ....widgets.table.columns import COLUMNS, USUAL, Choice, columns

WIDEST = 60


class ColumnsScreen(ModalScreen[None]):
    """Shows every change in the table at once."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "dismiss(None)", "close", show=False),
        Binding("space,enter", "show_or_hide", "show or hide", show=False, priority=True),
        Binding("J,shift+down", "carry(1)", "move down", show=False),
        Binding("K,shift+up", "carry(-1)", "move up", show=False),
        Binding("j", "go(1)", "down", show=False),
        Binding("k", "go(-1)", "up", show=False),
        Binding("plus,right,l", "widen(1)", "wider", show=False),
        Binding("minus,left,h", "widen(-1)", "narrower", show=False),
        Binding("0", "usual", "reset", show=False),
    ]

    def __init__(self, choice: Choice, width: int, changed: Callable[[Choice], None]) -> None:
        """``width`` is the table's, in cells; ``changed`` is called with each change."""
        super().__init__()
        self._width = width
        self._changed = changed
        self._list = OptionList(id="columns")
        self._take(choice)

    def _take(self, choice: Choice) -> None:
        self._names = [*choice.names, *(name for name in COLUMNS if name not in choice.names)]
        self._shown = set(choice.names)
        self._widths = dict(choice.widths)

    def compose(self) -> ComposeResult:
        """Yield one line for each column."""
        with Vertical(classes="dialog") as dialog:
            dialog.border_title = "Columns"
            yield self._list
            yield Static("Space toggle   J K move   + - width   0 reset to defaults   Esc close", classes="keys")

    def on_mount(self) -> None:
        """Put the cursor on the first column."""
        self._fill(0)

    def _fill(self, at: int) -> None:
        self._fitting = {column.heading for column in columns(self._width, self._choice)}
        self._list.clear_options()
        self._list.add_options(Option(self._line(name), id=name) for name in self._names)
        self._list.highlighted = at

    def _line(self, name: str) -> Content:
        column = COLUMNS[name]
        mark = "x" if name in self._shown else " "
        width = self._widths.get(name, column.width)
        hidden = name in self._shown and name not in self._fitting
        return Content.assemble(
            f"[{mark}] ",
            (f"{name:<8}", "bold"),
            (f" {width:>2}  {column.help}", MUTED),
            ("  hidden: too narrow" if hidden else "", "$text-warning"),
        )

    @property
    def _choice(self) -> Choice:
        widths = tuple((name, width) for name, width in self._widths.items() if width != COLUMNS[name].width)
        return Choice(tuple(name for name in self._names if name in self._shown), widths)

    def action_go(self, rows: int) -> None:
        """Move the cursor by rows."""
        self._list.highlighted = max(0, min(len(self._names) - 1, (self._list.highlighted or 0) + rows))

    def action_show_or_hide(self) -> None:
        """Show or hide the column."""
        self._shown ^= {self._names[self._list.highlighted or 0]}
        self._tell(self._list.highlighted or 0)

    def action_carry(self, by: int) -> None:
        """Move the column by ``by`` places."""
        at = self._list.highlighted or 0
        to = max(0, min(len(self._names) - 1, at + by))
        self._names.insert(to, self._names.pop(at))
        self._tell(to)

    def action_widen(self, by: int) -> None:
        """Widen the column by ``by`` cells; narrow it if ``by`` is negative."""
        at = self._list.highlighted or 0
        name = self._names[at]
        self._widths[name] = max(1, min(WIDEST, self._widths.get(name, COLUMNS[name].width) + by))
        self._tell(at)

    def action_usual(self) -> None:
        """Restore the default columns."""
        self._take(USUAL)
        self._tell(0)

    def _tell(self, at: int) -> None:
        self._fill(at)
        self._changed(self._choice)
