"""The offer of the dialog that starts a session: choices, the settings of its folder, the functions that start."""

from collections.abc import Awaitable, Callable, Mapping, Sequence

from msgspec import Struct, field
from textual.widgets import Static

from agentdash.sessions.rules.launch import Launch, Start
from agentdash.sessions.service.lifecycle.agent_list import AgentInfo
from agentdash.sessions.service.projects.review import Review
from agentdash.sessions.settings.sections import Preset
from agentdash.sessions.text.sanitize import clean
from agentdash.tui.state.ui_state import LastStart
from agentdash.tui.texts.project_texts import project_line
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


class FolderSettings(Struct, frozen=True, kw_only=True):
    """The agents and the presets with the settings of a folder's project."""

    agents: Sequence[AgentInfo]
    presets: Mapping[str, Preset] = field(default_factory=dict)
    default_agent: str = ""
    project: Review | None = None
    """The project's file, trusted or not; None if the folder has none."""


SettingsIn = Callable[[str], Awaitable[FolderSettings | None]]
"""Returns the settings of a folder; None if they cannot be read."""

ReviewIn = Callable[[str], Awaitable[bool]]
"""Shows the settings of a folder's project; returns whether the user changed the trust in them."""


class ProjectLine(Static):
    """Shows the state of the folder's project, and nothing without one."""

    DEFAULT_CSS = "ProjectLine { height: auto; }"

    def __init__(self, project: Review | None, key: str) -> None:
        """``key`` shows the project's settings; empty if no key does."""
        super().__init__(markup=False, id="new-project")
        self._key = key
        self._project = project

    def on_mount(self) -> None:
        """Show the first state."""
        self.show_project(self._project)

    def show_project(self, project: Review | None) -> None:
        """Show another project."""
        self._project = project
        text = clean(project_line(project, self._key))
        self.update(text)
        self.display = bool(text)

    def beyond(self, warnings: Sequence[str]) -> list[str]:
        """Return the warnings of a start without the one that this line shows."""
        return [one for one in warnings if self._project is None or one != self._project.note]
