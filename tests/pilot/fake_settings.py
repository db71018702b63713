"""The settings in force, with the agents that can be started, as the pilot tests need them."""

from agentdash.sessions.agents.base import OfferedSetting
from agentdash.sessions.service.lifecycle.agent_list import AgentInfo
from agentdash.sessions.settings.config import read_settings
from agentdash.sessions.settings.place import config_path

INSTRUCTIONS = OfferedSetting(key="instructions", help="Text to append to the agent's system prompt.", switch=False)
SEARCH = OfferedSetting(key="search", help="Live web search.", switch=True)


class FakeSettings:
    """The file of the test, with presets, templates and a project of its own."""

    def __init__(self):
        self.named_starts = {}
        """The presets of the settings."""
        self.named_prompts = {}
        """The templates of the settings."""
        self.project = None
        """The settings of each folder's project."""

    @property
    def path(self):
        return config_path()

    def loaded(self):
        return read_settings()

    def project_of(self, folder):
        return self.project

    def presets(self, folder=None):
        return self.named_starts

    def in_folder(self, folder, profile=None, *, later=False):
        return read_settings()

    def templates(self, folder=None):
        return self.named_prompts

    def agents(self, folder=None):
        def info(name, *, installed=True, **own):
            return AgentInfo(name=name, title=name.title(), installed=installed, hint=f"npm install {name}", **own)

        sandboxes = ("read-only", "workspace-write", "danger-full-access")
        return [
            info(
                "codex",
                mode_key="sandbox",
                modes=sandboxes,
                mode="workspace-write",
                model="gpt-5.5",
                dangerous=frozenset({"danger-full-access"}),
                unlimited="no-sandbox",
                offered=(INSTRUCTIONS, SEARCH),
            ),
            info(
                "claude",
                mode_key="permission_mode",
                modes=("acceptEdits", "plan"),
                mode="acceptEdits",
                offered=(INSTRUCTIONS,),
            ),
            info("gemini", installed=False),
        ]

    def default_agent(self, folder=None):
        return "codex"
