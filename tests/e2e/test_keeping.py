"""What is kept and what goes: the trash and back, the archive, the clean-up, and a database made anew."""

import json
import os
import shutil
import sqlite3
import sys
from itertools import product

import pytest
from msgspec import structs
from verbs import verb

from agentdash.sessions.model.errors import (
    AmbiguousSessionError,
    SessionBusyError,
    StoreError,
    UnknownSessionError,
    UsageError,
)
from agentdash.sessions.model.session import Status
from agentdash.sessions.rules.launch import Start
from agentdash.sessions.runner.caller import Caller
from agentdash.sessions.runner.processes import processes, runner_lock
from agentdash.sessions.service.lifecycle.recovery.rebuild import rebuild
from agentdash.sessions.service.manager import SessionManager
from agentdash.sessions.storage.files import trash
from agentdash.sessions.storage.paths import Layout
from agentdash.sessions.storage.prompts.drafts import DraftFiles

pytestmark = pytest.mark.usefixtures("scripted_agent")

DAY = 86_400


def ended(manager, *argv):
    """A session that has ended; its runner has left too, unless processes keep it."""
    [session] = manager.wait([manager.run(argv or ["true"]).id], timeout=60)
    if not session.left:
        runner_lock.hold(manager.layout.session(session.id).lock, timeout=60).release()
    return session


def whole(manager, session_id):
    """All that is known of a session, but for numbers that belong to one database."""
    prompts = [(p.turn, p.text, p.state) for p in manager.reader.prompts(session_id)]
    return (
        manager.reader.get(session_id),
        manager.reader.turns(session_id),
        prompts,
        manager.reader.outputs.part(session_id).read(),
    )


def make_older(manager, session_id, seconds):
    with manager.store.database.transaction() as db:
        db.execute("UPDATE sessions SET ended_at = ended_at - ? WHERE id = ?", (round(seconds * 1000), session_id))


@pytest.mark.smoke
def test_a_deleted_session_comes_back_as_it_was(manager):
    [first] = manager.wait([manager.spawn(Start("hello [[script:quick]]", agent="scripted")).id], timeout=60)
    manager.prompts.inject(first.id, "more [[script:quick]]")
    manager.wait([first.id], timeout=60)
    manager.housekeeping.mark_seen(first.id, 7)
    before = whole(manager, first.id)
    assert before[0].seen_steps == 7
    seq = manager.reader.changes(0).seq
    manager.delete(first.id)
    assert manager.reader.changes(seq).removed == (first.id,)
    assert [trashed.id for trashed in manager.reader.deleted()] == [first.id]
    manager.housekeeping.restore("@last")
    assert whole(manager, first.id) == before
    assert [session.id for session in manager.reader.changes(seq).updated] == [first.id]
    assert manager.reader.changes(seq).removed == ()
    manager.prompts.inject(first.id, "and on [[script:quick]]")
    assert manager.wait([first.id], timeout=60)[0].turn == 3


def test_what_cannot_be_restored_is_told(manager):
    session = ended(manager)
    with pytest.raises(UsageError, match="neither deleted nor archived"):
        manager.housekeeping.restore(session.id)
    with pytest.raises(UnknownSessionError, match="No deleted session"):
        manager.housekeeping.restore("zzzz")
    with pytest.raises(UnknownSessionError):
        manager.housekeeping.restore("@last")
    manager.delete(session.id)
    (manager.reader.home / "trash" / session.id / "session.json").write_text("{")
    with pytest.raises(StoreError, match=r"session\.json cannot be read"):
        manager.housekeeping.restore(session.id)
    assert [trashed.title for trashed in manager.reader.deleted()] == ["?"]


def test_an_ambiguous_beginning_lists_the_deleted_ones(manager, similar_ids):
    sessions = [ended(manager) for _ in range(2)]
    for session in sessions:
        manager.delete(session.id)
    with pytest.raises(AmbiguousSessionError) as refused:
        manager.housekeeping.restore(similar_ids)
    assert all(session.id[:13] in str(refused.value) for session in sessions)


def test_an_archived_session_is_out_of_the_way_and_no_clean_up_takes_it(manager):
    session = ended(manager)
    seq = manager.reader.changes(0).seq
    manager.housekeeping.archive(session.id)
    assert manager.reader.sessions() == []
    assert [s.id for s in manager.reader.sessions(archived=True)] == [session.id]
    assert manager.reader.changes(seq).removed == (session.id,)
    make_older(manager, session.id, 100 * DAY)
    assert manager.housekeeping.clean().deleted == ()
    assert manager.housekeeping.restore(session.id).archived_at is None
    assert [s.id for s in manager.reader.sessions()] == [session.id]


def test_what_runs_is_not_archived(manager):
    session = manager.started(manager.run(["sleep", "600"]).id)
    with pytest.raises(SessionBusyError, match="only ended sessions can be archived"):
        manager.housekeeping.archive(session.id)


def test_a_clean_up_counts_from_the_end_and_spares_sessions_that_run(manager, tmp_path):
    old, young = ended(manager), ended(manager)
    leaves = ended(manager, "sh", "-c", "sleep 600 & exit 0")
    running = manager.started(manager.run(["sleep", "600"]).id)
    for session in (old, leaves):
        make_older(manager, session.id, 8 * DAY)
    with manager.store.database.transaction() as db:
        db.execute("UPDATE sessions SET created_at = 0")
    told = manager.housekeeping.clean(7 * DAY, dry_run=True)
    assert [s.id for s in told.deleted] == [old.id]
    assert len(manager.reader.sessions()) == 4
    cleaned = manager.housekeeping.clean(7 * DAY)
    assert ([s.id for s in cleaned.deleted], [s.id for s in cleaned.kept]) == ([old.id], [leaves.id])
    assert {s.id for s in manager.reader.sessions()} == {young.id, leaves.id, running.id}
    assert manager.reader.get(running.id).status is Status.RUNNING
    assert manager.housekeeping.restore(old.id).id == old.id


def test_the_trash_is_emptied_of_what_is_old_and_of_nothing_else(manager, tmp_path):
    old, young = ended(manager), ended(manager)
    for session in (old, young):
        manager.delete(session.id)
    trash = manager.reader.home / "trash"
    foreign = trash / "notes-of-mine"
    foreign.mkdir()
    (foreign / "important").write_text("mine")
    elsewhere = tmp_path / "elsewhere" / "turns"
    elsewhere.mkdir(parents=True)
    (trash / "0123456789abcdef").symlink_to(elsewhere.parent)
    for name in (old.id, "notes-of-mine"):
        os.utime(trash / name, (0, 0))
    cleaned = manager.housekeeping.clean(7 * DAY)
    assert [trashed.id for trashed in cleaned.removed] == [old.id]
    assert sorted(path.name for path in trash.iterdir()) == sorted(["notes-of-mine", "0123456789abcdef", young.id])
    assert elsewhere.is_dir()


@pytest.mark.smoke
@pytest.mark.parametrize("damage", ["gone", "garbage"])
def test_a_lost_database_is_made_anew_from_the_folders(manager, damage, database_at_rest):
    done, failed = ended(manager), ended(manager, "false")
    [talked] = manager.wait([manager.spawn(Start("hello [[script:quick]]", agent="scripted")).id], timeout=60)
    before = [whole(manager, session.id) for session in (done, failed, talked)]
    database = database_at_rest()
    if damage == "gone":
        database.unlink()
    else:
        database.write_bytes(b"garbage" * 5000)
    rebuilt = rebuild(manager.layout)
    assert sorted(rebuilt.restored) == sorted(session.id for session in (done, failed, talked))
    after = [whole(manager, session.id) for session in (done, failed, talked)]
    assert [session.unread for session, *_ in after] == [0, 0, 0]  # it is not known what was seen
    assert [session.attention for session, *_ in after] == [True, True, True]
    unmarked = [(structs.replace(session, seen_at=None), *rest) for session, *rest in after]
    assert unmarked == before
    aside = [
        path for path in manager.reader.home.glob("agentdash.db.aside-*") if not path.name.endswith(("-wal", "-shm"))
    ]
    assert len(aside) == (damage == "garbage")
    assert rebuild(manager.layout).restored == ()


def make_version_14(path):
    """Make the tables of a database those of schema 14."""
    with sqlite3.connect(path) as db:
        for trigger in ("sessions_removed", "use_lacks", "use_lacked"):
            db.execute(f"DROP TRIGGER {trigger}")
        for table, column in product(("sessions", "tombstones"), ("cost_missing", "tokens_missing")):
            db.execute(f"ALTER TABLE {table} DROP COLUMN {column}")
        db.execute("PRAGMA user_version = 14")
    db.close()


def test_a_database_of_an_older_version_is_refused_and_made_anew_from_the_folders(manager, database_at_rest):
    done, failed = ended(manager), ended(manager, "false")
    [talked] = manager.wait([manager.spawn(Start("hello [[script:quick]]", agent="scripted")).id], timeout=60)
    manager.prompts.inject(talked.id, "more [[script:quick]]")
    manager.wait([talked.id], timeout=60)
    manager.conversation.rewind(talked.id, 1)
    ids = [session.id for session in (done, failed, talked)]
    marks, before = manager.store.marks.of_session(talked.id), [whole(manager, one) for one in ids]
    database = database_at_rest()
    make_version_14(database)
    old = database.read_bytes()
    refused = verb("ls")
    assert (refused.returncode, refused.stdout) == (1, "")
    assert "(schema 14; this one has 16). Rebuild it from the session folders: agentdash doctor" in refused.stderr
    assert database.read_bytes() == old
    rebuilt = verb("doctor", "--rebuild")
    [aside] = database.parent.glob("agentdash.db.aside-*")
    assert aside.read_bytes() == old
    moved, lost, restored = rebuilt.stderr.splitlines()
    assert moved == f"The database could not be used; moved to {aside}."
    assert lost.startswith("Only that file has: asks and answers,")
    assert restored == "3 sessions restored."
    after = [whole(manager, one) for one in ids]
    assert [(structs.replace(session, seen_at=None), *rest) for session, *rest in after] == before
    assert (manager.store.marks.of_session(talked.id), len(marks)) == (marks, 1)


def test_sessions_that_an_older_version_runs_are_named_and_can_be_stopped(manager):
    session = manager.started(manager.run(["sleep", "600"]).id)
    lock = manager.layout.session(session.id).lock
    lock.write_bytes(b"")  # a runner of schema 14 does not sign it
    manager.close()
    with sqlite3.connect(manager.layout.database) as db:
        db.execute("PRAGMA user_version = 14")
    for words in (["ls"], ["doctor", "--rebuild"]):
        refused = verb(*words)
        assert (refused.returncode, refused.stdout) == (1, "")
        assert f'have to end first: {session.short_id} "sleep 600". Wait, or stop them' in refused.stderr
    assert list(manager.reader.home.glob("agentdash.db.aside-*")) == []
    assert verb("stop", session.id).returncode == 0
    runner_lock.hold(lock, timeout=60).release()
    assert "1 session restored.\n" in verb("doctor", "--rebuild").stderr
    assert manager.reader.get(session.id).status is Status.STOPPED


def test_a_rebuild_with_runners_at_work_loses_none_of_them(manager, tmp_path, wait_until):
    os.mkfifo(tmp_path / "go")
    (tmp_path / "config.toml").write_text("[queue]\nmax_running = 2\n")
    works = manager.started(manager.run(["sh", "-c", "echo hello; read line < go; echo bye"]).id)
    sleeps = manager.started(manager.run(["sleep", "600"]).id)
    waits = manager.spawn(Start("hello [[script:quick]]", agent="scripted"))
    records = [manager.reader.home / "sessions" / session.id / "session.json" for session in (works, sleeps)]
    wait_until(lambda: all('"running"' in record.read_text() for record in records), what="the records of the turns")
    (manager.reader.home / "agentdash.db").unlink()
    rebuild(manager.layout)
    assert {str(s.status) for s in manager.reader.sessions()} == {"running", "queued"}
    (tmp_path / "go").write_text("\n")
    ends = manager.wait([works.id, waits.id], timeout=60)
    assert [session.status for session in ends] == [Status.DONE, Status.DONE]
    assert manager.reader.outputs.part(works.id).read() == b"hello\nbye\n"
    assert len(manager.stop(sleeps.id).ended) == 1


def test_a_folder_that_cannot_be_read_is_skipped_and_told(manager, wait_until):
    good, bad = ended(manager), ended(manager)
    runners = [manager.reader.turns(one.id)[-1].runner_pid for one in (good, bad)]
    wait_until(lambda: not any(map(processes.by_pid, runners)), what="the end of all that use the database")
    (manager.reader.home / "sessions" / bad.id / "session.json").write_text('{"format": 99}')
    (manager.reader.home / "sessions" / "not-a-session-but-long-enough").mkdir()
    manager.close()
    (manager.reader.home / "agentdash.db").unlink()
    rebuilt = rebuild(manager.layout)
    assert rebuilt.restored == (good.id,)
    assert len(rebuilt.skipped) == 2
    shutil.rmtree(manager.reader.home / "sessions" / bad.id)


def test_a_full_disk_does_not_keep_anybody_from_stopping(manager, monkeypatch, process_book, wait_until):
    session = manager.started(manager.run(["sh", "-c", "setsid sleep 600 & sleep 601"]).id)
    wait_until(lambda: len(manager.reader.processes(session.id)) == 3, what="three processes")
    process_book.add(manager.reader.processes(session.id))

    def full(*_):
        raise StoreError("The disk is full: agentdash.db cannot be written.")

    monkeypatch.setattr(manager.store, "request", full)
    receipt = manager.stop(session.id)
    assert (len(receipt.ended), receipt.left) == (3, ())
    assert receipt.note == "not recorded yet: The disk is full: agentdash.db cannot be written."
    assert process_book.alive() == []
    wait_until(lambda: manager.reader.get(session.id).status is Status.STOPPED, what="the runner's record")


def test_several_are_stopped_at_once_and_one_that_fails_spoils_no_other(manager, monkeypatch):
    sessions = [manager.started(manager.run(["sleep", "600"]).id) for _ in range(3)]
    stop = SessionManager.stop

    def one_fails(self, ref, *how):
        if ref == sessions[1].id:
            raise SessionBusyError("it runs on elsewhere")
        return stop(self, ref, *how)

    monkeypatch.setattr(SessionManager, "stop", one_fails)
    first, second, third = manager.stop_all([session.id for session in sessions])
    assert isinstance(second, SessionBusyError)
    assert [len(receipt.ended) for receipt in (first, third)] == [1, 1]
    monkeypatch.undo()


def test_processes_with_what_they_cost(manager, wait_until):
    busy = "import sys\nprint('ready', flush=True)\nwhile True: pass"
    session = manager.started(manager.run([sys.executable, "-c", busy]).id)
    [process] = wait_until(
        lambda: [p for p in manager.reader.processes(session.id) if (p.cpu_s or 0) > 0.1], what="some work"
    )
    assert process.rss_bytes > 1_000_000
    assert processes.alive(process.pid, processes.by_pid(process.pid).start)


def test_the_verbs_say_what_they_did(manager):
    session = ended(manager)
    short = session.id[:8]
    assert verb("archive", short).stdout == f'archived {short} "true"\n'
    assert short in verb("ls", "--archived").stdout
    assert verb("restore", short).stdout == f'restored {short} "true"\n'
    assert verb("rename", short, "the release").stdout == f'renamed {short} "the release"\n'
    assert verb("pin", short).stdout == f'pinned {short} "the release"\n'
    assert json.loads(verb("pin", short, "--json").stdout)[0]["pinned_at"] is not None
    assert verb("pin", "--off", short).stdout == f'unpinned {short} "the release"\n'
    told = json.loads(verb("rename", short, "", "--json").stdout)
    assert (told["id"], told["title"], told["pinned_at"]) == (session.id, "true", None)
    refused = verb("rename", short, "x" * 201)
    assert (refused.returncode, refused.stderr) == (2, "agentdash: The title has 201 characters; the maximum is 200.\n")
    words = {"COMP_WORDS": "agentdash rename ", "COMP_CWORD": "2"}
    completed = verb(_AGENTDASH_COMPLETE="bash_complete", **words)
    assert short in completed.stdout
    assert f"(undo: agentdash restore {short})" in verb("rm", short).stdout
    assert short in verb("restore").stdout
    assert verb("restore", "--json").stdout.startswith(f'[{{"id":"{session.id}"')
    assert verb("restore", "@last").returncode == 0
    assert "0 sessions would be deleted" in verb("clean", "--dry-run").stdout
    assert f"deleted  {short}" in verb("clean", "--older-than", "0").stdout
    assert verb("clean", "--older-than", "soon").returncode == 2
    assert "1 session removed from the trash" in verb("clean", "--older-than", "0").stdout
    assert verb("restore").stdout == "The trash is empty.\n"
    running = manager.started(manager.run(["sleep", "600"]).id)
    assert "sleep 600" in verb("ps", running.id).stdout
    assert "sleep 600" in verb("ps", running.id, "--json").stdout
    (manager.reader.home / "agentdash.db").unlink()
    rebuilt = verb("doctor", "--rebuild")
    assert "1 session restored" in rebuilt.stderr
    assert "ok, schema" in rebuilt.stdout


def test_a_clean_up_ends_nothing_that_began_meanwhile(manager, monkeypatch):
    old = ended(manager)
    make_older(manager, old.id, 8 * DAY)
    empty = trash.empty

    def then_somebody_retries(*args, **named):
        manager.prompts.retry(old.id)
        return empty(*args, **named)

    monkeypatch.setattr(trash, "empty", then_somebody_retries)
    assert manager.housekeeping.clean(7 * DAY).deleted == ()
    [again] = manager.wait([old.id], timeout=60)
    assert (again.turn, again.status) == (2, Status.DONE)


def test_a_session_that_goes_on_is_not_archived_any_more(manager):
    session = ended(manager)
    manager.housekeeping.archive(session.id)
    manager.prompts.retry(session.id)
    assert [s.id for s in manager.reader.sessions()] == [session.id]
    manager.wait([session.id], timeout=60)


def test_a_restore_that_fails_leaves_the_session_in_the_trash(manager, monkeypatch):
    session = ended(manager)
    manager.delete(session.id)

    def fails(*_):
        raise StoreError("The disk is full")

    monkeypatch.setattr(trash, "restore", fails)
    with pytest.raises(StoreError, match="disk is full"):
        manager.housekeeping.restore(session.id)
    monkeypatch.undo()
    assert manager.housekeeping.restore(session.id).id == session.id


def test_a_queued_session_that_was_stopped_stays_so_after_a_rebuild(manager, tmp_path):
    (tmp_path / "config.toml").write_text("[queue]\nmax_running = 1\n")
    running = manager.started(manager.run(["sleep", "600"]).id)
    never = manager.run(["touch", "ran"])
    manager.stop(never.id)
    manager.housekeeping.archive(never.id)
    manager.close()
    for name in ("agentdash.db", "agentdash.db-wal", "agentdash.db-shm"):
        (manager.reader.home / name).unlink(missing_ok=True)
    rebuild(manager.layout, 1)
    assert manager.reader.get(never.id).status is Status.STOPPED
    assert manager.reader.get(never.id).archived_at is not None
    manager.stop(running.id)
    assert not (tmp_path / "ran").exists()


def test_one_odd_record_does_not_end_a_rebuild(manager):
    good, odd, foreign = ended(manager), ended(manager), ended(manager)
    record = manager.reader.home / "sessions" / odd.id / "session.json"
    record.write_text(record.read_text().replace('"launches": [', '"launches": [], "gone": [', 1))
    other = manager.reader.home / "sessions" / foreign.id / "session.json"
    other.write_text((manager.reader.home / "sessions" / good.id / "session.json").read_text())
    manager.close()
    for name in ("agentdash.db", "agentdash.db-wal", "agentdash.db-shm"):
        (manager.reader.home / name).unlink(missing_ok=True)
    rebuilt = rebuild(manager.layout)
    assert set(rebuilt.restored) == {good.id, odd.id, foreign.id}
    assert manager.reader.get(good.id).title == "true"
    # What cannot be read is made again from the turn files, and kept beside it.
    assert {manager.reader.get(session.id).status for session in (odd, foreign)} == {Status.LOST}
    assert all(path.with_name("session.json.damaged").exists() for path in (record, other))


def test_what_others_committed_is_seen_also_after_an_error(manager):
    store = manager.store
    before = store.data_version()
    store.database.close()  # what an error does
    verb("run", "--wait", "--", "true")
    assert store.data_version() != before


def test_indexes_go_with_their_sessions(manager):
    session = ended(manager)
    cache = manager.reader.home / "cache"
    cache.mkdir()
    own, stray = cache / f"{session.id}.1.index", cache / "00000000-gone.1.index"
    for path in (own, stray):
        path.write_bytes(b"")
    manager.housekeeping.clean(dry_run=True)
    assert stray.exists()
    manager.housekeeping.clean()
    assert (own.exists(), stray.exists()) == (True, False)
    manager.delete(session.id)
    assert not own.exists()


def test_a_title_is_cleaned_kept_on_disk_and_given_back(manager):
    session = ended(manager, "echo", "hello")
    seq = manager.reader.changes(0).seq
    manager.housekeeping.mark_seen(session.id)
    renamed = manager.housekeeping.rename(session.id[:8], "  \x1b[31mthe\n  release\u202e ")
    assert (renamed.title, renamed.task) == ("the release", "echo hello")
    assert [changed.title for changed in manager.reader.changes(seq).updated] == ["the release"]
    assert renamed.attention is False
    assert '"the release"' in (manager.reader.home / "sessions" / session.id / "session.json").read_text()
    assert manager.housekeeping.rename(session.id, "x" * 200).title == "x" * 200
    assert manager.housekeeping.rename(session.id, " \n").title == session.title == "echo hello"


@pytest.mark.parametrize(
    ("title", "why"),
    [("x" * 201, "201 characters; the maximum is 200"), ("a\0b", "NUL byte"), ("\ud800", "not UTF-8")],
)
def test_a_title_that_is_not_valid_changes_nothing(manager, title, why):
    session = ended(manager)
    with pytest.raises(UsageError, match=why):
        manager.housekeeping.rename(session.id, title)
    assert manager.reader.get(session.id).title == session.title
    with pytest.raises(UnknownSessionError):
        manager.housekeeping.rename("zzzz", "x")


def test_a_running_session_is_renamed_and_pinned_too(manager, tmp_path):
    os.mkfifo(tmp_path / "go")
    session = manager.started(manager.run(["sh", "-c", "read line < go"]).id)
    manager.housekeeping.rename(session.id, "the long one")
    assert manager.housekeeping.pin(session.id).pinned_at is not None
    (tmp_path / "go").write_text("\n")
    [done] = manager.wait([session.id], timeout=60)
    assert (done.status, done.title) == (Status.DONE, "the long one")
    assert done.pinned_at is not None


def test_a_pin_stays_until_it_is_taken_off(manager):
    session = ended(manager)
    first = manager.housekeeping.pin(session.id).pinned_at
    assert manager.housekeeping.pin(session.id).pinned_at == first
    assert manager.housekeeping.pin(session.id, False).pinned_at is None
    assert manager.housekeeping.pin(session.id, False).pinned_at is None


def test_a_rebuild_and_a_restore_keep_title_and_pin(manager, database_at_rest):
    session = ended(manager)
    manager.housekeeping.rename(session.id, "the release")
    at = manager.housekeeping.pin(session.id).pinned_at
    manager.delete(session.id)
    restored = manager.housekeeping.restore(session.id)
    assert (restored.title, restored.pinned_at) == ("the release", at)
    database_at_rest().unlink()
    assert rebuild(manager.layout).restored == (session.id,)
    found = SessionManager(manager.reader.home).reader.get(session.id)
    assert (found.title, found.pinned_at) == ("the release", at)


def family(manager):
    """Three generations that have ended, the oldest first."""
    ids = [ended(manager).id]
    for _ in range(2):
        with SessionManager(caller=Caller(session=ids[-1], evidence="environment")) as inside:
            ids.append(ended(inside).id)
    return ids


def links(manager, ids):
    there = {session.id: session.parent for session in manager.reader.sessions()}
    return [there.get(session_id, "deleted") for session_id in ids]


def test_a_restored_parent_has_its_children_again(manager, monkeypatch):
    first, second, third = ids = family(manager)
    manager.delete(first)
    assert links(manager, ids) == ["deleted", None, second]
    seq = manager.reader.changes(0).seq
    manager.housekeeping.restore(first)
    assert links(manager, ids) == [None, first, second]
    # What looks at the change feed must learn of the child too.
    assert {session.id: session.parent for session in manager.reader.changes(seq).updated} == {
        first: None,
        second: first,
    }
    assert [session.id for session in manager.reader.descendants(first)] == [second, third]


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 2, 0), (2, 0, 1)])
def test_generations_deleted_and_restored_in_any_order_find_each_other(manager, monkeypatch, order):
    first, second, _ = ids = family(manager)
    for number in reversed(order):
        manager.delete(ids[number])
    for number in order:
        manager.housekeeping.restore(ids[number])
    assert links(manager, ids) == [None, first, second]


def test_the_link_survives_the_loss_of_the_database_while_the_parent_is_deleted(manager, monkeypatch):
    first, second, _ = ids = family(manager)
    manager.delete(first)
    manager.housekeeping.rename(second, "written again while its parent is gone")
    (manager.reader.home / "agentdash.db").unlink()
    rebuild(manager.layout)
    assert links(manager, ids) == ["deleted", None, second]
    manager.housekeeping.restore(first)
    assert links(manager, ids) == [None, first, second]


def test_a_draft_comes_back_with_its_session_and_goes_when_the_trash_is_emptied(manager):
    session = manager.wait([manager.run(["true"]).id], timeout=60)[0]
    drafts = Layout(manager.reader.home).drafts
    DraftFiles(Layout(manager.reader.home)).write(session.id, "and then the docs")
    manager.delete(session.id)
    manager.housekeeping.restore(session.id)
    assert [path.name for path in drafts.iterdir()] == [session.id]
    manager.delete(session.id)
    manager.housekeeping.clean(older_than_s=-60)
    assert list(drafts.iterdir()) == []
