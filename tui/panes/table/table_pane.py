"""The table with the bar above it and the filter field: the choice of sessions, and how they are shown."""

import asyncio
from collections.abc import Callable, Mapping, Sequence

from msgspec import structs
from textual import on, work
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.events import DescendantBlur, DescendantFocus
from textual.message import Message
from textual.timer import Timer
from textual.widgets import Input, Static

from agentdash.sessions.model.errors import UsageError
from agentdash.sessions.model.session import Session
from agentdash.sessions.rules.filter_query import while_typing
from agentdash.sessions.service.lifecycle.agent_list import AgentInfo
from agentdash.sessions.service.reader import SessionReader
from agentdash.sessions.text.sanitize import clean, cut
from agentdash.tui.keys.actions import TABLE_ACTIONS, bindings
from agentdash.tui.keys.keymap import DEFAULT, Keymap
from agentdash.tui.panes.table.filter_suggester import FilterSuggester
from agentdash.tui.panes.table.load_columns import LoadWatch
from agentdash.tui.panes.table.put_away import PutAway
from agentdash.tui.services.background import Requests
from agentdash.tui.state.table_views import BUILT_IN, ENDS, ChosenSessions, View, lasting
from agentdash.tui.state.ui_state import UiState
from agentdash.tui.texts import screen_texts as texts
from agentdash.widgets.drawing.roles import MUTED
from agentdash.widgets.drawing.text_lines import Line, TitleRule
from agentdash.widgets.inputs.history import HistoryInput
from agentdash.widgets.table.columns import Choice
from agentdash.widgets.table.ordering import Grouping
from agentdash.widgets.table.row_model import Density
from agentdash.widgets.table.session_table import SessionTable
from agentdash.widgets.table.status_line import table_bar

_MOST_KEYS_SECONDS = 0.1
"""Time after which a filter that was not tried is tried, if none of the keys that waited changed or settled it."""


class TablePane(Vertical):
    """The choice, order, groups and columns of the sessions in the table; remembers the user's choices.

    Args:
        keys_wait: returns whether keys were typed that have not been handled yet.
    """

    DEFAULT_CSS = """
    TablePane > #bar, TablePane > #filter-line, TablePane > #preview { height: 1; display: none; }
    TablePane.-filled > #bar, TablePane.-asking > #filter-line { display: block; }
    TablePane.-asking > #bar { display: none; }
    TablePane #filter { background: $background; color: $foreground; width: 1fr; }
    TablePane #filter-sign { width: 1; text-style: bold; }
    TablePane #filter-count { width: 16; text-align: right; }
    """
    BINDINGS = bindings(TABLE_ACTIONS)

    class Changed(Message):
        """The choice of columns or rows changed; values measured for the visible rows may be missing."""

    class ChoiceLeft(Message):
        """The user left the sessions that another screen chose."""

    def __init__(
        self,
        table: SessionTable,
        ui_state: UiState,
        requests: Requests,
        reader: SessionReader,
        keys_wait: Callable[[], bool] = lambda: False,
    ) -> None:
        super().__init__(id="table-pane")
        self.table = table
        self._ui_state = ui_state
        self.requests = requests
        # A filter from an earlier run would hide sessions created since.
        self.view = structs.replace(ui_state.now.view, filter="", quick="", folder="")
        self.missing = 0
        """Number of sessions that are still being loaded."""
        self.away = PutAway(table, reader, requests, self.update_bar)
        self._loads = LoadWatch(self, table, reader, requests)
        self._progress = ""
        self._agents: Sequence[AgentInfo] = ()
        self._keymap = DEFAULT
        self._before = ""
        self._row: Session | None = None
        """The session under the cursor when the user began to write a filter."""
        self._problem = ""
        self._keys_wait = keys_wait
        self._later: Timer | None = None
        """Tries the filter that was not tried because keys waited."""
        self.bar = TitleRule(id="bar")
        self.count = Line(id="filter-count")
        """The number of sessions that match the filter while the user writes it."""
        self.preview = Line(id="preview")

    def compose(self) -> ComposeResult:
        """Yield the bar, the filter field and the table."""
        yield self.bar
        with Horizontal(id="filter-line"):
            yield Static("/", id="filter-sign")
            yield HistoryInput(
                placeholder="words, state:failed agent:codex cwd:api cost>1 age<1h is:attention !not",
                suggester=FilterSuggester(self.table),
                id="filter",
            )
            yield self.count
        yield self.table
        yield self.preview
        yield self.away

    def on_mount(self) -> None:
        """Restore the columns and the view of the last run."""
        self.table.show_columns(self._ui_state.now.choice)
        self.table.show_density(self._ui_state.now.density)
        self._apply()
        if self._ui_state.problem:
            self.requests.show_error(self._ui_state.problem)

    @property
    def views(self) -> Mapping[str, View]:
        """The views by name, built-in and saved."""
        return BUILT_IN | self._ui_state.now.views

    def show(self, view: View) -> None:
        """Show a view; if its filter is not valid, report the error and keep the former view."""
        try:
            view.chooser()
        except UsageError as error:
            self.requests.show_error(str(error))
            return
        self.view = view
        self._apply()
        self._keep(view=lasting(view))

    def show_chosen(self, named: str, ids: frozenset[str]) -> None:
        """Show exactly these sessions, also archived and deleted ones, until the user leaves them."""
        arrangement = self.view.arrangement
        self.view = ChosenSessions(
            named=named, ids=ids, sort=arrangement.sort, reverse=arrangement.reverse, grouping=arrangement.grouping
        )
        self._apply()

    def action_filter(self) -> None:
        """Ask for a filter."""
        self._before, self._row = self.view.filter, self.table.selected
        field = self.query_one("#filter", HistoryInput)
        field.value = self.view.filter + (" " if self.view.filter else "")
        field.cursor_position = len(field.value)
        self.add_class("-asking")
        self.screen.set_focus(field)

    def action_quick(self, key: str) -> None:
        """Show only sessions in one group of states; show all if ``key`` is 0 or already chosen."""
        self.show(structs.replace(self.view, quick="" if key in ("0", self.view.quick) else key))

    def action_view(self, name: str) -> None:
        """Show a view by its name."""
        self.show(self.views[name])

    def action_here(self) -> None:
        """Show only sessions in the selected one's folder, or all again."""
        session = self.table.selected
        folder = "" if self.view.folder or session is None else session.cwd
        self.show(structs.replace(self.view, folder=folder))

    def action_sort(self) -> None:
        """Ask for an order."""
        from agentdash.tui.dialogs.table.pick import PickScreen

        offers, names = texts.sort_offers(), list(texts.SORT_KEYS.values())
        self.app.push_screen(PickScreen("Sort", offers, at=names.index(self.view.arrangement.sort)), self._sort)

    def _sort(self, number: int | None) -> None:
        if number is not None:
            self.sort_by(list(texts.SORT_KEYS.values())[number])

    def sort_by(self, name: str) -> None:
        """Sort by a column."""
        self.show(structs.replace(self.view, sort=name, reverse=False))

    def action_reverse(self) -> None:
        """Reverse the order."""
        self.show(structs.replace(self.view, reverse=not self.view.reverse))

    def action_group(self) -> None:
        """Change to the next grouping: one list, a tree of parents and children, by folder, by agent."""
        kinds = list(Grouping)
        self.group_by(kinds[(kinds.index(self.view.grouping) + 1) % len(kinds)])

    def group_by(self, grouping: Grouping) -> None:
        """Group the rows."""
        self.show(structs.replace(self.view, grouping=grouping))

    def action_density(self) -> None:
        """Change to the next density: as many lines as fit, one line for each session, two."""
        kinds = list(Density)
        density = kinds[(kinds.index(self.table.density) + 1) % len(kinds)]
        self.table.show_density(density)
        self.requests.show_message(texts.DENSITIES[density])
        self._keep(density=density)

    def action_columns(self) -> None:
        """Choose, order and size the columns."""
        from agentdash.tui.dialogs.table.columns import ColumnsScreen

        self.app.push_screen(ColumnsScreen(self._ui_state.now.choice, self.table.size.width, self._choose_columns))

    def _choose_columns(self, choice: Choice) -> None:
        self.table.show_columns(choice)
        self._keep(columns=choice.names, widths=dict(choice.widths))
        self.post_message(self.Changed())

    def action_views(self) -> None:
        """Go to a saved view, or save this one."""
        from agentdash.tui.dialogs.table.columns import ViewsScreen

        self.app.push_screen(
            ViewsScreen(self._ui_state.now.views, lasting(self.view), self._save_view), self._view_chosen
        )

    def _view_chosen(self, view: View | None) -> None:
        if view is not None:
            self.show(view)

    def _save_view(self, name: str, view: View | None) -> None:
        kept = {other: saved for other, saved in self._ui_state.now.views.items() if other != name}
        self._keep(views=kept if view is None else kept | {name: view})

    def show_agents(self, agents: Sequence[AgentInfo], keymap: Keymap) -> None:
        """Set the agents that can be started or installed, and the keys: an empty table names them."""
        self._agents, self._keymap = agents, keymap
        self.update_bar()

    def sessions_changed(self) -> None:
        """Update the bar, and the lines of an empty table."""
        if not self.table.counts[1]:
            self.away.count()
        self.update_bar()

    def _say_why_empty(self) -> None:
        view = self.view
        quick = "" if view.filter or view.folder else view.quick
        if self.away.reading:
            self.table.show_when_empty(["reading…"])
            return
        counts = self.away.counts
        if self.table.counts[1] or (view.chooses and counts is not None and any(counts)):
            chosen = isinstance(view, ChosenSessions) and not view.filters
            self.table.show_when_empty(texts.nothing_matches(quick, chosen=chosen))
        else:
            self.table.show_when_empty(self._lesson(counts))

    def _lesson(self, counts: tuple[int, int] | None) -> Sequence[str]:
        """Return the lines for a table without sessions; none until the number of sessions put away is known."""
        if counts is None:
            return ()
        archived_key, trash_key = map(self._keymap.name, ("table.archived", "table.trash"))
        away = texts.put_away(*counts, archived_key, trash_key, self.size.width)
        return texts.no_sessions(self._agents, self._keymap.name("new_session"), away)

    def step_back(self) -> bool:
        """Drop the filter being written, the range, the marks, or the choice of rows, one at a time.

        Return True if there was one to drop.
        """
        if self.has_class("-asking"):
            self._answer(self._before)
            return True
        if self.table.unmark():
            return True
        if self.view.filters:
            self.show(structs.replace(self.view, filter="", quick="", folder=""))
            return True
        if isinstance(self.view, ChosenSessions):
            self.show(lasting(self.view))
            self.post_message(self.ChoiceLeft())
            return True
        return False

    def show_all(self) -> None:
        """Drop the filters, and a choice of sessions."""
        self.show(structs.replace(lasting(self.view), filter="", quick="", folder=""))

    @on(SessionTable.Recounted)
    @on(SessionTable.Marked)
    def update_bar(self) -> None:
        """Update the bar above the table."""
        view, width = self.view, self.size.width
        shown = structs.replace(view, filter="") if self.has_class("-asking") else view
        marked = len(self.table.marked)
        text = table_bar(
            shown.words,
            self.table.counts if view.chooses else None,
            view.arrangement,
            marked,
            new=self.table.new if view.quick in ENDS else 0,
            elsewhere=self.table.marked_elsewhere,
            range_key=self._keymap.name("table.mark_range") if self.table.ranging else "",
            back="usage" if isinstance(view, ChosenSessions) and not (view.filters or marked) else "",
            width=width,
        )
        self._say_why_empty()
        if self._progress:
            text = Content.styled(self._progress, "bold $text-primary")
        elif self.missing:
            text = Content.styled(f"loading {self.missing:,} more", MUTED)
        self.table.show_problem(self._problem)
        matching, there = self.table.counts
        self.count.show_text(f"{matching:,} of {there:,}" if view.chooses else "")
        self.bar.show_rule(text, self.table.cursor_place)
        self.set_class(bool(text.plain), "-filled")

    @on(SessionTable.Highlighted)
    def _cursor_moved(self) -> None:
        self.bar.show_rule(place=self.table.cursor_place)

    @on(DescendantFocus)
    @on(DescendantBlur)
    def _focus_moved(self) -> None:
        """Show whether the pane has the keys; the news of a widget that lost them can come after that of the next."""
        self.bar.show_rule(focused=self.has_focus_within)

    def show_preview(self, text: str) -> None:
        """Show a text about the selected session below the table, on a screen that shows no steps."""
        self.preview.show_text(cut(text, self.size.width))

    def on_resize(self) -> None:
        """Redraw the bar for the new width."""
        self.update_bar()

    @on(Input.Changed, "#filter")
    def _typed(self, event: Input.Changed) -> None:
        event.stop()
        self._try_typed(event.value)

    def _try_typed(self, text: str) -> None:
        """Show what matches, unless the next key waits and is about to change it: choosing among many takes time."""
        if self._later is not None:
            self._later.stop()
            self._later = None
        if not self.has_class("-asking"):
            return
        if self._keys_wait():
            field = self.query_one("#filter", HistoryInput)
            self._later = self.set_timer(_MOST_KEYS_SECONDS, lambda: self._try_typed(field.value))
            return
        wanted, otherwise = while_typing(text)
        self._try(wanted)
        if otherwise != wanted and not self._problem and not self.table.counts[0]:
            self._try(otherwise)
        if self._row is not None:
            self.table.select(self._row.id)

    @on(Input.Submitted, "#filter")
    def _entered(self, event: Input.Submitted) -> None:
        event.stop()
        # Escape may have closed the field first.
        if self.has_class("-asking") and self._settle(event.value):
            self.screen.set_focus(self.table)

    @on(Input.Blurred, "#filter")
    def _left(self, event: Input.Blurred) -> None:
        """Leaving the field counts as Enter; leaving the terminal does not."""
        event.stop()
        if self.has_class("-asking") and self.app.app_focus and not event.input.has_focus:
            self._settle(event.value)

    def _settle(self, text: str) -> bool:
        """Close the field with this filter; return False, and keep it open, if the filter is not valid."""
        self._try(text)
        if self._problem:
            return False
        self.query_one("#filter", HistoryInput).earlier.sent(text.strip())
        self.remove_class("-asking")
        self.update_bar()
        return True

    def _answer(self, text: str) -> None:
        self.remove_class("-asking")
        self._try(text)
        if self._row is not None:
            self.table.select(self._row.id)
        self.screen.set_focus(self.table)

    def _try(self, text: str) -> None:
        """Show the sessions that match a filter being written; report an invalid one, which hides nothing."""
        view = structs.replace(self.view, filter=" ".join(text.split()))
        self._problem = ""
        try:
            view.chooser()
        except UsageError as error:
            self._problem = clean(str(error))
            view = structs.replace(view, filter=self._before)
        self.view = view
        self._apply()

    def all_loaded(self) -> None:
        """Record that all sessions are in the table, not only those of the first screen."""
        self.missing = 0
        self.update_bar()

    @on(Changed)
    def _measure_loads(self, event: Message) -> None:
        event.stop()
        self._loads.watch(self._ui_state.now.columns, self.table.order.sort)

    @on(SessionTable.NothingWaits)
    def _nothing_waits(self, event: Message) -> None:
        event.stop()
        self.requests.show_message("No other session needs you.")

    def show_progress(self, progress: str) -> None:
        """Show the progress of an operation above the table; "" when it is over."""
        self._progress = progress
        self.update_bar()

    def _apply(self) -> None:
        self.away.want(self.view.away)
        if not self.table.counts[1]:
            self.away.count()
        self.table.choose(self.view.chooser(), self.view.arrangement)
        self._say_why_empty()
        self.update_bar()
        self.post_message(self.Changed())

    def _keep(self, **changes: object) -> None:
        self._ui_state.set(**changes)
        self.remember()

    @work(group="remember")
    async def remember(self) -> None:
        """Save the choices for the next run."""
        try:
            await asyncio.to_thread(self._ui_state.save)
        except OSError as error:
            where = self._ui_state.path
            self.requests.show_error(f"{where} cannot be written: {error.strerror}. The change lasts until you quit.")
