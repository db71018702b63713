"""The base of the screens that show sessions: prompt, stop and retry the current one, and the texts about it."""

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from inspect import isawaitable
from pathlib import Path

from textual import on, work
from textual.containers import Horizontal
from textual.content import Content
from textual.events import Key
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Input, TextArea

from ...sessions.model import Session
from ...sessions.reader import SessionReader
from ...widgets.document.document_pane import DocumentPane
from ...widgets.drawing.glyphs import UNICODE, Signs
from ...widgets.drawing.line import Line
from ...widgets.inputs.history_input import RecallInput
from ...widgets.inputs.prompt_box import PromptInput
from .. import texts
from ..dialogs.command import CommandScreen
from ..dialogs.help import HelpScreen
from ..dialogs.log import LogScreen
from ..dialogs.processes import ProcessesScreen
from ..dialogs.save import SaveScreen
from ..keys.actions import REGISTRY, Place, here
from ..keys.command_line import Command, CommandLine
from ..keys.footer import ASKING, FILTERING, ONE_STEP, WRITING, footer, said, whole
from ..keys.keymap import Keymap
from ..messages import ChangesAsked, SaveAsked
from ..panes.cost_meter import Meter
from ..panes.session_pane import Detail
from ..panes.steps.steps_pane import Viewer
from ..services.background import Requests
from ..services.external_programs import Outside
from ..services.session_actions import Operations
from ..state.message_log import crash_lines
from .action_target import ActionTarget
from .changes import ChangesScreen
from .session_commands import session_commands


class SessionScreen(Screen[None]):
    """A screen with the steps of at least one session, one of which is current."""

    has_table = False
    """True if the user can choose other sessions on this screen."""

    def __init__(
        self,
        reader: SessionReader,
        requests: Requests,
        operations: Operations,
        *,
        clock: Callable[[], int],
        signs: Signs = UNICODE,
        tour: texts.Tour = (),
    ) -> None:
        super().__init__()
        self._reader = reader
        self.requests = requests
        self.operations = operations
        self._outside = Outside(operations.app, requests)
        self._clock = clock
        self._signs = signs
        self._tour = tour
        self.read_only = operations.read_only
        self._sending = asyncio.Lock()
        self._came_from: Widget | None = None
        self.keys = Line(signs=signs, id="keys")
        self.meter = Meter(signs=signs)
        self.details: list[Detail] = []
        """The panes that show sessions; at least one once the screen is constructed."""
        self.areas: list[Widget] = []
        """The widgets whose layout changes while the user reads."""

    @property
    def keymap(self) -> Keymap:
        """The keys in force."""
        return self.operations.keymap

    def follow_key(self) -> str:
        """Return the last of the keys that follow the newest step: ``F`` by default."""
        return self.keymap.names(REGISTRY["follow"]).split(" ")[-1]

    def keys_changed(self) -> None:
        """Show the new keys of the keymap."""
        self.show_words()

    @property
    def current(self) -> Session | None:
        """The session that keys act on; None if there is none."""
        return None

    @property
    def detail(self) -> Detail:
        """The focused pane, else the first one."""
        return next((pane for pane in self.details if pane.has_focus_within), self.details[0])

    @property
    def about(self) -> ActionTarget:
        """The sessions that keys act on now."""
        return ActionTarget(self.current, self.chosen, marked=self.marking, read_only=self.read_only)

    @property
    def chosen(self) -> list[Session]:
        """The sessions that keys for several act on."""
        return [self.current] if self.current is not None else []

    @property
    def marking(self) -> bool:
        """True if the chosen sessions are marked."""
        return False

    @property
    def reading(self) -> frozenset[str]:
        """Ids of the sessions whose steps the user reads, or for which the user writes a prompt."""
        session = self.current
        return frozenset({session.id}) if session is not None and self.detail.has_focus_within else frozenset()

    def foot(self) -> Horizontal:
        """Return the last line: the valid keys and, on demand, the dashboard's own cost."""
        return Horizontal(self.keys, self.meter, id="foot")

    def uncover(self) -> None:
        """Bring the pane to the front if only one fits."""

    def go_to_steps(self) -> None:
        """Give the keys to the steps of the current session."""
        self.give_keys(self.detail.steps, self.uncover)

    def give_keys(self, widget: Widget, make_room: Callable[[], None]) -> None:
        """Focus a widget at once, not at the screen's next refresh: the next key is meant for it.

        A hidden widget cannot take the focus until ``make_room`` has shown it.
        """
        self.set_focus(widget)
        make_room()
        if self.focused is not widget:
            self.set_focus(widget)

    def restyle(self, classes: Mapping[str, bool]) -> None:
        """Change classes with the focus, and restyle only the widgets whose style depends on one of the two.

        Textual (8.2) would restyle every widget of the screen, and miss the names that brighten with the focus.
        """
        former = self.classes
        self.update_classes(classes, update=False)
        names = [name for detail in self.details for name in (detail.headline, detail.prompt.target)]
        self.app.stylesheet.update_nodes(names if self.classes == former else [*self.areas, *names])

    def home_focus(self) -> Widget:
        """Return the widget that has the keys by default."""
        return self.detail.steps

    def on_mount(self) -> None:
        """Keep the focus out of the prompts if the screen is read-only."""
        for detail in self.details:
            detail.prompt.input.can_focus = not self.read_only

    def show_words(self) -> None:
        """Show the texts about the current session, and the keys that are valid now."""
        pairs = [Content.assemble((key, "bold $foreground"), f" {label}") for key, label in self._valid_keys()]
        if self.read_only and not self.has_table:
            pairs.insert(0, Content.styled("read-only", "$text-warning"))
        self.keys.say(Content("   ").join(pairs))

    def _valid_keys(self) -> Sequence[tuple[str, str]]:
        width = self.keys.size.width or self.size.width
        if isinstance(self.focused, PromptInput):
            return whole(said(self.keymap, WRITING), width)
        if isinstance(self.focused, DocumentPane):
            return whole(said(self.keymap, ONE_STEP), width)
        if isinstance(self.focused, RecallInput):
            return whole(FILTERING if self._place is Place.TABLE else ASKING, width)
        return footer(
            self.keymap,
            self.about.can,
            width,
            reading=self.detail.viewer.has_focus_within,
            table=self.has_table,
        )

    @property
    def _place(self) -> Place:
        """The place that has the keys."""
        if isinstance(self.focused, PromptInput):
            return Place.PROMPT
        if isinstance(self.focused, DocumentPane):
            return Place.STEP
        return Place.STEPS if self.detail.viewer.has_focus_within or not self.has_table else Place.TABLE

    def target(self, session: Session | None) -> str:
        """Return what sending a prompt will do."""
        if self.read_only:
            return "read-only: nothing is sent from here"
        asked = self.operations
        return texts.target(session, asked.default_agent, str(Path.cwd()), missing=asked.missing)

    def mark_seen(self, session: Session) -> None:
        """The user opened the session: clear its attention mark and mark its steps read."""
        if not session.all_seen and session.deleted_at is None:
            self.run_worker(self.operations.seen(session))

    def turn_files_grew(self, turn_files: frozenset[str], *, sweep: bool) -> None:
        """Read the new steps of a shown session if one of its files grew."""
        for detail in self.details:
            detail.viewer.turn_files_grew(turn_files, sweep=sweep)

    def on_screen_resume(self) -> None:
        """Show the drafts that the user wrote on another screen."""
        for detail in self.details:
            detail.prompt.show_draft()

    def on_descendant_focus(self) -> None:
        """Make room for the pane that the user reads, and show the keys that are valid there."""
        self.restyle({"-reading": any(detail.has_focus_within for detail in self.details)})
        self.show_words()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:  # noqa: ARG002
        """Return True if the action applies now; the key of another action only shows the reason."""
        return self.about.can(action)

    def on_key(self, event: Key) -> None:
        """Show why a key does nothing."""
        if isinstance(self.focused, Input | TextArea):
            return
        taken, restore_key = self.keymap.taken(self._place), self.keymap.name("undo")
        for action in here(table=self.has_table):
            if event.key in self.keymap.keys(action, taken):
                why_not = self.about.why_not(action.id, restore_key=restore_key)
                if why_not:
                    self.requests.tell(why_not)

    @on(Detail.Resized)
    @on(Viewer.Changed)
    def _other_words(self) -> None:
        self.show_words()

    @on(SaveAsked)
    def _save_asked(self, event: SaveAsked) -> None:
        session = self.current
        if session is not None and session.id == event.session_id:
            save = partial(self.operations.save, session.id)
            self.app.push_screen(SaveScreen(texts.title(session), texts.file_name(session), save))

    @on(ChangesAsked)
    def _changes_asked(self, event: ChangesAsked) -> None:
        viewer, session = self.detail.viewer, self.current
        if session is None or session.id != event.session_id:
            return
        screen = ChangesScreen(self._reader, self.requests, self._outside, session, self._signs, self.keymap)
        self.app.push_screen(screen, lambda step: viewer.show_step(*step) if step is not None else None)

    @on(PromptInput.Left)
    def _prompt_left(self) -> None:
        back = self._came_from if self._came_from is not None and self._came_from.can_focus else self.home_focus()
        self.give_keys(back, partial(self.left_for, back))

    def left_for(self, widget: Widget) -> None:
        """Undo :meth:`uncover` when the keys go to another widget."""

    @on(PromptInput.Sent)
    def _prompt_sent(self, event: PromptInput.Sent) -> None:
        if event.text.strip():
            self._send(event.text, self.current, self.detail)

    @work(group="send")
    async def _send(self, text: str, session: Session | None, detail: Detail) -> None:
        chosen = self.chosen
        async with self._sending:  # one at a time: the second text may be for the session that the first one starts
            if len(chosen) > 1:
                sent = await self.operations.bulk.send(chosen, text)
            else:
                sent = await self.operations.send(chosen[0] if chosen else session, text, str(Path.cwd()))
        if sent:
            detail.prompt.accepted(text)
            detail.steps.following = True
        else:
            detail.prompt.give_back(session.id if session is not None else None, text)

    def send_prompt(self, text: str) -> None:
        """Send a text to the current session."""
        self._send(text, self.current, self.detail)

    def commands(self) -> Iterable[Command]:
        """Return the commands that are valid now; of two with the same name the later one counts."""
        return session_commands(self)

    @work
    async def action_command_line(self) -> None:
        """Ask for a command, and run it."""
        line = CommandLine(self.commands())
        text = await self.app.push_screen_wait(CommandScreen(line, self.operations.said, signs=self._signs))
        if text is not None:
            command, argument = line.find(text)
            done = command.run(argument)
            if isawaitable(done):
                await done

    def action_log(self) -> None:
        """Show the message log."""
        entries, home = self.requests.log.newest_first(), self._reader.home
        read = partial(self.requests.ask, crash_lines, home)
        self.app.push_screen(LogScreen(entries, self._outside.copy, read))

    def action_help(self) -> None:
        """Show all keys."""
        self.app.push_screen(HelpScreen(self.keymap, self._place, self._tour, read_only=self.read_only))

    def action_write_prompt(self) -> None:
        """Give the keys to the prompt."""
        self._came_from = self.focused
        self.give_keys(self.detail.prompt.input, self.uncover)
        self._learn_history()

    @work(exclusive=True, group="history")
    async def _learn_history(self) -> None:
        self.detail.prompt.input.recall.learn(await self.operations.earlier_prompts())

    def action_follow(self) -> None:
        """Follow the newest step, or stop following."""
        self.detail.steps.following = not self.detail.steps.following

    def action_meter(self) -> None:
        """Show or hide the dashboard's own cost."""
        self.meter.toggle()
        self.call_after_refresh(self.show_words)

    def action_settings(self) -> None:
        """Show all settings, and the file that they come from."""
        from .settings import SettingsScreen  # walks all types of settings, which only this screen needs

        self.app.push_screen(SettingsScreen(self._reader, self.requests, self._outside, self._signs))

    async def action_mouse(self) -> None:
        """Switch the mouse on or off."""
        await self.app.run_action("app.mouse")

    async def action_theme(self, name: str = "") -> None:
        """Change to the theme of this name, or to the next one."""
        await self.app.run_action(f"app.theme({name!r})")

    @work
    async def action_stop(self) -> None:
        """Ask, then stop the chosen sessions."""
        await self.operations.stop_chosen(self.chosen)

    @work
    async def action_kill(self) -> None:
        """Stop the chosen sessions at once."""
        await self.operations.kill_chosen(self.chosen, self.current)

    @work
    async def action_processes(self) -> None:
        """Show the processes of the current session, and their load."""
        if (session := self.current) is not None:
            self.app.push_screen(ProcessesScreen(texts.title(session), self.operations.processes_of(session)))

    @work
    async def action_retry(self) -> None:
        """Send the last prompt of the chosen sessions again."""
        detail = self.detail
        if await self.operations.retry_chosen(self.chosen, self.current):
            detail.steps.following = True
