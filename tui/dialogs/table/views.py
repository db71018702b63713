"""The dialog for saved views of the table: show one, save the present view by a name, or delete one."""

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import ClassVar

from textual import on
from textual.binding import Binding, BindingType
from textual.widget import Widget
from textual.widgets import Input

from agentdash.sessions.text.sanitize import one_line
from agentdash.tui.dialogs.dialog import ListDialog
from agentdash.tui.state.table_views import BUILT_IN, QUICK, View
from agentdash.widgets.drawing.spans import Row
from agentdash.widgets.inputs.history import HistoryInput
from agentdash.widgets.table.table_bar import GROUPED

NAME_CHARACTERS = 40


class ViewsScreen(ListDialog[View]):
    """Returns the view that the user chose.

    Args:
        saved: the saved views by name.
        present: the view to save.
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
        self.show([partial(_row, name, view) for name, view in self._views.items()])

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


def _row(name: str, view: View, _: int) -> list[Row]:
    return [((f"{name:<16} ", "strong"), (describe(view), "dim"))]


def describe(view: View) -> str:
    """Describe what a view shows in a few words."""
    parts = [view.filter, QUICK.get(view.quick, ("", ""))[0], view.folder and f"only {view.folder}"]
    parts.append(GROUPED.get(view.grouping, ""))
    parts.append("" if view.sort == "attention" and not view.reverse else f"by {view.sort}{' reversed' * view.reverse}")
    return one_line("  ".join(part for part in parts if part), 60) or "all sessions, needs you first"
