"""What the end-to-end tests share: a manager on a scratch state folder, ended with everything it started."""

import contextlib

import pytest

from agentdash.sessions.errors import AgentdashError
from agentdash.sessions.manager import SessionManager


@pytest.fixture
def manager(monkeypatch, tmp_path):
    """A manager whose sessions are all stopped at the end of the test."""
    monkeypatch.chdir(tmp_path)
    with SessionManager() as manager:
        yield manager
        for session in manager.sessions():
            with contextlib.suppress(AgentdashError):
                manager.stop(session.id, now=True)
