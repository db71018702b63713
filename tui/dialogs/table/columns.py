"""The dialogs for the table's columns (choice, order, widths) and for its saved views."""

from collections.abc import Callable, Iterable, Mapping
from typing import ClassVar

from textual import on
from textual.binding import Binding, BindingType
from textual.widget import Widget
from textual.widgets import Input

from agentdash.sessions.text.sanitize import one_line
from agentdash.tui.dialogs.dialog import ListDialog
from agentdash.tui.state.table_views import BUILT_IN, QUICK, View
from agentdash.widgets.inputs.history import HistoryInput
from agentdash.widgets.lists.row_list import Draw, line
from agentdash.widgets.table.columns import COLUMNS, USUAL, Choice, columns
from agentdash.widgets.table.status_line import GROUPED

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
        self.show([self._line(name) for name in self._names], at)

    def _line(self, name: str) -> Draw:
        column = COLUMNS[name]
        mark = "x" if name in self._shown else " "
        width = self._widths.get(name, column.width)
        hidden = name in self._shown and name not in self._fitting
        note = "  hidden: too narrow" if hidden else ""
        help_ = (f" {width:>2}  {column.help}", "dim")
        return line((f"[{mark}] ", "text"), (f"{name:<8}", "strong"), help_, (note, "attention"))

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


NAME_CHARACTERS = 40


class ViewsScreen(ListDialog[View]):
    """Returns the view that the user chose.

    Args:
        saved: the saved views by name.
        save: saves a view under a name; with None it deletes the name.
    """

    BINDINGS: ClassVar[list[BindingType]] = [Binding("delete,D", "forget", "forget", show=False)]

    def __init__(self, saved: Mapping[str, View], present: View, save: Callable[[str, View | None], None]) -> None:
        super().__init__("Views", "Enter open   Tab name it, Enter save   D delete view   Esc close")
        self._saved = dict(saved)
        self._present = present
        self._save = save
        self._views: dict[str, View] = {}
        self._new_name = HistoryInput(placeholder="name for the current view", id="view-name")

    def body(self) -> Iterable[Widget]:
        """Return the names with their descriptions, and a field for a new name."""
        return [self.list, self._new_name]

    def on_mount(self) -> None:
        """Focus the list."""
        self._fill()
        self.set_focus(self.list)

    def _fill(self) -> None:
        self._views = self._saved | {name: view for name, view in BUILT_IN.items() if name not in self._saved}
        self.show([line((f"{name:<16} ", "strong"), (describe(view), "dim")) for name, view in self._views.items()])

    def action_take(self) -> None:
        """Show the view under the cursor."""
        self.dismiss(list(self._views.values())[self.list.cursor])

    @on(Input.Submitted)
    def _named(self, event: Input.Submitted) -> None:
        name = one_line(event.value.strip(), NAME_CHARACTERS)
        if name:
            self._save(name, self._present)
            self.dismiss(None)

    def action_forget(self) -> None:
        """Delete the view under the cursor, if the user saved it."""
        name = list(self._views)[self.list.cursor]
        if name in self._saved:
            del self._saved[name]
            self._save(name, None)
            self._fill()


def describe(view: View) -> str:
    """Describe what a view shows in a few words."""
    parts = [view.filter, QUICK.get(view.quick, ("", ""))[0], view.folder and f"only {view.folder}"]
    parts.append(GROUPED.get(view.grouping, ""))
    parts.append("" if view.sort == "attention" and not view.reverse else f"by {view.sort}{' reversed' * view.reverse}")
    return one_line("  ".join(part for part in parts if part), 60) or "all sessions, needs you first"
