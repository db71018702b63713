"""Folders without rows and rows without a folder: doctor names each, and what it says mends it."""

import json
import os
import shlex
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
from places import CAPTURES

from agentdash.sessions.model.session import Status
from agentdash.sessions.runner.processes import runner_lock
from agentdash.sessions.service.manager import SessionManager
from agentdash.tui.cli.main import run

CUT_OFF = """
import os, signal
from agentdash.sessions.storage.store import Store
from agentdash.tui.cli.main import run
Store.create = lambda *_, **__: os.kill(os.getpid(), signal.SIGKILL)
run(["run", "--", "true"])
"""
"""A command line that is killed between its folder and its rows."""


def ended(manager, *argv, **named):
    [session] = manager.wait([manager.run(argv or ["echo", "hello"], **named).id], timeout=60)
    runner_lock.hold(manager.layout.session(session.id).lock, timeout=60).release()  # its runner has left
    return session


def age(folder):
    """Let it be an hour since a folder was made."""
    for path in [*folder.rglob("*"), folder]:
        os.utime(path, (time.time() - 3600,) * 2)


@pytest.fixture
def doctor(capfd):
    """What doctor says of the session folders: states and remedies."""

    def ask(*words):
        capfd.readouterr()
        run(["doctor", "--json", *words])
        found = json.loads(capfd.readouterr().out)
        findings = found["findings"] if words else found
        return [(one["state"], one["found"], one["remedy"]) for one in findings if one["name"] == "session folders"]

    return ask


def test_a_start_that_was_killed_before_its_rows_is_named_and_removed_by_the_remedy(manager, doctor):
    kept = ended(manager)
    for _ in range(2):
        subprocess.run([sys.executable, "-c", CUT_OFF], check=False)
    assert len(list(manager.layout.sessions.iterdir())) == 3
    # It may still be under way.
    assert doctor() == [("ok", "1, all in the database", None)]
    assert doctor("--rebuild") == [("ok", "1, all in the database", None)]
    assert len(list(manager.layout.sessions.iterdir())) == 3
    for folder in manager.layout.sessions.iterdir():
        age(folder)
    [(state, found, remedy)] = doctor()
    assert (state, remedy) == ("warn", "agentdash doctor --rebuild removes them")
    assert found.startswith("2 (")
    assert doctor("--rebuild") == [("ok", "1, all in the database", None)]
    assert [path.name for path in manager.layout.sessions.iterdir()] == [kept.id]


def test_clean_removes_them_too_and_a_dry_run_only_counts_them(manager, capfd):
    subprocess.run([sys.executable, "-c", CUT_OFF], check=False)
    [folder] = manager.layout.sessions.iterdir()
    age(folder)
    assert run(["clean", "--dry-run"]) == 0
    assert "1 empty folder of interrupted starts would be removed" in capfd.readouterr().out
    assert folder.exists()
    assert run(["clean"]) == 0
    assert "1 empty folder of interrupted starts removed" in capfd.readouterr().out
    assert not folder.exists()


@pytest.mark.parametrize("name", ["turns/turn_1.jsonl", "notes.txt"])
def test_a_folder_in_which_anything_appears_is_not_removed_as_empty(manager, name):
    subprocess.run([sys.executable, "-c", CUT_OFF], check=False)
    [folder] = manager.layout.sessions.iterdir()
    (folder / name).write_text("something\n")
    age(folder)
    assert manager.housekeeping.clean(0).empty_folders == 0
    assert (folder / name).read_text() == "something\n"


def test_output_without_any_record_becomes_a_session_again(manager, doctor):
    lost = ended(manager)
    folder = manager.layout.session(lost.id)
    shutil.copyfile(CAPTURES / "codex-files.jsonl", folder.output(1))
    folder.prompt(1).write_text("what was asked")
    manager.delete(lost.id)
    (manager.reader.home / "trash" / lost.id).rename(folder.path)
    manager.store.database.close()
    for path in manager.reader.home.glob("agentdash.db*"):
        path.unlink()
    folder.identity.write_text('{"format": 1, "sess')
    [(state, _, remedy)] = doctor()
    assert (state, remedy) == ("warn", "agentdash doctor --rebuild recovers them from their turn files")
    assert doctor("--rebuild") == [("ok", "1, all in the database", None)]
    [found] = manager.reader.sessions()
    assert (found.agent, found.title, found.status) == ("codex", "what was asked", Status.DONE)
    assert found.steps > 0
    assert found.usage.known
    assert manager.reader.turns(found.id)[0].rule.startswith("record lost")
    assert (folder.path / "session.json.damaged").exists()
    # It can be deleted and restored like any other.
    manager.delete(found.id)
    assert manager.housekeeping.restore(found.id).title == "what was asked"


def test_a_deletion_that_was_killed_half_way_is_finished_and_brings_nothing_back(manager, doctor):
    session = ended(manager)
    folder = manager.layout.session(session.id)
    manager.housekeeping.record(folder)
    assert manager.store.delete(session.id, session.turn)
    assert doctor("--rebuild") == [("ok", "none yet", None)]
    assert manager.reader.sessions() == []
    assert manager.housekeeping.restore(session.id).id == session.id
    assert manager.reader.outputs.part(session.id).read() == b"hello\n"


def test_rows_whose_folder_is_gone_are_removed_by_the_remedy_and_can_be_taken_back(manager, doctor):
    session = ended(manager, title="only rows")
    shutil.rmtree(manager.layout.session(session.id).path)
    [(state, found, remedy)] = doctor()
    assert (state, found) == ("warn", f"1 ({session.id[:8]}) in the database, folder missing")
    assert run(shlex.split(remedy)[1:]) == 0
    assert doctor() == [("ok", "none yet", None)]
    assert manager.housekeeping.restore("@last").title == "only rows"
    assert doctor() == [("ok", "1, all in the database", None)]


def test_a_deletion_that_loses_a_race_leaves_no_folder_behind(manager):
    session = ended(manager)
    shutil.rmtree(manager.layout.session(session.id).path)
    assert manager.store.delete(session.id, session.turn)
    assert not manager.housekeeping.bury(session)
    assert list(manager.layout.sessions.iterdir()) == [], "it would be a ghost"


@pytest.mark.parametrize(
    "verb",
    ["trajectory", "trajectory --messages", "trajectory --replay", "trajectory --lines=1", "output", "show", "digest",
     "export", "changes"],
)  # fmt: skip
@pytest.mark.parametrize("as_json", [False, True])
def test_a_verb_about_a_session_whose_folder_is_gone_says_so(manager, capfd, verb, as_json):
    session = ended(manager)
    shutil.rmtree(manager.layout.session(session.id).path)
    words = ["--format", "json"] if verb == "export" else ["--json"]
    assert run([*verb.split(), session.id, *(words if as_json else ())]) == 1
    out, err = capfd.readouterr()
    assert f"The folder of session {session.id[:8]} is gone: " in err
    if as_json and out:
        json.loads(out)
    if verb == "show":
        assert session.id in out


def test_two_managers_agree_that_it_is_gone(manager):
    """What is removed under one front end is gone for the others."""
    session = ended(manager)
    shutil.rmtree(manager.layout.session(session.id).path)
    with SessionManager(Path(manager.reader.home)) as other:
        other.delete(session.id)
    assert manager.reader.sessions() == []
