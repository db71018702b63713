"""The dashboard's app, which connects the manager and the screens."""

import asyncio
import gc
import os
import traceback
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import Any, ClassVar
from weakref import WeakSet

from rich.text import Text
from textual import events, on, work
from textual.app import ScreenStackError, SystemCommand
from textual.binding import BindingType
from textual.filter import LineFilter
from textual.geometry import Size
from textual.screen import Screen
from textual.scrollbar import ScrollBar, ScrollBarRender

from agentdash.sessions.model.clock import monotonic, now_ms
from agentdash.sessions.model.session import Session
from agentdash.sessions.rules.notifications.settings import NotifySettings
from agentdash.sessions.service import watch
from agentdash.sessions.service.manager import SessionManager
from agentdash.sessions.service.selected import Follower, Selected
from agentdash.sessions.service.tmux import Claims
from agentdash.sessions.settings.config import Config, DashboardSettings
from agentdash.sessions.storage.paths import Layout
from agentdash.sessions.storage.prompts.drafts import DraftFiles
from agentdash.tui import _textual_hacks
from agentdash.tui.keys.actions import APP_ACTIONS, REGISTRY, bindings
from agentdash.tui.keys.footer import Labels
from agentdash.tui.keys.key_queue import BURST, LAYOUT, KeysInOrder, decides_nothing, of_other_layout
from agentdash.tui.keys.keymap import DEFAULT, Keymap, UnusableKeyError
from agentdash.tui.keys.keymap import keymap as keymap_of
from agentdash.tui.keys.menu import entries, is_unknown, nothing, panel
from agentdash.tui.later import load_later
from agentdash.tui.messages import SelectionChanged, SessionsChanged, SettingsRead
from agentdash.tui.screens.first_picture import FirstPicture
from agentdash.tui.screens.main import MainScreen
from agentdash.tui.screens.session_screen import SessionScreen
from agentdash.tui.services.actions.session_actions import SessionActions
from agentdash.tui.services.background import Requests, worded
from agentdash.tui.services.change_feed import ChangeFeed, SettingsWatch
from agentdash.tui.services.desk import Desk, WriteAccess
from agentdash.tui.services.drafts import Drafts
from agentdash.tui.services.notifier import Notifier
from agentdash.tui.state.message_log import record, record_stacks
from agentdash.tui.state.ui_state import UiState
from agentdash.tui.terminal import state
from agentdash.tui.terminal.driver import TWICE_SECONDS
from agentdash.tui.themes import PLAIN, THEMES, after
from agentdash.widgets.drawing.plain_ascii import InAscii, PlainScrollBar, WithoutColours
from agentdash.widgets.drawing.roles import VARIABLES, WITHOUT_COLOURS

WARM_SWEEPS = 4
"""Sweeps between two checks for dead runners if all agents only wait for prompts: eight seconds."""

SETTLE_SWEEPS = 30
"""Sweeps between two checks for dead runners when no session should have one: once a minute.

The check finds, for example, the leftovers of an archived session.
"""


class Dashboard(KeysInOrder[None], inherit_bindings=False):
    """Watches the state folder and passes changes to the screens."""

    CSS_PATH = "agentdash.tcss"
    # Textual's own Ctrl+Q would quit in the middle of a prompt, and terminals use it for flow control.
    BINDINGS: ClassVar[list[BindingType]] = bindings(APP_ACTIONS)
    TITLE = "agentdash"
    HORIZONTAL_BREAKPOINTS = [(0, "-tiny"), (30, "-narrow"), (70, "-medium"), (140, "-wide")]  # noqa: RUF012
    VERTICAL_BREAKPOINTS = [(0, "-flat"), (8, "-low"), (32, "-tall")]  # noqa: RUF012
    pictured = False
    """True if the next start begins with a picture of this first screen."""
    _loaded = False  # True once all sessions are in the table

    def __init__(
        self,
        manager: SessionManager,
        *,
        settings: DashboardSettings | None = None,
        notify: NotifySettings | None = None,
        plain_ascii: bool = False,
        tour: Labels = (),
        watched: Sequence[Session] = (),
        keymap: Keymap = DEFAULT,
        alone: bool = False,
        first: tuple[Sequence[Session], int] | None = None,
        following: Follower | None = None,
        selected: Selected | None = None,
    ) -> None:
        settings = settings or DashboardSettings()
        super().__init__()
        for theme in (*THEMES.values(), PLAIN):
            self.register_theme(theme)
        self.theme = PLAIN.name if self.no_color else THEMES[settings.theme].name
        self._styled = self.theme
        """The theme whose variables the style sheets have."""
        self.stylesheet.set_variables(self.get_css_variables())
        self.animation_level = "none"
        self._file_settings = settings
        """The settings as they were last read; changes by key since then stay."""
        self.mouse = settings.mouse
        """True if the dashboard receives clicks and the wheel."""
        self._in_ascii = plain_ascii
        self.set_class(plain_ascii, "-ascii")
        ScrollBar.renderer = PlainScrollBar if plain_ascii else ScrollBarRender
        self._interrupted_at = -TWICE_SECONDS
        self._layout_named: WeakSet[Screen[Any]] = WeakSet()
        """The screens and dialogs on which the user was told that letters of another layout do nothing."""
        self._loop: asyncio.AbstractEventLoop | None = None
        self._leaves = False
        """True if the dashboard is to end, perhaps before it has begun."""
        self._settings_trouble = ""
        """The last error in the settings file."""
        self._recent_commands: list[str] = []
        """Titles of the palette's commands that the user ran, newest first."""
        self._reader = reader = manager.reader
        access = WriteAccess(None if settings.read_only else manager)
        self._access = access
        _textual_hacks.on_crash(self, self._crashed)
        _textual_hacks.without_toasts(self)
        self._settings_watch = SettingsWatch(reader.settings.path)
        self._sweeps = 0
        self.requests = Requests(self, reader.home, worded=lambda error: worded(error, self.keymap))
        self.notifier = self._notifier(
            notify or NotifySettings(),
            {session.id for session in watched} if watched or following is not None else None,
            read_only=settings.read_only,
            plain_ascii=plain_ascii,
        )
        self.feed = ChangeFeed(
            reader, self._announce, lambda wait: self.set_timer(wait, self.feed.announce), self.notifier.hear
        )
        self.feed.prime(first[0] if first else None)
        self.keymap = keymap
        self.set_keymap(keymap.for_textual())
        self.drafts = Drafts(DraftFiles(Layout(reader.home), reader.was_requested), self.set_timer)
        self._desk = Desk(self, reader, access, self.requests, self.drafts, keymap)
        self._operations = SessionActions(self._desk, stay_in_prompt=settings.stay_in_prompt)
        self.home: SessionScreen
        """The screen below all others."""
        self._followed = [following.folder] if following is not None else []
        """The folder of what is selected in tables, if this dashboard follows one."""
        if watched or following is not None:
            self.home = self._watch_screen(watched, following)
        else:
            missing = first[1] - len(first[0]) if first else 0
            self.home = self._main_screen(tour=tour, alone=alone, missing=missing, selected=selected)

    def _watch_screen(self, watched: Sequence[Session], following: Follower | None) -> SessionScreen:
        from agentdash.tui.screens.watch import FollowScreen, WatchScreen

        if following is not None:
            return FollowScreen(self._reader, self.requests, self._operations, following, clock=now_ms)
        return WatchScreen(self._reader, self.requests, self._operations, watched, clock=now_ms)

    def _notifier(
        self, notify: NotifySettings, only: set[str] | None, *, read_only: bool, plain_ascii: bool
    ) -> Notifier:
        return Notifier(
            self,
            notify,
            os.environ,
            clock=now_ms,
            claims=Claims(Layout(self._reader.home).told, {} if read_only else os.environ),
            only=only,
            plain_ascii=plain_ascii,
        )

    def _main_screen(self, *, tour: Labels, alone: bool, missing: int, selected: Selected | None) -> MainScreen:
        ui_state = self._operations.starting.memory.state = UiState(self._reader.home)
        kind: type[MainScreen] = MainScreen
        if tour:  # only a demo has one
            from agentdash.tui.screens.tour import TourScreen

            kind = TourScreen
        return kind(
            self._reader,
            self.feed,
            self.requests,
            self._operations,
            ui_state,
            clock=now_ms,
            tour=tour,
            alone=alone,
            missing=missing,
            selected=selected,
        )

    def on_mount(self) -> None:
        """Start to watch the state folder."""
        # After a suspension the terminal is empty, so nothing drawn before is there.
        self.screen_change_signal.subscribe(self, self.requests.message.follow)
        self.app_resume_signal.subscribe(self, lambda _: self._paint_anew())
        self.app_resume_signal.subscribe(self, lambda _: self.notifier.begin())
        self.app_suspend_signal.subscribe(self, lambda _: self.notifier.end(), immediate=True)
        self.notifier.begin()
        self._report_mouse()
        self._loop = asyncio.get_running_loop()
        if self._leaves:
            self.exit()
        self.call_after_refresh(self._after_first_paint)

    def _after_first_paint(self) -> None:
        """Read the sessions beyond the first page, and draw the first picture when it is complete."""
        self._catch_up()
        home, loaded = self._reader.home, lambda: self._loaded
        FirstPicture(self, self.home, home, loaded=loaded, then=self._go_on, keeps=self.pictured).complete()

    def _go_on(self) -> None:
        """Begin what the first picture does not need: watching the disk, for example."""
        if not gc.isenabled():
            gc.freeze()  # what the start made stays: later collections need not inspect it
            gc.enable()
        self._watch_disk()
        self._catch_up()  # what changed before the watch
        load_later()

    def refresh_css(self, animate: bool = True) -> None:
        """Apply the theme's variables, unless they are in force already.

        Textual (8.2) also asks for this at the start, and would parse all style sheets twice before the first picture.
        """
        if self._styled != self.theme:
            self._styled = self.theme
            super().refresh_css(animate)

    def get_default_screen(self) -> Screen[Any]:
        """Return our own screen, so that there is no empty one below it.

        It already has the classes of its size: Textual (8.2) sets them after the first picture, which would change.
        """
        self.home.update_classes(_textual_hacks.size_classes(self, self.size), update=False)
        return self.home

    def terminal_resized(self, size: Size) -> None:
        """Give all screens the classes of a size before they handle it: their handlers choose the layout by them."""
        for screen in self.screen_stack:
            screen.update_classes(_textual_hacks.size_classes(self, size), animate=False)

    def get_line_filters(self) -> Sequence[LineFilter]:
        """Return what changes the picture; Textual (8.2) draws greys if there are to be no colours."""
        filters = [_WITHOUT_COLOURS] if self.no_color else super().get_line_filters()
        return [*filters, _IN_ASCII] if self._in_ascii else filters

    def get_theme_variable_defaults(self) -> dict[str, str]:
        """Return the variables that our style sheets need in addition to Textual's."""
        return VARIABLES | WITHOUT_COLOURS if self.no_color else VARIABLES

    def get_system_commands(self, screen: Screen[Any]) -> Iterable[SystemCommand]:
        """Yield the palette's commands: the actions of the keys and of the command line."""
        from agentdash.tui.screens.palette import offered

        if isinstance(screen, SessionScreen):
            yield from offered(screen, self.keymap)

    def action_command_palette(self) -> None:
        """Open the palette over a screen of sessions."""
        from agentdash.tui.screens.palette import Palette, offered

        if isinstance(self.screen, SessionScreen):
            self.push_screen(Palette(offered(self.screen, self.keymap), self._recent_commands), self._run_command)

    def _run_command(self, command: SystemCommand | None) -> None:
        if command is not None:
            earlier = (title for title in self._recent_commands if title != command.title)
            self._recent_commands = [command.title, *earlier]
            self.call_later(command.callback)

    def consumes(self, event: events.Event) -> bool:
        """Remove the message that covers the footer; an Esc that removes an error or a refusal does nothing else.

        The key that paints everything, and a second Ctrl+C, act wherever the keys are.  A key of a burst that would
        decide something is refused.
        """
        key = event.key if isinstance(event, events.Key) else ""
        taken = self.requests.message.key_pressed(key)
        if is_unknown(self.screen, event):
            if not key.endswith(" escape"):
                self.requests.show_refusal(nothing(key, self.keymap))
            return True
        if key in self.keymap.acting(REGISTRY["redraw"]):
            self.action_redraw()
            return True
        if key == "ctrl+c":
            again = monotonic() - self._interrupted_at < TWICE_SECONDS
            self._interrupted_at = monotonic()
            if again:
                self.exit()
            elif self.screen.is_modal:  # its keys do not reach the app
                self.action_help_quit()
            return again
        if taken:
            return True
        if self.screen not in self._layout_named and of_other_layout(self.screen, event):
            self._layout_named.add(self.screen)
            self.requests.show_refusal(LAYOUT)
        refused = decides_nothing(self.screen, event)
        if refused:
            self.requests.show_refusal(BURST)
        return refused

    def show_panel(self, letter: str) -> None:
        """Show the keys of a menu over the footer, until the next key."""
        target = self.screen.target.can if isinstance(self.screen, SessionScreen) else lambda _: True
        pairs = entries(self.screen, letter, target)
        self.requests.message.show_panel(lambda width: panel(letter, pairs, self.keymap, width))

    def action_help_quit(self) -> None:
        """Show that the next Ctrl+C quits."""
        self.requests.show_message(f"Press Ctrl+C again to quit ({self.home.quitting})")

    def action_mouse(self) -> None:
        """Turn the mouse on or off."""
        self.mouse = not self.mouse
        self._report_mouse()
        self.requests.show_message("Mouse on: hold Shift to select text." if self.mouse else "Mouse off.")

    def action_theme(self, name: str = "") -> None:
        """Use the theme with this name in the settings, or else the next theme; without colours there is only one."""
        if self.no_color:
            self.requests.show_refusal("The terminal or NO_COLOR excludes colours, and so themes.")
            return
        self.theme = THEMES[name].name if name in THEMES else after(self.theme)
        self.requests.show_message(f"Theme: {self.theme.removeprefix('agentdash-')}")

    @on(SettingsRead)
    def _settings_read(self, event: SettingsRead) -> None:
        """Apply the settings that changed in the file."""
        self.notifier.use(event.config.notify)
        self._use_keys(event.config)
        before, self._file_settings = self._file_settings, event.config.dashboard
        self._operations.stay_in_prompt = self._file_settings.stay_in_prompt
        if self._file_settings.theme != before.theme and not self.no_color:
            self.theme = THEMES[self._file_settings.theme].name
        if self._file_settings.mouse != before.mouse:
            self.mouse = self._file_settings.mouse
            self._report_mouse()

    def _use_keys(self, config: Config) -> None:
        """Apply changed keys; if one cannot be used, show the error and keep all keys as they are."""
        try:
            keymap = keymap_of(config.keys)
        except UnusableKeyError as error:
            self._settings_trouble = f"{'.'.join(('keys', *error.path))}: {error}"
            self.requests.show_error(self._settings_trouble)
            return
        if keymap != self.keymap:
            self.keymap = self._desk.keymap = keymap
            self.set_keymap(keymap.for_textual())
            for screen in self._session_screens():
                screen.keys_changed()

    def _paint_anew(self) -> None:
        with suppress(ScreenStackError):  # the app may have ended by now
            self.screen.refresh(layout=True)

    def _report_mouse(self) -> None:
        self.write_to_terminal(state.MOUSE_ON if self.mouse else state.MOUSE_OFF)

    def write_to_terminal(self, sequence: str) -> None:
        """Write an escape sequence that is not part of the picture."""
        _textual_hacks.write(self, sequence)

    @property
    def reading(self) -> frozenset[str]:
        """Ids of the sessions whose steps the user reads; empty if the terminal reports that it lost the focus."""
        shown = next(iter(reversed(self._session_screens())), None)
        return shown.reading if shown is not None and self.app_focus else frozenset()

    @work
    async def _watch_disk(self) -> None:
        async for change in watch.changes(self._reader.home, self._reader.live_dir, *self._followed):
            if change.database:
                await self.requests.expect(self.feed.pull())
            if self._followed and (change.selected or change.sweep):
                self.home.post_message(SelectionChanged())
            if change.turn_files or change.sweep:
                for screen in self._session_screens():
                    screen.turn_files_grew(change.turn_files, sweep=change.sweep)
            if change.sweep:
                self._sweep()

    def _sweep(self) -> None:
        """Check, every two seconds, for changes that cause no event."""
        self._sweeps += 1
        pace = SETTLE_SWEEPS if not self.feed.unsettled else WARM_SWEEPS if self.feed.only_warm else 1
        if not self._access.read_only and self._sweeps % pace == 0:
            self._settle()
        if self._settings_watch.changed():
            self._read_settings()

    @work(exclusive=True, group="settings")
    async def _read_settings(self) -> None:
        """Read the settings file again after a change."""
        loaded, reason = await self.requests.outcome(self._reader.settings.loaded)
        if loaded is not None:
            self.requests.message.clear_if(self._settings_trouble)
            self.post_message(SettingsRead(loaded.config))
        else:
            self._settings_trouble = reason or ""
            self.requests.show_error(self._settings_trouble)

    @work
    async def _catch_up(self) -> None:
        await self.requests.expect(self.feed.pull())
        self._loaded = True
        if isinstance(self.home, MainScreen):
            self.home.pane.all_loaded()

    @work(exclusive=True, group="settle")
    async def _settle(self) -> None:
        manager = self._access.manager("settle")
        await self.requests.ask(manager.housekeeping.settle)
        for words in manager.take_late():
            self.requests.show_message(words)

    def _announce(self) -> None:
        if not isinstance(self.home, MainScreen):
            self.feed.take()  # the watch screen reads its few sessions itself
        for screen in self.screen_stack:
            screen.post_message(SessionsChanged())

    def _session_screens(self) -> list[SessionScreen]:
        return [screen for screen in self.screen_stack if isinstance(screen, SessionScreen)]

    def leave(self) -> None:
        """End the dashboard soon; the sessions keep running.  Any thread may call this."""
        self._leaves = True
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self.exit)

    def abandon(self) -> None:
        """Save the drafts and give the terminal back, although the app does not react."""
        self.drafts.save()
        where = record_stacks(self._reader.home, "did not end in time")
        if (driver := _textual_hacks.driver_of(self)) is not None:
            driver.abandon(f"agentdash: the dashboard did not react; sessions keep running. Details: {where}")

    def _crashed(self) -> Text:
        """Record an uncaught error, and return a message with the log's path."""
        where = record(self._reader.home, traceback.format_exc())
        return Text(f"agentdash: the dashboard crashed; sessions keep running. Details: {where}")


_WITHOUT_COLOURS, _IN_ASCII = WithoutColours(), InAscii()
