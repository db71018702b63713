"""The settings in force, for front ends: those of the user, those of a project, and what can be started with them."""

from pathlib import Path
from typing import TYPE_CHECKING

from agentdash.sessions.service.lifecycle.agent_list import AgentInfo, agent_list
from agentdash.sessions.settings.config import Config, Loaded, load_config, read_settings
from agentdash.sessions.settings.place import config_path
from agentdash.sessions.settings.sections import Preset, PromptTemplate

if TYPE_CHECKING:
    from agentdash.sessions.service.projects.review import Review


class SettingsReader:
    """Reads the settings from disk at each query; ``ConfigError``: the user's own cannot be used, or lack the profile.

    Args:
        home: the state folder, which has the trust in projects.
        path: the file; None takes ``$AGENTDASH_CONFIG`` or the platform's.
    """

    def __init__(self, home: Path, path: Path | None = None) -> None:
        self._home = home
        self._path = path
        self.by_agent = False
        """True if an agent asks: the settings of a project are those that the user trusted last."""

    @property
    def path(self) -> Path:
        """The path of the settings file, which need not exist."""
        return self._path or config_path()

    def config(self, profile: str | None = None) -> Config:
        """Read the settings from disk now, under a profile; None takes ``$AGENTDASH_PROFILE``, "" no profile."""
        return load_config(self._path, profile)

    def loaded(self) -> Loaded:
        """Return the settings with the file that they come from."""
        return read_settings(self._path)

    def in_folder(self, folder: str, profile: str | None = None, *, later: bool = False) -> Loaded:
        """Return the settings of a start in a folder ("" for the current one), with those of a trusted project.

        ``later`` is True for a later turn of a session: see :func:`..projects.review.in_folder`.
        """
        from agentdash.sessions.service.projects.review import in_folder

        own = read_settings(self._path, profile)
        return in_folder(own, folder, self._home, later=later, by_agent=self.by_agent)

    def project_of(self, folder: str) -> "Review | None":
        """Return the settings of a folder's project, trusted or not; None if it has none."""
        from agentdash.sessions.service.projects.review import project_of

        return project_of(self.loaded(), folder, self._home)

    def presets(self, folder: str | None = None) -> dict[str, Preset]:
        """Return the presets of the settings; with a folder, also those of its project."""
        return self._config_in(folder).presets

    def default_agent(self, folder: str | None = None) -> str:
        """Return the agent that is started when none is named; with a folder, that of its project."""
        return self._config_in(folder).default_agent

    def _config_in(self, folder: str | None) -> Config:
        return self.config() if folder is None else self.in_folder(folder).config

    def agents(self, folder: str | None = None) -> list[AgentInfo]:
        """List every agent that takes a prompt here, and whether its command is installed.

        With a folder, their settings are those of a start in it.
        """
        return agent_list(self._config_in(folder))

    def templates(self, folder: str | None = None) -> dict[str, PromptTemplate]:
        """Return the prompt templates of the settings; with a folder, also those of its project."""
        return self._config_in(folder).templates
