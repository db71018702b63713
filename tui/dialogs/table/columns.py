"""The dialog for the table's columns: their choice, order and widths."""

from collections.abc import Callable
from functools import partial
from typing import ClassVar

from textual.binding import Binding, BindingType

from agentdash.tui.dialogs.dialog import ListDialog
from agentdash.widgets.drawing.spans import Row
from agentdash.widgets.table.columns import COLUMNS, USUAL, Choice, columns

WIDEST = 60


class ColumnsScreen(ListDialog[None]):
    """Shows every change in the table at once."""

    goes_round = False
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("space", "take", "show or hide", show=False),
        Binding("J,shift+down", "carry(1)", "move down", show=False),
        Binding("K,shift+up", "carry(-1)", "move up", show=False),
        Binding("plus,right,l", "widen(1)", "wider", show=False),
        Binding("minus,left,h", "widen(-1)", "narrower", show=False),
        Binding("0", "usual", "reset", show=False),
    ]

    def __init__(self, choice: Choice, width: int, changed: Callable[[Choice], None]) -> None:
        """``width`` is the table's, in cells; ``changed`` is called with each change."""
        super().__init__("Columns", "Space toggle   J K move   + - width   0 reset to defaults   Esc close")
        self._width = width
        self._changed = changed
        self._take(choice)

    def _take(self, choice: Choice) -> None:
        self._names = [*choice.names, *(name for name in COLUMNS if name not in choice.names)]
        self._shown = set(choice.names)
        self._widths = dict(choice.widths)

    def on_mount(self) -> None:
        """Put the cursor on the first column."""
        self._fill(0)

    def _fill(self, at: int) -> None:
        self._fitting = {column.heading for column in columns(self._width, self._choice)}
        self.show([partial(self._line, name) for name in self._names], at)

    def _line(self, name: str, _: int) -> list[Row]:
        column = COLUMNS[name]
        mark = "x" if name in self._shown else " "
        width = self._widths.get(name, column.width)
        hidden = name in self._shown and name not in self._fitting
        note = "  hidden: too narrow" if hidden else ""
        help_ = (f" {width:>2}  {column.help}", "dim")
        return [((f"[{mark}] ", "text"), (f"{name:<8}", "strong"), help_, (note, "attention"))]

    @property
    def _choice(self) -> Choice:
        widths = tuple((name, width) for name, width in self._widths.items() if width != COLUMNS[name].width)
        return Choice(tuple(name for name in self._names if name in self._shown), widths)

    def action_take(self) -> None:
        """Show or hide the column."""
        self._shown ^= {self._names[self.list.cursor]}
        self._tell(self.list.cursor)

    def clicked(self) -> None:
        """Change nothing: a click only moves the cursor."""

    def action_carry(self, by: int) -> None:
        """Move the column by ``by`` places."""
        at = self.list.cursor
        to = max(0, min(len(self._names) - 1, at + by))
        self._names.insert(to, self._names.pop(at))
        self._tell(to)

    def action_widen(self, by: int) -> None:
        """Widen the column by ``by`` cells; narrow it if ``by`` is negative."""
        at = self.list.cursor
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
