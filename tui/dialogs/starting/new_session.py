"""The dialog that starts a session: prompt, agent, mode, folder, model, and a second group of fields."""

import asyncio
import shlex
import uuid
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import ClassVar

from msgspec import Struct, field, structs
from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Input, Label, Static, TextArea

from ....sessions.errors import UsageError
from ....sessions.launch import Launch, Start
from ....sessions.lifecycle.agent_list import AgentInfo
from ....sessions.projects.review import Review
from ....sessions.rules.limits.limits import parsed, typed
from ....sessions.settings.presets import MOST_COPIES, Preset
from ....sessions.text.sanitize import cell_width, clean
from ....widgets.drawing.short_forms import place
from ....widgets.inputs.choice import Choice
from ....widgets.inputs.field import Field
from ....widgets.inputs.history_input import HistoryInput
from ....widgets.inputs.prompt_box import PromptInput, PromptTools
from ...state.ui_state import LastStart
from ...texts import screen_texts as texts
from ...texts.chain_texts import AFTER
from .folder_settings import FolderSettings, ProjectLine, ReviewIn, SettingsIn
from .own_settings import OwnSettings
from .path_suggester import FolderSuggester

NO_PRESET = "(none)"
DANGER = "No sandbox, no approvals: it can do anything you can."

_GAP = "   "

SETTLED_SECONDS = 0.15
"""Delay after the last change of a field until the exact command is computed."""


class Offer(Struct, frozen=True, kw_only=True):
    """The choices that the dialog offers, and its first values."""

    agents: Sequence[AgentInfo]
    first: Start
    folders: Sequence[str] = ()
    """Recent folders, newest first."""
    prompts: Sequence[str] = ()
    presets: Mapping[str, Preset] = field(default_factory=dict)
    project: Review | None = None
    """The settings of the first folder's project."""


Plan = Callable[[Start], Awaitable[tuple[Launch | None, str | None]]]
"""Returns the exact launch, or the reason why the start is not possible."""

Begin = Callable[[Start], Awaitable[str | None]]
"""Starts sessions; returns None, or the reason why that failed."""

Chosen = Callable[[LastStart], object]
"""Remembers the choices of a start."""

Keep = Callable[[str | None], None]
"""Keeps the draft for the next dialog, at each key: a text, "" after a start, None if the text is unchanged."""

ToolsFor = Callable[[Callable[[], str], Callable[[], Start]], PromptTools]
"""Makes the tools of the prompt from functions that return its folder and the start as it is filled in."""


class NewSessionScreen(ModalScreen[None]):
    """Asks what to start and shows the exact command; if the start fails, it stays open and shows the reason."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "cancel", show=False),
        Binding("enter", "start", "start", show=False),
        Binding("ctrl+o", "more", "more fields", show=False),
        Binding("f4", "review", "settings of the project", show=False),
        Binding("f8", "template", "template", show=False, id="template"),
    ]

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
    ) -> None:
        """``settings_in`` and ``review_in`` read the project of another folder; None if none is read."""
        super().__init__()
        self._settings_in = settings_in
        self._review_in = review_in
        self._chosen = chosen
        self._keep = keep
        self._offer = offer
        self._agents = {agent.name: agent for agent in offer.agents}
        self._plan = plan
        self._begin = begin
        self._first = first = offer.first
        """The values before the user's changes: those of the chosen preset, if any."""
        self._installed = installed = [agent.name for agent in offer.agents if agent.installed]
        self._absent = [agent.name for agent in offer.agents if not agent.installed]
        without = f"not installed: {', '.join(self._absent)}" if self._absent else ""
        self._starting = False
        self._session_id = str(uuid.uuid4())
        self._presets = offer.presets
        self._preset = Choice([NO_PRESET, *offer.presets], NO_PRESET, id="new-preset")
        self._preset_row = Field("preset", self._preset)
        self._known_folder: str | None = first.cwd
        """The folder with the settings that the fields show; None if they are to be read again."""
        self._project = ProjectLine(offer.project)
        self._filled = Preset()
        self._prompt = PromptInput(id="new-prompt")
        if tools is not None:
            self._prompt.tools = tools(lambda: self._folder.value.strip(), self._fields)  # noqa: PLW0108 - of the present value
        self._agent = Choice(installed, first.agent, without=without, id="new-agent")
        self._mode = Choice((), "", id="new-mode")
        self._mode_name = Label()
        self._folder = HistoryInput(first.cwd, suggester=FolderSuggester(offer.folders), id="new-cwd")
        self._model = HistoryInput(first.model or "", id="new-model")
        self._title = HistoryInput(placeholder="from the prompt", id="new-title")
        self._limits = HistoryInput(_limits(first), placeholder="none; e.g. wall=30m tokens=500k", id="new-limits")
        self._own = OwnSettings(offer.agents)
        self._more = HistoryInput(
            _arguments(first), placeholder="extra CLI flags, e.g. --add-dir ../lib", id="new-args"
        )
        self._after = HistoryInput(first.after, placeholder=AFTER, id="new-after")
        self._copies = Input("1", type="integer", max_length=3, compact=True, id="new-copies")
        self._danger = Static(DANGER, markup=False, id="new-danger")
        self._beside = Static("", id="new-beside", markup=False)
        self._keys = Static("", classes="keys")
        self._command = Static("", id="new-plan", markup=False)
        self._error = Static("", id="new-error", markup=False)

    def compose(self) -> ComposeResult:
        """Yield the fields, each beside its name."""
        with Vertical(classes="dialog") as dialog:
            dialog.border_title = "New session"
            yield self._preset_row
            yield Field("prompt", self._prompt)
            yield self._prompt.offers
            yield Field("agent", self._agent)
            yield Field(self._mode_name, self._mode)
            yield Field("folder", self._folder)
            yield Field("model", self._model)
            with Vertical(id="new-more"):
                yield Field("title", self._title)
                yield Field("limits", self._limits)
                yield self._own
                yield Field("arguments", self._more)
                yield Field("after", self._after)
                yield Field("copies", self._copies)
            yield self._danger
            yield self._project
            yield self._command
            yield self._beside
            yield self._error
            yield self._keys

    def on_mount(self) -> None:
        """Fill in the prompt and focus it."""
        self._preset_row.display = bool(self._presets)
        self._folder.earlier.learn(map(place, self._offer.folders))
        self._prompt.earlier.learn(self._offer.prompts)
        self._prompt.text = self._offer.first.prompt
        self._prompt.move_cursor(self._prompt.document.end)
        self._prompt.focus()
        self._agent_chosen()
        self._open_if_filled()

    def on_resize(self) -> None:
        """Show the key of the fields that have no room now."""
        self.call_after_refresh(self._show_keys)

    def on_descendant_focus(self) -> None:
        """Show the keys of the focused field."""
        self._show_keys()

    def _show_keys(self) -> None:
        focused = self.focused
        keys = ["Enter start", "Tab next field"]
        if isinstance(focused, Choice):
            keys.append("Left Right change" if self.app.has_class("-ascii") else "←→ change")
        elif isinstance(focused, PromptInput):
            keys += ["Ctrl+J new line", "Up history"]
        elif focused is self._folder:
            keys += ["Up recent", "Right complete"]
        if self.has_class("-low") and not self.has_class("-more"):
            keys.append("Ctrl+O more")
        keys.append("Esc cancel")
        for spare in ("Tab next field", "Up history"):
            if spare in keys and cell_width(_GAP.join(keys)) > self._keys.size.width > 0:
                keys.remove(spare)
        self._keys.update(_GAP.join(keys))

    def action_template(self) -> None:
        """Insert the text of a template into the prompt."""
        self._prompt.focus()
        self._prompt.insert_template()

    def action_more(self) -> None:
        """Show the second group of fields, for which a low screen has no room at first, and go to it."""
        self.add_class("-more")
        self._title.focus()

    def _open_if_filled(self) -> None:
        """Show the second group if one of its fields is filled in: what is shown is what runs."""
        filled = self._limits.value or self._more.value or self._after.value
        if filled or self._copies.value != "1" or self._own.options():
            self.add_class("-more")

    @on(Choice.Changed, "#new-preset")
    def _preset_chosen(self) -> None:
        """Fill the fields from the preset; keep the text that the user wrote."""
        preset, first = self._presets.get(self._preset.value or "", Preset()), self._offer.first
        text = self._filled.text_in(self._prompt.text)
        if self._preset.value in self._presets:
            first = Start(
                "",
                agent=preset.agent or first.agent,
                cwd=preset.cwd or first.cwd,
                model=preset.model,
                options=preset.all_options(),
                copies=preset.copies,
            )
        self._first, self._filled = first, preset
        self._agent.offer(self._installed, first.agent)
        self._folder.value, self._model.value = first.cwd, first.model or ""
        self._more.value, self._copies.value = _arguments(first), str(first.copies or 1)
        self._limits.value = _limits(first)
        self._agent_chosen()
        self._open_if_filled()
        self._write(preset, text)

    def _write(self, preset: Preset, text: str) -> None:
        """Put the preset's prompt around the text, and the cursor at the end of the text."""
        self._prompt.text = preset.prompt_with(text) if text else "".join(preset.frame())
        before = preset.frame()[0] + text
        self._prompt.cursor_location = (before.count("\n"), len(before) - before.rfind("\n") - 1)

    @on(Choice.Changed, "#new-agent")
    def _agent_chosen(self) -> None:
        agent = self._agents.get(self._agent.value or "")
        if agent is not None:
            self._fill_own(agent)
            self._own.fill(agent, self._carried(agent))
            self._mode.offer(agent.choices, agent.choice_of(self._carried(agent)) or "", agent.unheld)
        key = agent.mode_key if agent else None
        self._mode_name.update((key or "").partition("_")[0])
        # Not by a height of 0: Tab would still reach the row.
        self._mode.display = self._mode_name.display = bool(key)
        self._model.placeholder = (agent and agent.model) or "default"

    def _fill_own(self, agent: AgentInfo) -> None:
        """Clear the model and the arguments that were filled in for another agent."""
        first = self._first
        for text, own in ((self._model, first.model or ""), (self._more, _arguments(first))):
            if agent.name == first.agent:
                text.value = text.value or own
            elif text.value == own:
                text.value = ""

    def _carried(self, agent: AgentInfo) -> dict[str, object]:
        """Return the preset's or repeated session's options that apply to an agent; for another agent, only limits."""
        options = self._first.options.items()
        return {key: value for key, value in options if agent.name == self._first.agent or key == "limits"}

    @on(Choice.Changed)
    @on(Input.Changed)
    @on(TextArea.Changed)
    def _changed(self) -> None:
        self._show_command()

    @work(exclusive=True, group="plan")
    async def _show_command(self) -> None:
        agent = self._agents.get(self._agent.value or "")
        if agent is None:
            self._danger.display = False
            return
        self._danger.display = self._mode.value in agent.unheld
        await asyncio.sleep(SETTLED_SECONDS)
        try:
            start = self._filled_in()
        except UsageError as error:
            self._say(str(error))
            self._command.update("")
            return
        await self._learn_folder()
        launch, reason = await self._plan(start)
        warnings = self._project.beyond(launch.warnings) if launch else ()
        self._say("\n".join(filter(None, (self._missing(), *warnings))) if launch else reason or "")
        self._command.update(started_with(launch) if launch is not None else "")
        beside = texts.beside_command(launch, start.options) if launch else ""
        self._beside.update(clean(beside))
        self._beside.display = bool(beside)

    async def _learn_folder(self) -> None:
        """Show the settings of the folder's project, if the folder is another one."""
        folder = self._folder.value.strip()
        if self._settings_in is None or folder == self._known_folder:
            return
        settings = await self._settings_in(folder)
        if settings is not None:
            self._known_folder = folder
            self._use(settings)

    def _use(self, settings: FolderSettings) -> None:
        """Replace the settings behind the fields; a choice of the user stays."""
        name = self._agent.value or ""
        before, after = self._agents.get(name), next((one for one in settings.agents if one.name == name), None)
        self._agents = {agent.name: agent for agent in settings.agents}
        self._presets = settings.presets
        self._preset.offer([NO_PRESET, *settings.presets], self._preset.value or NO_PRESET)
        self._preset_row.display = bool(settings.presets)
        self._project.show_project(settings.project)
        if before is None or after is None or before == after:
            return
        unchanged = self._mode.value == before.choice_of(self._carried(before))
        mode = after.choice_of(self._carried(after)) if unchanged else self._mode.value
        self._mode.offer(after.choices, mode or "", after.unheld)
        self._own.fill(after, self._carried(after))
        self._model.placeholder = after.model or "default"

    @work(group="review")
    async def action_review(self) -> None:
        """Show the settings of the folder's project, which the user can trust."""
        if self._review_in is not None and await self._review_in(self._folder.value.strip()):
            self._known_folder = None
            self._show_command()

    def _missing(self) -> str:
        """Return a sentence if the preset, the repeated session or the settings name an agent that is not installed."""
        name = self._first.agent
        return f"{name} is not installed: using another agent." if name in self._absent else ""

    def action_start(self) -> None:
        """Start, from any field."""
        self._try()

    @on(PromptInput.Left)
    def action_leave(self) -> None:
        """Close the dialog; the draft is kept."""
        self.dismiss(None)

    @on(TextArea.Changed)
    def _keep_text(self) -> None:
        text = self._filled.text_in(self._prompt.text)
        self._keep(text if text != self._offer.first.prompt else None)

    @on(PromptInput.Sent)
    @on(Input.Submitted)
    def _send(self) -> None:
        self._try()

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
        try:
            start = self._filled_in()
        except UsageError as error:
            self._say(str(error))
            self._limits.focus()
            return
        if not start.prompt.strip():
            self._say("The prompt is empty: what should the agent do?")
            self._prompt.focus()
            return
        if not 1 <= (start.copies or 0) <= MOST_COPIES:
            self._say(f"The number of copies must be from 1 to {MOST_COPIES}.")
            self._copies.focus()
            return
        await self._learn_folder()
        start = structs.replace(start, options=self._options())
        reason = await self._begin(start)
        if reason is None:
            self._keep("")
            self._remember(start)
            self.dismiss(None)
        else:
            self._session_id = str(uuid.uuid4())  # the id that was tried may be in use
            self._say(reason)

    def _remember(self, start: Start) -> None:
        """Report the choices for the next dialog; those of a preset belong to the preset."""
        if self._preset.value in self._presets:
            return
        mode = self._mode.value or ""
        held = mode not in self._agents[start.agent].unheld
        self._chosen(LastStart(agent=start.agent, mode=mode if held else "", model=start.model or ""))

    def _filled_in(self) -> Start:
        """Return the start that the fields describe.

        Raises:
            UsageError: the limits cannot be read.
        """
        copies = int(self._copies.value) if self._copies.value.isdecimal() else 0
        return structs.replace(self._fields(), options=self._options(), copies=copies)

    def _fields(self) -> Start:
        """Return the start without its options."""
        return Start(
            self._prompt.text.rstrip("\n"),
            agent=self._agent.value or "",
            model=self._model.value.strip() or None,
            cwd=self._folder.value.strip(),
            title=self._title.value.strip(),
            session_id=self._session_id,
            after=self._after.value.strip(),
        )

    def _options(self) -> dict[str, object]:
        """Return the options that differ from the settings; of a repeated session, also those without a field here."""
        agent = self._agents.get(self._agent.value or "")
        if agent is None:
            return {}
        shown = {"args", "full_danger", "limits", agent.mode_key, *self._own.keys}
        options = {key: value for key, value in self._carried(agent).items() if key not in shown}
        options |= agent.options_of(self._mode.value) | self._own.options()
        if more := self._more.value.strip():
            options["args"] = _split(more)
        if limits := self._limits.value.strip():
            unchanged = limits == _limits(self._first)
            given = self._first.options["limits"] if unchanged else parsed(limits.split(), name_of_field="The field")
            options["limits"] = given
        return options

    def _say(self, reason: str) -> None:
        self._error.update(clean(reason))
        self._error.display = bool(reason)


def _limits(start: Start) -> str:
    limits = start.options.get("limits")
    return typed(limits) if isinstance(limits, Mapping) else ""


def started_with(launch: Launch) -> str:
    """Return the command that will run; with the line that sets the mode, if it is not in the command."""
    command = clean(f"$ {shlex.join(launch.argv)}")
    return f"{command}\n← {clean(launch.opening[-1])}" if launch.opening else command


def _arguments(start: Start) -> str:
    arguments = start.options.get("args", ())
    return shlex.join(map(str, arguments)) if isinstance(arguments, list | tuple) else ""


def _split(text: str) -> list[str]:
    """Split arguments as a shell does; at blanks while a quotation mark is open."""
    try:
        return shlex.split(text)
    except ValueError:
        return text.split()
