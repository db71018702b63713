"""The command line's commands for the table: filter, order, groups, views."""

from collections.abc import Iterable, Iterator
from functools import partial

from msgspec import structs

from agentdash.tui.keys.actions import TABLE_ACTIONS
from agentdash.tui.keys.command_line import Command, named, starting
from agentdash.tui.panes.table.filter_suggester import completed
from agentdash.tui.panes.table.table_pane import TablePane
from agentdash.widgets.table.ordering import ORDERS, Grouping


def table_commands(pane: TablePane) -> Iterator[Command]:
    """Yield the actions of the table by their names, and the commands that take an argument."""
    yield from named(pane, (action for action in TABLE_ACTIONS if action.id != "table.export"))
    more = _More(pane)
    yield Command(
        names=("filter", "table.filter"),
        takes="[FILTER]",
        help="filter sessions: words, state:failed, cost>1; no argument: all",
        run=more.filter,
        complete=lambda text: completed(text, pane.table.sessions),
    )
    for name, values, what in (("sort", ORDERS, "sort"), ("group", tuple(Grouping), "group")):
        yield Command(
            names=(name, f"table.{name}"),
            takes="[NAME]",
            help=f"{what} by; no argument: choose",
            run=partial(more.named, name, values),
            complete=starting(values),
        )
    yield Command(
        names=("view", "views", "table.views"),
        takes="[NAME]",
        help="open a saved view; no argument: choose",
        run=more.view,
        complete=starting(pane.views),
    )


class _More:
    """The commands that take an argument."""

    def __init__(self, pane: TablePane) -> None:
        self._pane = pane

    def filter(self, text: str) -> None:
        self._pane.show(structs.replace(self._pane.view, filter=text))

    async def named(self, name: str, values: Iterable[str], value: str) -> None:
        if value and value not in values:
            self._pane.requests.show_error(f"Unknown {name} {value!r}. Choose one of: {', '.join(values)}.")
        elif not value:
            await self._pane.run_action(name)
        elif name == "sort":
            self._pane.sort_by(value)
        else:
            self._pane.group_by(Grouping(value))

    async def view(self, name: str) -> None:
        views = self._pane.views
        if name and name not in views:
            self._pane.requests.show_error(f"Unknown view {name!r}. Choose one of: {', '.join(views)}.")
        elif name:
            self._pane.show(views[name])
        else:
            await self._pane.run_action("views")
