"""A project with a settings file, and the user's own settings."""

from pathlib import Path

import pytest

from agentdash.sessions.service.projects.file import NAME, read
from agentdash.sessions.service.projects.review import in_folder
from agentdash.sessions.service.projects.trust import TrustStore
from agentdash.sessions.settings.config import Loaded, read_settings


class Place:
    """A state folder, the user's own settings, and a repository with a folder in it."""

    def __init__(self, tmp_path: Path) -> None:
        self.home = tmp_path / "state"
        self.own_file = tmp_path / "config.toml"
        self.root = tmp_path / "repository"
        self.folder = self.root / "src"
        self.folder.mkdir(parents=True)
        (self.root / ".git").mkdir()
        self.file = self.root / NAME
        self.store = TrustStore(self.home)

    def own(self, text: str) -> None:
        self.own_file.write_text(text)

    def write(self, text: str, *, trusted: bool = False) -> None:
        self.file.write_text(text)
        self.file.chmod(0o600)
        if trusted:
            self.store.put(read(self.file))

    def loaded(self) -> Loaded:
        return read_settings(self.own_file, "")

    def settings(self, *, later: bool = False) -> Loaded:
        return in_folder(self.loaded(), str(self.folder), self.home, later=later)


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    monkeypatch.setenv("HOME", str(tmp_path))
    return Place(tmp_path)
