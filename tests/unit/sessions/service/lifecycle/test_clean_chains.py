"""A clean-up, and sessions for which others wait."""

import pytest
from recorded_sessions import lines, record, said

from agentdash.sessions.model.session import Status
from agentdash.sessions.rules.launch import Start
from agentdash.sessions.service.manager import SessionManager


@pytest.mark.parametrize("dry_run", [False, True])
def test_a_clean_up_keeps_the_failed_session_for_which_another_one_waits(dry_run):
    with SessionManager() as manager:
        needed = record(manager, [("first", lines(said("an answer")))], last=Status.FAILED)
        other = record(manager, [("first", lines(said("an answer")))], last=Status.FAILED)
        waits = manager.spawn(Start("go on", agent="codex", cwd="/usr", after=needed.id))
        cleaned = manager.housekeeping.clean(0, dry_run=dry_run)
        assert ([one.id for one in cleaned.kept], [one.id for one in cleaned.deleted]) == ([needed.id], [other.id])
        assert manager.reader.by_id(waits.id).after == needed.id
        manager.stop(waits.id)
        assert needed.id in [one.id for one in manager.housekeeping.clean(0).deleted]
