"""The dialog that starts a session: prompt, agent, mode, folder, model, more arguments."""

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

from ...sessions.agents.base import Launch
from ...sessions.manager import AgentInfo
from ...sessions.text import clean
from ...widgets.choice import Choice
from ...widgets.prompt_box import PromptInput
from ...widgets.recall_input import RecallInput
from ...widgets.words import place
from ..folders import FolderSuggester

SETTLED_SECONDS = 0.15
"""The exact command is worked out when nobody typed for so long."""


class SpawnRequest(Struct, frozen=True, kw_only=True):
    """What somebody filled in."""

    prompt: str
    agent: str | None
    cwd: str
    model: str | None = None
    options: Mapping[str, object] = field(default_factory=dict)


class Offer(Struct, frozen=True, kw_only=True):
    """What the dialog can offer, and what it shows at first."""

    agents: Sequence[AgentInfo]
    first: SpawnRequest
    folders: Sequence[str] = ()
    """Recent ones, the last one first."""
    prompts: Sequence[str] = ()


Plan = Callable[[SpawnRequest], Awaitable[tuple[Launch | None, str | None]]]
"""The exact start, or the reason why there is none."""

Start = Callable[[SpawnRequest], Awaitable[str | None]]
"""Starts a session; gives the reason where that was not possible."""


class NewSessionScreen(ModalScreen[None]):
    """Asks what to start and shows the exact command; stays open, with the reason, when it could not be started."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss(None)", "cancel", show=False),
    ]

    def __init__(self, offer: Offer, plan: Plan, start: Start) -> None:
        super().__init__()
        self._offer = offer
        self._agents = {agent.name: agent for agent in offer.agents}
        self._plan = plan
        self._start = start

    def compose(self) -> ComposeResult:
        """The fields, each beside its name."""
        first = self._offer.first
        installed = [agent.name for agent in self._offer.agents if agent.installed]
        missing = [agent.name for agent in self._offer.agents if not agent.installed]
        without = f"not installed: {', '.join(missing)}" if missing else ""
        with Vertical(classes="dialog") as dialog:
            dialog.border_title = "New session"
            yield from _row("prompt", PromptInput(id="new-prompt"))
            yield from _row("agent", Choice(installed, first.agent or "", without=without, id="new-agent"))
            yield from _row("mode", Choice((), "", id="new-mode"))
            yield from _row(
                "folder", RecallInput(first.cwd, suggester=FolderSuggester(self._offer.folders), id="new-cwd")
            )
            yield from _row("model", RecallInput(first.model or "", id="new-model"))
            yield from _row(
                "arguments", RecallInput(_arguments(first), placeholder="passed on as they are", id="new-args")
            )
            yield Static("", id="new-plan", markup=False)
            yield Static("", id="new-error", markup=False)
            yield Static("Enter start   Tab next field   Ctrl+J new line   ↑↓ earlier   Esc cancel", classes="keys")

    def on_mount(self) -> None:
        """Begin with the prompt."""
        self.query_one("#new-cwd", RecallInput).recall.learn(map(place, self._offer.folders))
        prompt = self.query_one("#new-prompt", PromptInput)
        prompt.recall.learn(self._offer.prompts)
        prompt.text = self._offer.first.prompt
        prompt.focus()
        if not any(agent.installed for agent in self._offer.agents):
            hints = [f"{agent.title}: {agent.hint}" for agent in self._offer.agents if agent.hint]
            self._say("\n".join(["No agent is installed.", *hints]))
        self._agent_chosen()

    @on(Choice.Changed, "#new-agent")
    def _agent_chosen(self) -> None:
        agent = self._agents.get(self.query_one("#new-agent", Choice).value or "")
        mode = self.query_one("#new-mode", Choice)
        key = agent.mode_key if agent else None
        asked = self._offer.first.options.get(key) if key else None
        mode.offer(agent.modes if agent else (), str(asked or (agent.mode if agent else "")))
        # Not by its height: a row that is not there cannot be reached by Tab either.
        mode.parent.display = bool(key)  # type: ignore[union-attr]
        if key:
            self.query_one("#new-mode-label", Label).update(key.partition("_")[0])
        self.query_one("#new-model", Input).placeholder = (agent and agent.model) or "the agent's own default"

    @on(Choice.Changed)
    @on(Input.Changed)
    @on(TextArea.Changed)
    def _changed(self) -> None:
        self._show_plan()

    @work(exclusive=True, group="plan")
    async def _show_plan(self) -> None:
        await asyncio.sleep(SETTLED_SECONDS)
        request = self._request()
        launch, reason = await self._plan(request)
        self._say("" if launch else reason or "")
        self.query_one("#new-plan", Static).update(clean(f"$ {shlex.join(launch.argv)}") if launch else "")

    @on(PromptInput.Left)
    def _cancel(self) -> None:
        self.dismiss(None)

    @on(PromptInput.Sent)
    @on(Input.Submitted)
    def _send(self) -> None:
        self._try()

    @work(exclusive=True, group="start")
    async def _try(self) -> None:
        request = self._request()
        if not request.prompt.strip():
            self._say("Write a prompt: what should the agent do?")
            self.query_one("#new-prompt").focus()
            return
        reason = await self._start(request)
        if reason is None:
            self.dismiss(None)
        else:
            self._say(reason)

    def _request(self) -> SpawnRequest:
        """The fields as they stand."""
        agent = self.query_one("#new-agent", Choice).value
        key = self._agents[agent].mode_key if agent else None
        options = {name: value for name, value in self._offer.first.options.items() if agent == self._offer.first.agent}
        mode = self.query_one("#new-mode", Choice).value
        if key and mode != self._agents[agent or ""].mode:
            options[key] = mode
        elif key:
            options.pop(key, None)
        arguments = self.query_one("#new-args", Input).value.strip()
        options.pop("args", None)
        if arguments:
            options["args"] = _split(arguments)
        return SpawnRequest(
            prompt=self.query_one("#new-prompt", PromptInput).text,
            agent=agent,
            cwd=self.query_one("#new-cwd", Input).value.strip(),
            model=self.query_one("#new-model", Input).value.strip() or None,
            options=options,
        )

    def _say(self, reason: str) -> None:
        error = self.query_one("#new-error", Static)
        error.update(clean(reason))
        error.display = bool(reason)


def _row(name: str, widget: Widget) -> ComposeResult:
    with Horizontal(classes="row"):
        yield Label(name, id=f"{widget.id}-label")
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
