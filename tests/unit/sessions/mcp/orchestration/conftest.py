"""A lead outside any session."""

import pytest
from leading import Leading, lead_of

from agentdash.sessions.service.manager import SessionManager


@pytest.fixture
def lead(tmp_path, monkeypatch):
    """A lead whose workers are recorded."""
    monkeypatch.chdir(tmp_path)
    with SessionManager(caller=lead_of()) as manager:
        lead = Leading(manager)
        yield lead
        lead.close()
