"""The dialog that starts a session: agent, folder, model, prompt."""

from collections.abc import Awaitable, Callable, Sequence
from typing import ClassVar

from msgspec import Struct
from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input, Label, Static

from ...sessions.manager import AgentInfo
from ...widgets.choice import Choice
from ...widgets.prompt_box import PromptInput


class SpawnRequest(Struct, frozen=True, kw_only=True):
    """What somebody filled in."""

    prompt: str
    agent: str | None
    cwd: str
    model: str | None


Start = Callable[[SpawnRequest], Awaitable[str | None]]
"""Starts a session; gives the reason where that was not possible."""


class NewSessionScreen(ModalScreen[None]):
    """Asks what to start; stays open, with the reason, when it could not be started."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss(None)", "cancel", show=False),
    ]

    def __init__(self, agents: Sequence[AgentInfo], default: str, cwd: str, start: Start) -> None:
        super().__init__()
        self._agents = agents
        self._default = default
        self._cwd = cwd
        self._start = start

    def compose(self) -> ComposeResult:
        """The fields, in the order in which they are left with Enter."""
        installed = [agent.name for agent in self._agents if agent.installed]
        missing = [agent.name for agent in self._agents if not agent.installed]
        without = f"not installed: {', '.join(missing)}" if missing else ""
        with Vertical(classes="dialog") as dialog:
            dialog.border_title = "New session"
            yield Label("prompt")
            yield PromptInput(id="new-prompt")
            yield Label("agent")
            yield Choice(installed, self._default, without=without, id="new-agent")
            yield Label("folder")
            yield Input(self._cwd, id="new-cwd", compact=True)
            yield Label("model")
            yield Input(placeholder="the agent's own default", id="new-model", compact=True)
            yield Static("", id="new-error", markup=False)
            yield Static("Enter start   Tab next field   Ctrl+J new line   Esc cancel", classes="keys")

    def on_mount(self) -> None:
        """Begin with the prompt; nothing on this screen blinks."""
        for field in self.query(Input):
            field.cursor_blink = False
        if not any(agent.installed for agent in self._agents):
            hints = [f"{agent.title}: {agent.hint}" for agent in self._agents if agent.hint]
            self._say("\n".join(["No agent is installed.", *hints]))
        self.query_one("#new-prompt").focus()

    @on(PromptInput.Left)
    def _cancel(self) -> None:
        self.dismiss(None)

    @on(PromptInput.Sent)
    @on(Input.Submitted)
    def _send(self) -> None:
        self._try()

    @work(exclusive=True)
    async def _try(self) -> None:
        prompt = self.query_one("#new-prompt", PromptInput).text
        if not prompt.strip():
            self._say("Write a prompt: what should the agent do?")
            self.query_one("#new-prompt").focus()
            return
        request = SpawnRequest(
            prompt=prompt,
            agent=self.query_one("#new-agent", Choice).value,
            cwd=self.query_one("#new-cwd", Input).value.strip(),
            model=self.query_one("#new-model", Input).value.strip() or None,
        )
        reason = await self._start(request)
        if reason is None:
            self.dismiss(None)
        else:
            self._say(reason)

    def _say(self, reason: str) -> None:
        self.query_one("#new-error", Static).update(Content(reason))
