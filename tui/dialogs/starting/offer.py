"""The choices of the dialog that starts a session, and the functions with which it plans and begins a start."""

from collections.abc import Awaitable, Callable, Mapping, Sequence

from msgspec import Struct, field

from agentdash.sessions.rules.launch import Launch, Start
from agentdash.sessions.service.lifecycle.agent_list import AgentInfo
from agentdash.sessions.service.projects.review import Review
from agentdash.sessions.settings.sections import Preset
from agentdash.tui.state.ui_state import LastStart
from agentdash.widgets.inputs.prompt_box import PromptTools


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
