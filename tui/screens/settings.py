"""All settings: value, origin, default and description. Only the user's editor changes them, never agentdash."""

from typing import ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.screen import Screen
from textual.widgets import Input, Static

from agentdash.sessions.model.errors import ConfigError
from agentdash.sessions.service.families.enclosing import check_user
from agentdash.sessions.service.reader import SessionReader
from agentdash.sessions.settings.catalog import ENVIRONMENT
from agentdash.sessions.settings.catalog_texts import write_first
from agentdash.sessions.settings.config import Loaded
from agentdash.sessions.settings.effective import Held, held
from agentdash.sessions.settings.place import config_path
from agentdash.sessions.settings.toml_keys import place_of
from agentdash.sessions.text.sanitize import clean
from agentdash.tui.keys.footer import key_line, whole
from agentdash.tui.keys.keymap import check_keys
from agentdash.tui.messages import SettingsRead
from agentdash.tui.render.setup.settings import about, drawer, matches
from agentdash.tui.services.background import Requests
from agentdash.tui.services.external_programs import ExternalPrograms
from agentdash.widgets.drawing.short_forms import place
from agentdash.widgets.drawing.text_lines import Line
from agentdash.widgets.lists.row_list import RowList

KEYS = (("Enter", "edit"), ("Esc", "back"), ("type", "filter"), ("Up Down", "move"))


class SettingsScreen(Screen[None]):
    """A list that typing filters; posts the settings to the app after each successful read of the file."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "back", "back", show=False),
        Binding("up", "move(-1)", "previous setting", show=False),
        Binding("down", "move(1)", "next setting", show=False),
        Binding("pageup", "page(-1)", "page up", show=False),
        Binding("pagedown", "page(1)", "page down", show=False),
    ]
    AUTO_FOCUS = "#settings-filter"

    def __init__(self, reader: SessionReader, requests: Requests, outside: ExternalPrograms) -> None:
        super().__init__()
        self._reader = reader
        self._requests = requests
        self._programs = outside
        self._all: list[Held] = []
        self._shown: list[Held] = []
        self._path = config_path()
        self._wrong: ConfigError | None = None
        self._title = Line(id="settings-title")
        self._filter = Input(placeholder="type to filter", compact=True, id="settings-filter")
        self._filter.cursor_blink = False
        self._list = RowList(id="settings")
        self._about = Static("", id="settings-about", markup=False)
        self._error = Static("", id="settings-error", markup=False)
        self._keys = Line(id="keys")

    def compose(self) -> ComposeResult:
        """Yield the filter, the settings, the chosen one's description, and the error in the file."""
        yield self._title
        yield self._filter
        yield self._list
        yield self._about
        yield self._error
        yield self._keys

    def on_mount(self) -> None:
        """Read the settings."""
        self._error.display = False
        self._read()

    def on_resize(self) -> None:
        """Show as many keys as fit."""
        self._keys.show_text(self.keys_in(self.size.width))

    def keys_in(self, width: int) -> Content:
        """Return the keys that fit into ``width`` cells."""
        return key_line(whole(KEYS, width))

    @work(exclusive=True, group="settings")
    async def _read(self) -> None:
        """Read the file; report an unusable one, and keep the former settings on the screen."""
        try:
            loaded, _ = await self._requests.outcome(self._usable, passing=ConfigError)
        except ConfigError as error:
            self._wrong = error
            self._list.note = "the settings file is not valid"
        else:
            self._wrong = None
            if loaded is not None:
                self._path, self._all = loaded.path, list(held(loaded))
                self.post_message(SettingsRead(loaded.config))
        self._error.update(clean(f"{self._wrong} Enter opens it.") if self._wrong else "")
        self._error.display = self._wrong is not None
        profile = loaded.profile if self._wrong is None and loaded is not None else None
        there = "" if self._path.exists() else "   no config file, using defaults"
        self._title.show_text(f"Settings   {place(str(self._path))}{f'   profile {profile}' if profile else ''}{there}")
        self._show(self._chosen)

    def _usable(self) -> Loaded:
        """Return the settings after a check that the dashboard can use their keys."""
        loaded = self._reader.settings.loaded()
        check_keys(loaded)
        return loaded

    @property
    def _chosen(self) -> Held | None:
        return self._shown[self._list.cursor] if self._list.cursor < len(self._shown) else None

    @on(Input.Changed)
    def _filtered(self) -> None:
        self._show(self._chosen)

    def _show(self, chosen: Held | None) -> None:
        """Show the settings that match the filter; keep the cursor on its setting if that is shown."""
        self._shown = [one for one in self._all if matches(one, self._filter.value)]
        paths = [one.setting.path for one in self._shown]
        at = paths.index(chosen.setting.path) if chosen is not None and chosen.setting.path in paths else 0
        if self._all:
            self._list.note = "no setting matches"
        self._list.show(drawer(self._shown), at)

    @on(RowList.Highlighted)
    def _highlighted(self) -> None:
        self._about.update(about(self._chosen) if self._chosen is not None else "")

    def action_move(self, by: int) -> None:
        """Move the cursor by ``by`` settings."""
        self._list.move(by)

    def action_page(self, pages: int) -> None:
        """Move the cursor by pages."""
        self._list.move(pages * max(1, self._list.page_lines - 2))

    def action_back(self) -> None:
        """Clear the filter; if it is empty, go back to the previous screen."""
        if self._filter.value:
            self._filter.value = ""
        else:
            self.dismiss(None)

    @on(Input.Submitted)
    async def _opened(self) -> None:
        """Open the file at the chosen setting's line, or at the line to add it; create a first file if none exists."""
        chosen = self._chosen
        if self._wrong is None and chosen is None:
            return
        if self._wrong is None and chosen is not None and chosen.setting.section == ENVIRONMENT:
            self._requests.show_message(f"{chosen.setting.key} is an environment variable: set it in your shell.")
            return
        if self._programs.refused("editor"):
            return
        line = await self._requests.ask(self._line, chosen)
        if line is not None:
            self._programs.edit(self._path, line)
            self._read()

    def _line(self, chosen: Held | None) -> int:
        """Return the line at which to begin; create a first file if none exists."""
        if not self._path.exists():
            check_user("A change of the settings")
            write_first(self._path)
        if self._wrong is not None:
            return self._wrong.line or 1
        if chosen is None:
            return 1
        if chosen.origin.line is not None:
            return chosen.origin.line
        return place_of(self._path.read_text(encoding="utf-8", errors="replace"), chosen.setting.path)
