"""The dialog for saved views of the table: show one, save the present view by a name, or delete one."""

from collections.abc import Callable, Mapping
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from ....sessions.text.sanitize import one_line
from ....widgets.drawing.roles import MUTED
from ....widgets.inputs.history import HistoryInput
from ....widgets.table.table_bar import GROUPED
from ...state.table_views import BUILT_IN, QUICK, View

NAME_CHARACTERS = 40


class ViewsScreen(ModalScreen[View | None]):
    """Returns the view that the user chose.

    Args:
        saved: the saved views by name.
        present: the view to save.
        save: saves a view under a name; with None it deletes the name.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss(None)", "close", show=False),
        Binding("delete", "forget", "forget", show=False),
        Binding("D", "forget", "forget", show=False),
        Binding("j", "go('down')", "down", show=False),
        Binding("k", "go('up')", "up", show=False),
    ]

    def __init__(self, saved: Mapping[str, View], present: View, save: Callable[[str, View | None], None]) -> None:
        super().__init__()
        self._saved = dict(saved)
        self._present = present
        self._save = save
        self._list = OptionList(id="views")
        self._field = HistoryInput(placeholder="name for the current view", id="view-name")

    def compose(self) -> ComposeResult:
        """Yield the names with their descriptions, and a field for a new name."""
        with Vertical(classes="dialog") as dialog:
            dialog.border_title = "Views"
            yield self._list
            yield self._field
            yield Static("Enter open   Tab name it, Enter save   D delete view   Esc close", classes="keys")

    def on_mount(self) -> None:
        """Focus the list."""
        self._fill()
        self.set_focus(self._list)

    def _fill(self) -> None:
        self._list.clear_options()
        for name, view in (self._saved | {n: v for n, v in BUILT_IN.items() if n not in self._saved}).items():
            meaning = describe(view)
            self._list.add_option(Option(Content.assemble((f"{name:<16} ", "bold"), (meaning, MUTED)), id=name))
        self._list.highlighted = 0

    @on(OptionList.OptionSelected)
    def _chosen(self, event: OptionList.OptionSelected) -> None:
        name = event.option.id or ""
        self.dismiss(self._saved.get(name) or BUILT_IN[name])

    @on(Input.Submitted)
    def _named(self, event: Input.Submitted) -> None:
        name = one_line(event.value.strip(), NAME_CHARACTERS)
        if name:
            self._save(name, self._present)
            self.dismiss(None)

    def action_go(self, way: str) -> None:
        """Move the cursor of the list by one line."""
        self._list.action_cursor_down() if way == "down" else self._list.action_cursor_up()

    def action_forget(self) -> None:
        """Delete the view under the cursor, if the user saved it."""
        at = self._list.highlighted
        name = self._list.get_option_at_index(at).id if at is not None else None
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
