"""Starts in a folder with agentdash's own files: refused for a mode that writes there, with what to do instead."""

import os
import subprocess
import sys

import pytest

from agentdash.sessions.model.errors import UsageError
from agentdash.sessions.rules.launch import Start


@pytest.fixture(autouse=True)
def guarded(monkeypatch):
    monkeypatch.delenv("AGENTDASH_OWN_FILES")


def test_a_start_is_refused_and_leaves_nothing(manager, tmp_path):
    with pytest.raises(UsageError, match="-C FOLDER"):
        manager.spawn(Start("x", agent="codex", cwd=str(tmp_path)))
    (tmp_path / "link").symlink_to(tmp_path)
    with pytest.raises(UsageError, match="state folder"):
        manager.spawn(Start("x", agent="codex", cwd=str(tmp_path / "link")))
    assert manager.reader.sessions() == []
    words = [sys.executable, "-m", "agentdash", "spawn", "-a", "codex", "x"]
    done = subprocess.run(words, capture_output=True, text=True, check=False, cwd=tmp_path, env=os.environ)
    assert (done.returncode, done.stdout) == (2, "")
    assert "can write in" in done.stderr


def test_a_mode_that_only_reads_cannot_become_one_that_writes(manager, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", "/nonexistent")  # the agent need not run
    session = manager.spawn(Start("x", agent="codex", cwd=str(tmp_path), options={"sandbox": "read-only"}))
    manager.wait([session.id], timeout=60)
    with pytest.raises(UsageError, match="state folder"):
        manager.adjuster.mode(session.id, "workspace-write")
    project = tmp_path / "project"
    project.mkdir()
    manager.wait([manager.spawn(Start("x", agent="codex", cwd=str(project))).id], timeout=60)
