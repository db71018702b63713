"""The dialogs that start a session, and that continue a conversation in a new one; or that no agent is installed."""

import asyncio
import shlex
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import ClassVar

from msgspec import structs
from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widget import Widget
from textual.widgets import Input, Static, TextArea

from agentdash.sessions.model.errors import UsageError
from agentdash.sessions.rules.launch import Launch, Start
from agentdash.sessions.service.lifecycle.agent_list import AgentInfo
from agentdash.sessions.settings.sections import MOST_COPIES
from agentdash.sessions.text.sanitize import cell_width, clean
from agentdash.tui.dialogs.dialog import Dialog, Frame, KeyLine, Kind
from agentdash.tui.dialogs.starting.offer import (
    Begin,
    Chosen,
    Keep,
    Offer,
    Plan,
    ProjectLine,
    ReviewIn,
    SettingsIn,
    ToolsFor,
)
from agentdash.tui.dialogs.starting.start_fields import MoreFields, StartFields
from agentdash.tui.keys.keymap import DEFAULT, Keymap
from agentdash.tui.texts import screen_texts as texts
from agentdash.widgets.inputs.choice import Choice
from agentdash.widgets.inputs.prompt_box import PromptInput

DANGER = "No sandbox, no approvals: it can do anything you can."

_GAP = "   "

SETTLED_SECONDS = 0.15
"""Delay after the last change of a field until the exact command is computed."""


class NewSessionScreen(ModalScreen[None]):
    """Asks what to start and says what will run; if the start fails, it stays open and shows the reason."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "cancel", show=False),
        Binding("enter", "start", "start", show=False),
        Binding("ctrl+o", "exact", "exact command", show=False),
        Binding("f4", "review", "settings of the project", show=False, id="trust"),
        Binding("f8", "template", "template", show=False, id="template"),
    ]

    TITLE: ClassVar[str] = "New session"

    def __init__(
        self,
        offer: Offer,
        plan: Plan,
        begin: Begin,
        keep: Keep = lambda _: None,
        chosen: Chosen = lambda _: None,
        *,
        settings_in: SettingsIn | None = None,
        review_in: ReviewIn | None = None,
        tools: ToolsFor | None = None,
        keymap: Keymap = DEFAULT,
    ) -> None:
        """``settings_in`` and ``review_in`` read the project of another folder; None if none is read."""
        super().__init__()
        self._settings_in = settings_in
        self._review_in = review_in
        self._chosen = chosen
        self._keep = keep
        self._plan = plan
        self._begin = begin
        self._starting = False
        self._was_first = False
        """True if the first field has the focus, or had it last."""
        self._known_folder: str | None = offer.first.cwd
        """The folder with the settings that the fields show; None if they are to be read again."""
        self.fields = StartFields(offer, tools)
        """The fields that the user fills in."""
        self._project = ProjectLine(offer.project, keymap.in_text("trust"))
        self._new_line = keymap.in_text("prompt.new_line")
        self._danger = Static(DANGER, markup=False, id="new-danger")
        self._beside = Static("", id="new-beside", markup=False)
        self._keys = KeyLine()
        self._more = MoreFields(self.open_more)
        self._sentence = Static("", id="new-sentence", markup=False)
        self._command = Static("", id="new-plan", markup=False)
        self._error = Static("", id="new-error", markup=False)

    def compose(self) -> ComposeResult:
        """Yield the fields, and what follows from them."""
        with Frame(Kind.TAKES, self.TITLE):
            yield from self.fields.rows()
            yield self._more
            with Vertical(id="new-more"):
                yield from self.fields.more_rows()
            yield self._danger
            yield self._project
            yield self._sentence
            yield self._beside
            yield self._command
            yield self._error
            yield self._keys

    def on_mount(self) -> None:
        """Fill in the prompt and focus it."""
        self._say("")
        self.fields.fill()
        self._open_if_filled()

    def on_resize(self) -> None:
        """Show the key of the fields that have no room now."""
        self.call_after_refresh(self._show_keys)

    def on_descendant_focus(self) -> None:
        """Show the keys of the focused field."""
        self._was_first = self.focused in (self.fields.prompt, self.fields.preset)
        self._show_keys()

    def _show_keys(self) -> None:
        focused = self.focused
        keys = ["Enter start", "Tab next field"]
        if isinstance(focused, Choice):
            keys.append("Left Right change" if self.app.has_class("-ascii") else "←→ change")
        elif isinstance(focused, PromptInput):
            keys += [f"{self._new_line} new line", "Up history"] if self._new_line else ["Up history"]
        elif focused is self.fields.folder:
            keys += ["Up recent", "Right complete"]
        keys += ["Ctrl+O command", "Esc cancel"]
        for spare in ("Up history", "Tab next field", f"{self._new_line} new line"):
            if spare in keys and cell_width(_GAP.join(keys)) > self._keys.size.width > 0:
                keys.remove(spare)
        self._keys.show_keys(_GAP.join(keys))

    def action_template(self) -> None:
        """Insert the text of a template into the prompt."""
        self.fields.prompt.focus()
        self.fields.prompt.insert_template()

    def open_more(self) -> None:
        """Show the second group of fields, and go to its first one, or to its last one on the way back."""
        self.add_class("-more")
        (self.fields.copies if self._was_first else self.fields.title).focus()

    def action_exact(self) -> None:
        """Show the exact command and the line that sets its mode, or hide them again."""
        self.toggle_class("-exact")

    def _open_if_filled(self) -> None:
        """Show the second group if one of its fields is filled in: what is shown is what runs."""
        if self.fields.uses_more:
            self.add_class("-more")

    @on(Choice.Changed, "#new-preset")
    def _preset_chosen(self) -> None:
        self.fields.fill_from_preset()
        self._open_if_filled()

    @on(Choice.Changed, "#new-agent")
    def _agent_chosen(self) -> None:
        self.fields.fill_for_agent()

    @on(Choice.Changed)
    @on(Input.Changed)
    @on(TextArea.Changed)
    @work(exclusive=True, group="plan")
    async def _show_command(self) -> None:
        self._danger.display = self.fields.dangerous
        if self.fields.agent is None:
            return
        await asyncio.sleep(SETTLED_SECONDS)
        try:
            start = self.fields.start()
        except UsageError as error:
            self._say(str(error))
            self._command.update("")
            self._sentence.update("")
            return
        await self._learn_folder()
        launch, reason = await self._plan(start)
        warnings = self._project.beyond(launch.warnings) if launch else ()
        self._say("\n".join(filter(None, (self.fields.missing, *warnings))) if launch else reason or "")
        self._command.update(started_with(launch) if launch is not None else "")
        self._sentence.update(clean(texts.what_runs(start, launch)) if launch is not None else "")
        beside = texts.beside_command(launch, start.options) if launch else ""
        self._beside.update(clean(beside))
        self._beside.display = bool(beside)

    async def _learn_folder(self) -> None:
        """Show the settings of the folder's project, if the folder is another one."""
        folder = self.fields.cwd
        if self._settings_in is None or folder == self._known_folder:
            return
        settings = await self._settings_in(folder)
        if settings is not None:
            self._known_folder = folder
            self.fields.use(settings)
            self._project.show_project(settings.project)

    @work(group="review")
    async def action_review(self) -> None:
        """Show the settings of the folder's project, which the user can trust."""
        if self._review_in is not None and await self._review_in(self.fields.cwd):
            self._known_folder = None
            self._show_command()

    @on(PromptInput.Sent)
    @on(Input.Submitted)
    def action_start(self) -> None:
        """Start, from any field."""
        self._try()

    @on(PromptInput.Left)
    def action_leave(self) -> None:
        """Close the dialog; the draft is kept."""
        self.dismiss(None)

    @on(TextArea.Changed)
    def _keep_text(self) -> None:
        self._keep(self.fields.draft)

    @work(group="start")
    async def _try(self) -> None:
        # A second Enter during the start would start the session twice.
        if self._starting:
            return
        self._starting = True
        try:
            await self._start_as_filled()
        finally:
            self._starting = False

    async def _start_as_filled(self) -> None:
        # A plan in progress would overwrite the message that is shown now.
        self.workers.cancel_group(self, "plan")
        fields = self.fields
        try:
            start = fields.start()
        except UsageError as error:
            self._say(str(error))
            fields.limits.focus()
            return
        if not start.prompt.strip():
            self._say("The prompt is empty: what should the agent do?")
            fields.prompt.focus()
            return
        if not 1 <= (start.copies or 0) <= MOST_COPIES:
            self._say(f"The number of copies must be from 1 to {MOST_COPIES}.")
            fields.copies.focus()
            return
        await self._learn_folder()
        start = structs.replace(start, options=fields.options())
        reason = await self._begin(start)
        if reason is None:
            self._keep("")
            if (choices := fields.choices(start)) is not None:
                self._chosen(choices)
            self.dismiss(None)
        else:
            fields.renew_id()  # the id that was tried may be in use
            self._say(reason)

    def _say(self, reason: str) -> None:
        self._error.update(clean(reason))
        self._error.display = bool(reason)


def started_with(launch: Launch) -> str:
    """Return the command that will run; with the line that sets the mode, if it is not in the command."""
    command = clean(f"$ {shlex.join(launch.argv)}")
    return f"{command}\n← {clean(launch.opening[-1])}" if launch.opening else command


ContinuePlan = Callable[[Start], Awaitable[tuple[Launch | None, str, str | None]]]
"""Returns the exact launch and its consequences in words, or the reason why it is not possible."""


class ContinueScreen(NewSessionScreen):
    """Asks which agent continues the conversation, and shows before what that agent will and will not know.

    Args:
        keep: keeps the prompt for the next dialog about the same session.
    """

    def __init__(self, title: str, offer: Offer, plan: ContinuePlan, begin: Begin, keep: Keep) -> None:
        async def planned(start: Start) -> tuple[Launch | None, str | None]:
            launch, words, reason = await plan(start)
            self._words.update(words)
            self._words.display = bool(words)
            return launch, reason

        super().__init__(offer, planned, begin, keep)
        self._heading = title
        self._words = Static("", id="continue-words", markup=False)

    def on_mount(self) -> None:
        """Put the sentence above the command; copies would all go on at the same place."""
        dialog = self.query_one(Frame)
        dialog.entitle(self._heading)
        dialog.mount(self._words, before="#new-sentence")
        self.fields.title.placeholder = "the same"
        copies = self.query_one("#new-copies").parent
        if copies is not None:
            copies.display = False
        self.call_later(self.fields.prompt.select_all)  # the first key replaces the prompt that is offered


class NoAgentScreen(Dialog[None], inherit_bindings=False):
    """Shows the command that installs each agent, and the way to try agentdash without one."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q", "dismiss(None)", "close", show=False)]

    def __init__(self, agents: Sequence[AgentInfo]) -> None:
        super().__init__("No agent installed", "Esc close")
        self._agents = agents

    def body(self) -> Iterable[Widget]:
        """Yield the commands, and the way without them."""
        yield Static("\n".join(texts.install_lines(self._agents)), markup=False)
        yield Static(
            "agentdash searches PATH; set `bin` in [agents.codex] to use another path.\n"
            "Try it without one: `agentdash demo`.",
            markup=False,
            classes="consequence",
        )
