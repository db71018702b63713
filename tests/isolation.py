"""Apart from the user: an environment in which agentdash finds a scratch folder and no session around itself."""

from pathlib import Path

import pytest

from agentdash.sessions.runner.caller import CLAUDE_SESSION
from agentdash.sessions.runner.processes import processes as procs

TAGS = (
    procs.SESSION_TAG,
    procs.RUN_TAG,
    procs.RUNNER_MARK,
    "NO_COLOR",
    "SSH_CONNECTION",
    "AGENTDASH_PROFILE",
    CLAUDE_SESSION,
)
"""What a test must not inherit."""


def isolate(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """Let the state and the settings be below a folder."""
    monkeypatch.setenv("AGENTDASH_HOME", str(folder / "state"))
    monkeypatch.setenv("AGENTDASH_CONFIG", str(folder / "config.toml"))
    monkeypatch.setenv("AGENTDASH_OWN_FILES", "writable")  # most agents of tests work in the folder above
    for tag in TAGS:
        monkeypatch.delenv(tag, raising=False)


def work_folder(folder: Path) -> str:
    """Make a folder to work in, beside the state and the settings: above them a limited agent is refused."""
    made = folder / "project"
    made.mkdir(exist_ok=True)
    return str(made)
