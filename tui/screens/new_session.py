"""The dialog that starts a session: preset, prompt, agent, mode, folder, model, more arguments."""

import asyncio
import shlex
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import ClassVar

from msgspec import Struct, field
from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.screen import ModalScreen
from textual.widget import Widget
from textual.widgets import Input, Label, Static, TextArea

from ...sessions.agent_list import AgentInfo
from ...sessions.agents.base import Launch
from ...sessions.presets import MOST_COPIES, Preset
from ...sessions.text import clean
from ...widgets.choice import Choice
from ...widgets.prompt_box import PromptInput
from ...widgets.recall_input import RecallInput
from ...widgets.words import place
from ..folders import FolderSuggester

NO_PRESET = "(none)"
DANGER = "Nothing is off limits: it may do anything that you may, without asking."

SETTLED_SECONDS = 0.15
"""The exact command is worked out when nobody typed for so long."""


class SpawnRequest(Struct, frozen=True, kw_only=True):
    """What somebody filled in."""

    prompt: str
    agent: str | None
    cwd: str
    model: str | None = None
    options: Mapping[str, object] = field(default_factory=dict)
    copies: int = 1


class Offer(Struct, frozen=True, kw_only=True):
    """What the dialog can offer, and what it shows at first."""

    agents: Sequence[AgentInfo]
    first: SpawnRequest
    folders: Sequence[str] = ()
    """Recent ones, the last one first."""
    prompts: Sequence[str] = ()
    presets: Mapping[str, Preset] = field(default_factory=dict)


Plan = Callable[[SpawnRequest], Awaitable[tuple[Launch | None, str | None]]]
"""The exact start, or the reason why there is none."""

Start = Callable[[SpawnRequest], Awaitable[str | None]]
"""Starts a session; gives the reason where that was not possible."""


class NewSessionScreen(ModalScreen[str | None]):
    """Asks what to start and shows the exact command; stays open, with the reason, when it could not be started.

    Answers with the text that is to be there the next time: what was written by who leaves without starting
    anything, none after a start, None where nothing was written.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "cancel", show=False),
        Binding("enter", "start", "start", show=False),
    ]

    def __init__(self, offer: Offer, plan: Plan, start: Start) -> None:
        super().__init__()
        self._offer = offer
        self._agents = {agent.name: agent for agent in offer.agents}
        self._plan = plan
        self._start = start
        self._first = first = offer.first
        """What is shown before somebody changes it: of a preset, where one is chosen."""
        self._installed = installed = [agent.name for agent in offer.agents if agent.installed]
        missing = [agent.name for agent in offer.agents if not agent.installed]
        without = f"not installed: {', '.join(missing)}" if missing else ""
        self._preset = Choice([NO_PRESET, *offer.presets], NO_PRESET, id="new-preset")
        self._filled = Preset()
        self._prompt = PromptInput(id="new-prompt")
        self._agent = Choice(installed, first.agent or "", without=without, id="new-agent")
        self._mode = Choice((), "", id="new-mode")
        self._mode_name = Label()
        self._folder = RecallInput(first.cwd, suggester=FolderSuggester(offer.folders), id="new-cwd")
        self._model = RecallInput(first.model or "", id="new-model")
        self._more = RecallInput(_arguments(first), placeholder="passed on as they are", id="new-args")
        self._copies = Input("1", type="integer", max_length=3, compact=True, id="new-copies")
        self._danger = Static(DANGER, markup=False, id="new-danger")
        self._command = Static("", id="new-plan", markup=False)
        self._error = Static("", id="new-error", markup=False)

    def compose(self) -> ComposeResult:
        """The fields, each beside its name."""
        with Vertical(classes="dialog") as dialog:
            dialog.border_title = "New session"
            if self._offer.presets:
                yield from _row(Label("preset"), self._preset)
            yield from _row(Label("prompt"), self._prompt)
            yield from _row(Label("agent"), self._agent)
            yield from _row(self._mode_name, self._mode)
            yield from _row(Label("folder"), self._folder)
            yield from _row(Label("model"), self._model)
            yield from _row(Label("arguments"), self._more)
            yield from _row(Label("copies"), self._copies)
            yield self._danger
            yield self._command
            yield self._error
            yield Static("Enter start   Tab next field   Ctrl+J new line   Up earlier   Esc cancel", classes="keys")

    def on_mount(self) -> None:
        """Begin with the prompt."""
        self._folder.recall.learn(map(place, self._offer.folders))
        self._prompt.recall.learn(self._offer.prompts)
        self._prompt.text = self._offer.first.prompt
        self._prompt.move_cursor(self._prompt.document.end)
        self._prompt.focus()
        self._agent_chosen()
        if not any(agent.installed for agent in self._offer.agents):
            hints = [f"{agent.title}: {agent.hint}" for agent in self._offer.agents if agent.hint]
            self._say("\n".join(["No agent is installed.", *hints]))

    @on(Choice.Changed, "#new-preset")
    def _preset_chosen(self) -> None:
        """Fill the fields; what was written stays the text of the start."""
        preset, first = self._offer.presets.get(self._preset.value or "", Preset()), self._offer.first
        text = self._filled.text_in(self._prompt.text)
        if self._preset.value in self._offer.presets:
            first = SpawnRequest(
                prompt="",
                agent=preset.agent or first.agent,
                cwd=preset.cwd or first.cwd,
                model=preset.model,
                options=preset.all_options(),
                copies=preset.copies,
            )
        self._first, self._filled = first, preset
        self._agent.offer(self._installed, first.agent or "")
        self._agent_chosen()
        self._folder.value, self._model.value = first.cwd, first.model or ""
        self._more.value, self._copies.value = _arguments(first), str(first.copies)
        self._write(preset, text)

    def _write(self, preset: Preset, text: str) -> None:
        """Put the preset's prompt around the text, and the cursor where the text goes on."""
        self._prompt.text = preset.told(text) if text else "".join(preset.frame())
        before = preset.frame()[0] + text
        self._prompt.cursor_location = (before.count("\n"), len(before) - before.rfind("\n") - 1)

    @on(Choice.Changed, "#new-agent")
    def _agent_chosen(self) -> None:
        agent = self._agents.get(self._agent.value or "")
        self._mode.offer(agent.modes if agent else (), self._asked_mode(agent) or "")
        key = agent.mode_key if agent else None
        self._mode_name.update((key or "").partition("_")[0])
        # Not by its height: a row that is not there cannot be reached by Tab either.
        self._mode.display = self._mode_name.display = bool(key)
        self._model.placeholder = (agent and agent.model) or "the agent's own default"

    def _asked_mode(self, agent: AgentInfo | None) -> str | None:
        """The mode that is shown at first: what was asked for, or what the settings say."""
        asked = self._first.options.get(agent.mode_key) if agent and agent.mode_key else None
        return str(asked) if asked else agent.mode if agent else None

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
        full_danger = self._options().get("full_danger") is True
        self._danger.display = full_danger or self._mode.value in agent.dangerous
        await asyncio.sleep(SETTLED_SECONDS)
        launch, reason = await self._plan(self._request())
        self._say("\n".join(filter(None, (self._missing(), *launch.warnings))) if launch else reason or "")
        self._command.update(clean(f"$ {shlex.join(launch.argv)}") if launch else "")

    def _missing(self) -> str:
        """That a preset wants an agent that is not there."""
        name = self._filled.agent
        return f"{name} is not installed: another agent is chosen." if name and name not in self._installed else ""

    def action_start(self) -> None:
        """Enter, wherever one is."""
        self._try()

    @on(PromptInput.Left)
    def action_leave(self) -> None:
        """Leave, and keep what was written."""
        text = self._filled.text_in(self._prompt.text)
        self.dismiss(text if text != self._offer.first.prompt else None)

    @on(PromptInput.Sent)
    @on(Input.Submitted)
    def _send(self) -> None:
        self._try()

    @work(exclusive=True, group="start")
    async def _try(self) -> None:
        # A plan that is still being made would take the place of what is said now.
        self.workers.cancel_group(self, "plan")
        request = self._request()
        if not request.prompt.strip():
            self._say("Write a prompt: what should the agent do?")
            self._prompt.focus()
            return
        if not 1 <= request.copies <= MOST_COPIES:
            self._say(f"Between 1 and {MOST_COPIES} copies can be started at once.")
            self._copies.focus()
            return
        reason = await self._start(request)
        if reason is None:
            self.dismiss("")
        else:
            self._say(reason)

    def _request(self) -> SpawnRequest:
        """The fields as they stand."""
        return SpawnRequest(
            prompt=self._prompt.text.rstrip("\n"),
            agent=self._agent.value,
            cwd=self._folder.value.strip(),
            model=self._model.value.strip() or None,
            options=self._options(),
            copies=int(self._copies.value) if self._copies.value.isdecimal() else 0,
        )

    def _options(self) -> dict[str, object]:
        """What differs from the settings; of the session that is being repeated, also what has no field here."""
        first, agent = self._first, self._agents.get(self._agent.value or "")
        same = agent is not None and agent.name == first.agent
        options = {key: value for key, value in first.options.items() if same or key == "limits"}
        if options.get("full_danger") and self._mode.value != self._asked_mode(agent):
            options["full_danger"] = False  # who chooses a mode wants that mode
        if agent and agent.mode_key:
            options.pop(agent.mode_key, None)
            if self._mode.value != agent.mode:
                options[agent.mode_key] = self._mode.value
        options.pop("args", None)
        if more := self._more.value.strip():
            options["args"] = _split(more)
        return options

    def _say(self, reason: str) -> None:
        self._error.update(clean(reason))
        self._error.display = bool(reason)


def _row(name: Label, widget: Widget) -> ComposeResult:
    with Horizontal(classes="row"):
        yield name
        yield widget


def _arguments(request: SpawnRequest) -> str:
    arguments = request.options.get("args", ())
    return shlex.join(map(str, arguments)) if isinstance(arguments, list | tuple) else ""


def _split(text: str) -> list[str]:
    """As a shell would; while a quotation mark is open, at the blanks."""
    try:
        return shlex.split(text)
    except ValueError:
        return text.split()
