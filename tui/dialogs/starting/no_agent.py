"""The dialog that opens instead of New session if no agent is installed."""

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Static

from agentdash.sessions.service.lifecycle.agent_list import AgentInfo
from agentdash.tui.texts.screen_texts import install_lines


class NoAgentScreen(ModalScreen[None]):
    """Shows the command that installs each agent."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q", "dismiss(None)", "close", show=False)]

    def __init__(self, agents: Sequence[AgentInfo]) -> None:
        super().__init__()
        self._agents = agents

    def compose(self) -> ComposeResult:
        """Yield the commands, and the way to try agentdash without an agent."""
        with Vertical(classes="dialog") as dialog:
            dialog.border_title = "No agent installed"
            yield Static("\n".join(install_lines(self._agents)), markup=False)
            yield Static(
                "agentdash searches PATH; set `bin` in [agents.codex] to use another path.\n"
                "Try it without one: `agentdash demo`.",
                markup=False,
                classes="consequence",
            )
            yield Static("Esc close", classes="keys")
