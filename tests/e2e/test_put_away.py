"""The archive and the trash as every front end finds them: listed by a filter, read, and filled many at once."""

import json

import pytest
from e2e.test_keeping import ended
from msgspec import structs
from verbs import verb

from agentdash.sessions.model.errors import UnknownSessionError
from agentdash.sessions.model.session import Status
from agentdash.sessions.service.lifecycle.recovery.rebuild import rebuild
from agentdash.sessions.service.lifecycle.stop_family import NOW


def ls(manager, *words):
    done = verb("ls", *words)
    assert done.returncode == 0
    return done.stdout


def found(manager, *words):
    return {session["id"] for session in json.loads(ls(manager, "--json", *words))}


@pytest.mark.smoke
def test_a_filter_lists_what_is_archived_and_what_is_in_the_trash(manager):
    kept, archived, deleted, both = (ended(manager, "echo", name) for name in ("kept", "arch", "gone", "both"))
    for one in (archived, both):
        manager.housekeeping.archive(one.id)
    for one in (deleted, both):
        manager.delete(one.id)
    assert found(manager) == {kept.id}
    assert found(manager, "-f", "is:archived") == {archived.id}
    assert found(manager, "-f", "is:deleted") == {deleted.id, both.id}
    assert found(manager, "-f", "is:deleted,archived,ended") == {kept.id, archived.id, deleted.id, both.id}
    assert found(manager, "-f", "is:deleted gone") == {deleted.id}
    assert found(manager, "-f", "!is:archived") == {kept.id}
    assert found(manager, "-f", "is:deleted", "-s", "failed") == set()
    [told] = json.loads(ls(manager, "--json", "-f", "is:deleted gone"))
    assert told["deleted_at"] > told["ended_at"]
    assert told["attention"] is None
    assert "✓ deleted" in ls(manager, "-f", "is:deleted gone")
    assert "✓ archived" in ls(manager, "--archived")


def test_a_deleted_session_can_be_read_and_other_verbs_say_where_it_is(manager):
    session = ended(manager, "echo", "hello")
    before = manager.reader.steps.trajectory(session.id)
    manager.delete(session.id)
    opened = manager.reader.steps.open_trajectory(session.id)
    assert list(opened.every_step(None)) == before
    opened.close()
    for ref in (session.id, session.id[:6]):
        with pytest.raises(
            UnknownSessionError, match=f"{session.id[:8]} is in the trash. Restore it: agentdash restore"
        ):
            manager.reader.get(ref)
    with pytest.raises(UnknownSessionError, match="No session with id"):
        manager.reader.get("zzzz")
    manager.housekeeping.restore(session.id)
    assert manager.reader.get(session.id).deleted_at is None


def test_a_deleted_session_whose_record_is_damaged_is_listed_too(manager):
    session = ended(manager)
    manager.delete(session.id)
    (manager.reader.home / "trash" / session.id / "session.json").write_text("{")
    [one] = manager.reader.put_away()
    assert (one.id, one.status, one.deleted_at is not None) == (session.id, Status.LOST, True)
    assert "cannot be read" in one.reason


def test_what_was_put_away_is_counted_without_what_is_in_use_and_what_is_no_session(manager):
    assert manager.reader.count_put_away() == (0, 0)
    archived, deleted, damaged, _ = [ended(manager) for _ in range(4)]
    manager.housekeeping.archive(archived.id)
    manager.delete(deleted.id)
    manager.delete(damaged.id)
    (manager.reader.home / "trash" / damaged.id / "session.json").write_text("{")
    (manager.reader.home / "trash" / "notes").mkdir()
    assert manager.reader.count_put_away() == (1, 2)


def test_many_are_archived_in_one_commit_and_each_folder_records_it(manager, database_at_rest):
    sessions = [ended(manager) for _ in range(3)]
    running = manager.started(manager.run(["sleep", "600"]).id)
    ids = [one.id for one in sessions]
    manager.housekeeping.archive(ids[0])
    seq, told = manager.reader.changes(0).seq, []
    assert manager.housekeeping.archive_all([*ids, running.id, "no-such-session"], each=told.append) == ids[1:]
    assert told == [1, 2]
    assert set(manager.reader.changes(seq).removed) == set(ids[1:])
    assert {one.id for one in manager.reader.sessions()} == {running.id}
    assert manager.housekeeping.archive_all([*ids, running.id], away=False) == ids
    assert manager.housekeeping.archive_all(ids, away=False) == []
    assert {one.id for one in manager.reader.sessions()} == {*ids, running.id}
    manager.housekeeping.archive_all(ids[:2])
    manager.stop(running.id, NOW)
    database_at_rest().unlink()
    rebuild(manager.layout)
    assert {one.id for one in manager.reader.sessions(archived=True)} == set(ids[:2])


def test_a_bulk_archive_that_fails_archives_none(manager, monkeypatch):
    sessions = [ended(manager) for _ in range(2)]
    ids = [one.id for one in sessions]

    def broken():
        yield ids[0]
        raise RuntimeError

    with pytest.raises(RuntimeError):
        manager.store.archive_all(broken(), 1)
    assert [structs.replace(one, archived_at=None) for one in manager.reader.sessions()] == manager.reader.sessions()
