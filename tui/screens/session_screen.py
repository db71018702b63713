"""The base of the screens that show sessions: prompt, stop and retry the current one, and the texts about it.

A dialog is imported when it is opened: the first screen is drawn before the dialogs are loaded.
"""

from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from inspect import isawaitable
from pathlib import Path

from textual import on, work
from textual.content import Content
from textual.events import Key, ScreenResume
from textual.reactive import var
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Input, Static, TextArea

from agentdash.sessions.model.session import Session
from agentdash.sessions.service.reader import SessionReader
from agentdash.tui._textual_hacks import send_every_resize
from agentdash.tui.keys.action import Place
from agentdash.tui.keys.actions import here
from agentdash.tui.keys.availability import ActionTarget
from agentdash.tui.keys.command_line import Command, CommandLine
from agentdash.tui.keys.footer import Labels
from agentdash.tui.keys.keymap import Keymap
from agentdash.tui.messages import ChangesAsked, ConversationAsked, OtherSessionAsked, SaveAsked
from agentdash.tui.panes.foot import Foot
from agentdash.tui.panes.prompt_sender import PromptSender, PromptWays
from agentdash.tui.panes.session_pane import SessionPane
from agentdash.tui.panes.steps.steps_pane import StepsPane
from agentdash.tui.screens.answers import Answers
from agentdash.tui.screens.session_commands import session_commands
from agentdash.tui.services.actions.prompt_tools import PromptHelp
from agentdash.tui.services.actions.session_actions import TARGET_ACTIONS, SessionActions
from agentdash.tui.services.background import Requests
from agentdash.tui.services.external_programs import ExternalPrograms
from agentdash.tui.state.message_log import crash_lines
from agentdash.tui.texts import conversation_texts
from agentdash.tui.texts import screen_texts as texts
from agentdash.widgets.document.document_pane import DocumentPane
from agentdash.widgets.inputs.history import HistoryInput
from agentdash.widgets.inputs.prompt_box import PromptInput


class SessionScreen(Screen[None]):
    """A screen with the steps of at least one session, one of which is current."""

    focused: var[Widget | None] = var(None)
    """The widget with the focus; its change draws two widgets, not the whole screen as in Textual (8.2)."""

    has_table = False
    """True if the user can choose other sessions on this screen."""

    quitting = "sessions keep running"
    """The effect of leaving the dashboard on its sessions, in words."""

    def __init__(
        self,
        reader: SessionReader,
        requests: Requests,
        operations: SessionActions,
        *,
        clock: Callable[[], int],
        tour: Labels = (),
    ) -> None:
        super().__init__()
        send_every_resize(self)
        self._reader = reader
        self.requests = requests
        self.operations = operations
        self._programs = ExternalPrograms(operations.desk.app, requests, read_only=operations.read_only)
        self._clock = clock
        self._tour = tour
        self.read_only = operations.read_only
        self.sender = PromptSender(operations, self.show_words)
        self.answers = Answers(self, clock=clock)
        self._came_from: Widget | None = None
        self._resumed = False
        self.foot = Foot(table=self.has_table, note="" if self.has_table or not self.read_only else "read-only")
        self.details: list[SessionPane] = []
        """The panes that show sessions; at least one once the screen is constructed."""
        self.areas: list[Widget] = []
        """The widgets whose layout changes while the user reads."""
        self.too_small = Static("", id="too-small", markup=False)

    @property
    def keymap(self) -> Keymap:
        """The keys in force."""
        return self.operations.desk.keymap

    def keys_changed(self) -> None:
        """Show the new keys of the keymap."""
        self.show_words()

    @property
    @abstractmethod
    def current(self) -> Session | None:
        """The session that keys act on; None if there is none."""

    @property
    def detail(self) -> SessionPane:
        """The focused pane, else the first one."""
        return next((pane for pane in self.details if pane.has_focus_within), self.details[0])

    @property
    def settled(self) -> bool:
        """True if nothing is being read for what it shows."""
        return True

    @property
    def target(self) -> ActionTarget:
        """The sessions that keys act on now."""
        session = self.current
        chosen = [session] if session is not None else []
        return ActionTarget(
            session, chosen, read_only=self.read_only, asking=self.answers.asking, on_worker=self.on_worker
        )

    def on_worker(self) -> bool:
        """Return whether Enter opens a worker of the session that the user reads."""
        return bool(self.detail.viewer.started)

    @abstractmethod
    def reachable(self) -> Iterable[Session]:
        """Return the sessions of this screen of which some may ask, the most urgent first."""

    @property
    def reading(self) -> frozenset[str]:
        """Ids of the sessions whose steps the user reads, or for which the user writes a prompt."""
        session = self.current
        return frozenset({session.id}) if session is not None and self.detail.has_focus_within else frozenset()

    @abstractmethod
    def pane_for(self, session: Session) -> SessionPane | None:
        """Return the pane that shows a session, which is current from now on; None, with the reason shown, if none."""

    @abstractmethod
    def make_room(self, widget: Widget) -> None:
        """Show a widget that is about to get the keys, if the screen does not show all of them at once."""

    def go_to_steps(self) -> None:
        """Give the keys to the steps of the current session."""
        self.give_keys(self.detail.steps)

    def give_keys(self, widget: Widget) -> None:
        """Focus a widget at once, not at the screen's next refresh: the next key is meant for it.

        A hidden widget cannot take the focus until there is room for it.
        """
        self.set_focus(widget)
        self.make_room(widget)
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
        """Give the prompts their tools, and keep the focus out of them if the screen is read-only."""
        for detail in self.details:
            detail.prompt.input.can_focus = not self.read_only
            detail.prompt.input.tools = PromptHelp(self.operations.writing, self._prompt_folder, self.sender.new_start)

    def on_resize(self) -> None:
        """Redraw the lines that depend on the width."""
        width, height = self.app.size
        self.too_small.update(f"Terminal too small: {width}x{height} (minimum 30x8).")
        self.call_after_refresh(self.show_words)

    def show_texts(self, pane: SessionPane, session: Session | None, target: ActionTarget) -> None:
        """Show in a pane what sending a prompt to these sessions will do."""
        effect = self.sender.effect(target, self.keymap.name("answer"))
        hint = self.sender.hint(target, self.keymap.name("prompt.interrupt"))
        pane.show_texts(session, effect, hint, self.keymap, self.sender.mode(target))

    def show_words(self) -> None:
        """Show the texts about the current session, and the keys that are valid now."""
        field, on_card, searching = (
            isinstance(self.focused, HistoryInput),
            self.answers.have_keys,
            self.detail.searching,
        )
        self.foot.show(self.keymap, self._place, self.target, in_field=field, on_card=on_card, searching=searching)
        self.requests.message.follow(self)

    def keys_in(self, width: int) -> Content:
        """Return the valid keys that fit beside a message."""
        return self.foot.keys_in(width)

    @property
    def _place(self) -> Place:
        """The place that has the keys."""
        if isinstance(self.focused, PromptInput):
            return Place.PROMPT
        if isinstance(self.focused, DocumentPane):
            return Place.STEP
        return Place.STEPS if self.detail.viewer.has_focus_within or not self.has_table else Place.TABLE

    def mark_seen(self, session: Session) -> None:
        """The user opened the session: clear its attention mark and mark its steps read."""
        if not session.all_opened and session.deleted_at is None:
            self.run_worker(self.operations.seen(session))

    def turn_files_grew(self, turn_files: frozenset[str], *, sweep: bool) -> None:
        """Read the new steps of a shown session if one of its files grew."""
        for detail in self.details:
            detail.viewer.turn_files_grew(turn_files, sweep=sweep)

    def on_screen_resume(self, event: ScreenResume) -> None:
        """Show the drafts that the user wrote on another screen."""
        # Before the first picture every widget has just been styled: Textual (8.2) would style all of them again.
        event.refresh_styles, self._resumed = self._resumed, True
        for detail in self.details:
            detail.prompt.show_draft()

    def on_descendant_focus(self) -> None:
        """Make room for the pane that the user reads, and show the keys that are valid there."""
        self.restyle({"-reading": any(detail.has_focus_within for detail in self.details)})
        for detail in self.details:
            if not detail.has_focus_within:
                detail.viewer.left()
        self.show_words()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Return True if the action applies now; the key of another action only shows the reason."""
        return self.target.can(str(parameters[0]) if action == "on_target" else action)

    def on_key(self, event: Key) -> None:
        """Show why a key does nothing."""
        if isinstance(self.focused, Input | TextArea) or self.answers.binds(event.key):
            return
        taken, restore_key = self.keymap.taken(self._place, self.detail.searching), self.keymap.name("undo")
        for action in here(table=self.has_table):
            if event.key in self.keymap.acting(action, taken):
                why_not = self.target.why_not(action.id, restore_key=restore_key)
                if why_not:
                    self.requests.show_refusal(why_not)

    @on(SessionPane.Resized)
    @on(StepsPane.Changed)
    def _other_words(self) -> None:
        self.show_words()
        self.answers.fit()

    @on(SaveAsked)
    def _save_asked(self, event: SaveAsked) -> None:
        session = self.current
        if session is not None and session.id == event.session_id and not self._programs.refused("export"):
            from agentdash.tui.dialogs.asking.naming import SaveScreen

            save = partial(self.operations.save, session.id)
            self.app.push_screen(SaveScreen(texts.title(session), texts.file_name(session), save))

    @on(ConversationAsked)
    async def _conversation_asked(self, event: ConversationAsked) -> None:
        session, viewer = self.current, self.detail.viewer
        if session is None or session.id != event.session_id:
            return
        shown = viewer.growth.shown if viewer.growth is not None else None
        if event.verb == "undo" and self.has_table and (shown is None or shown.undoable is None):
            await self.run_action("undo")
            return
        change = self.operations.conversation.change
        chosen, key = viewer.chosen, self.keymap.name("steps.undo")
        self.run_worker(change(event.verb, session, viewer.growth if chosen else None, viewer.steps.cursor, key))

    @on(OtherSessionAsked)
    def _other_session_asked(self, event: OtherSessionAsked) -> None:
        self.show_other(event.session_id, event.step)

    def show_other(self, session_id: str, step: tuple[int, int] | None) -> None:  # noqa: ARG002 - for a screen with a table
        """Show another session, at a step if one is given, if this screen can choose another session."""
        self.requests.show_refusal(conversation_texts.NO_TABLE)

    @on(ChangesAsked)
    def _changes_asked(self, event: ChangesAsked) -> None:
        viewer, session = self.detail.viewer, self.current
        if session is None or session.id != event.session_id:
            return
        from agentdash.tui.screens.changes import ChangesScreen

        ways = PromptWays(self.sender, self.operations, self.detail, lambda: self._now(session), self.go_on)
        screen = ChangesScreen(self._reader, self.requests, self._programs, session, ways, self.keymap)
        self.app.push_screen(screen, partial(self._show_step, viewer, session))

    def _now(self, session: Session) -> Session:
        """Return the newest known form of a session."""
        return self.current if self.current is not None and self.current.id == session.id else session

    def _show_step(self, viewer: StepsPane, session: Session, step: tuple[int, int] | None) -> None:
        """Go to the step that the user chose on the screen of changes; without one, stay where it was opened."""
        if step is not None:
            self.give_keys(viewer.steps)
            self.mark_seen(session)
            self.call_after_refresh(viewer.show_step, *step)  # steps that were hidden have no size before

    @on(PromptInput.Left)
    def _prompt_left(self) -> None:
        if self.current is None or not self.sender.end_edit(self.current, self.detail):
            self._leave_prompt()

    def _leave_prompt(self) -> None:
        back = self._came_from if self._came_from is not None and self._came_from.can_focus else self.home_focus()
        self.give_keys(back)

    @on(PromptInput.Sent)
    def _prompt_sent(self, event: PromptInput.Sent) -> None:
        if event.text.strip():
            self.send(event.text, interrupts=event.interrupts)
            if not self.operations.stay_in_prompt:
                self._leave_prompt()
            if event.then_next:
                self.go_on()

    def send(self, text: str, *, interrupts: bool = False) -> None:
        """Send a text to the chosen sessions, or to a new one; ``interrupts`` sends it in place of the running turn."""
        self.run_worker(self.sender.send(text, self.target, self.detail, interrupts=interrupts), group="send")

    @on(PromptInput.EditAsked)
    def _edit_asked(self) -> None:
        if self.current is not None:
            self.run_worker(self.sender.edit_last(self.current, self.detail), group="edit")

    @on(PromptInput.ModeAsked)
    def _mode_asked(self) -> None:
        self.run_worker(self.sender.next_mode(self.target), group="mode")

    def go_on(self) -> None:
        """Go on to the next session that needs the user, if this screen can choose another session."""

    def commands(self) -> Iterable[Command]:
        """Return the commands that are valid now; of two with the same name the later one counts."""
        return session_commands(self)

    @work
    async def action_command_line(self) -> None:
        """Ask for a command, and run it."""
        from agentdash.tui.dialogs.command import CommandScreen

        line = CommandLine(self.commands())
        text = await self.app.push_screen_wait(CommandScreen(line, self.operations.command_history))
        if text is not None:
            command, argument = line.find(text)
            done = command.run(argument)
            if isawaitable(done):
                await done

    def action_log(self) -> None:
        """Show the message log."""
        from agentdash.tui.dialogs.log import LogScreen

        read = partial(self.requests.ask, crash_lines, self._reader.home)
        self.app.push_screen(LogScreen(self.requests.log.newest_first(), self._programs.copy, read))

    def action_help(self) -> None:
        """Show all keys."""
        from agentdash.tui.dialogs.help import HelpScreen

        about = HelpScreen(self.keymap, self._place, self._tour, read_only=self.read_only, table=self.has_table)
        self.app.push_screen(about)

    def action_write_prompt(self) -> None:
        """Give the keys to the prompt."""
        self._came_from = self.answers.came_from if self.answers.have_keys else self.focused
        self.answers.leave()
        self.give_keys(self.detail.prompt.input)
        self.run_worker(self.sender.offer_earlier(self.detail.prompt), exclusive=True, group="history")

    def _prompt_folder(self) -> str:
        """Return the folder of the session to which a prompt goes; of several, that of the first."""
        chosen = self.target.chosen
        return chosen[0].cwd if chosen else str(Path.cwd())

    @work(exclusive=True, group="template")
    async def action_template(self) -> None:
        """Write a prompt from a template, and go to it."""
        if await self.sender.write_from_template(self.target, self.detail) and not self.detail.prompt.has_focus_within:
            self.action_write_prompt()

    def action_follow(self) -> None:
        """Follow the newest step, or stop following."""
        self.detail.steps.following = not self.detail.steps.following

    def action_meter(self) -> None:
        """Show or hide the dashboard's own cost."""
        self.foot.meter.toggle()
        self.call_after_refresh(self.show_words)

    def action_settings(self) -> None:
        """Show all settings, and the file that they come from."""
        # It walks all types of settings, which only this screen needs.
        from agentdash.tui.screens.settings import SettingsScreen

        self.app.push_screen(SettingsScreen(self._reader, self.requests, self._programs))

    def action_shell(self) -> None:
        """Open a shell in the session's folder."""
        if self.current is not None:
            self._programs.shell(self.current.cwd)

    def action_lazygit(self) -> None:
        """Open lazygit in the session's folder."""
        if self.current is not None:
            self._programs.lazygit(self.current.cwd)

    async def copy_resume_command(self) -> None:
        """Copy the command that resumes the session in the agent's own interface."""
        session = self.current
        found = await self.requests.ask(self._reader.resume_command, session.id) if session is not None else None
        if found is not None:
            await self._programs.copy(found.command, "resume command")

    def action_on_target(self, action: str) -> None:
        """Do one of the actions that need only the sessions that they act on."""
        rest = TARGET_ACTIONS[action](self.operations, self.target)
        if rest is not None:
            self.run_worker(rest)

    def action_queue(self) -> None:
        """Show the queue of the session, to change it."""
        session = self.current
        if session is not None:

            def is_current() -> bool:
                return self.current is not None and self.current.id == session.id and self.app.screen is self

            self.sender.show_queue(session, self.detail, is_current, self.action_write_prompt, clock=self._clock)

    @work
    async def action_answer(self) -> None:
        """Show what the current session asks, or the first one that asks; from a card, what the next one asks."""
        await self.answers.answer()

    def action_retry(self) -> None:
        """Send the last prompt of the chosen sessions again."""
        self.run_worker(self.sender.retry(self.target, self.detail))
