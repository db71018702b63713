"""A front end that waits for ends is told of each end, whatever follows it."""

from recorded_sessions import lines, record, said

from agentdash.sessions.model.session import Status
from agentdash.sessions.service.manager import SessionManager


def test_a_session_that_works_again_at_once_is_reported_as_it_ended(monkeypatch):
    with SessionManager() as manager:
        session = record(manager, [("first", lines(said("an answer")))])

        def wait(store, over, timeout, settle):
            assert over()
            with store.database.transaction() as db:  # its live agent begins a turn by itself
                db.execute("UPDATE sessions SET status = 'running' WHERE id = ?", (session.id,))
            return True

        monkeypatch.setattr("agentdash.sessions.service.manager.wait_until", wait)
        [ended] = manager.wait([session.id])
        assert ended.status is Status.DONE
        assert manager.reader.by_id(session.id).status is Status.RUNNING
