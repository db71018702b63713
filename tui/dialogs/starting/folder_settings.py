"""The settings of a start in a folder, as the dialog that starts a session shows them."""

from collections.abc import Awaitable, Callable, Mapping, Sequence

from msgspec import Struct, field
from textual.widgets import Static

from agentdash.sessions.service.lifecycle.agent_list import AgentInfo
from agentdash.sessions.service.projects.review import Review
from agentdash.sessions.settings.sections import Preset
from agentdash.sessions.text.sanitize import clean
from agentdash.tui.texts.project_texts import project_line


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

    DEFAULT_CSS = """
    ProjectLine { height: auto; }
    """

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
