"""A state folder that cannot be written, for real: what only reads works, what changes something says why not."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from agentdash.sessions.model.session import Status
from agentdash.sessions.service.manager import SessionManager
from agentdash.tui.cli.main import run


@pytest.fixture
def seal(tmp_path, monkeypatch):
    """Make a state folder read-only: by a mount for root, by its mode for other users."""
    undo = []

    def make_read_only(home):
        if os.geteuid() != 0:
            home.chmod(0o500)
            undo.append(lambda: home.chmod(0o700))
            return home
        sealed = tmp_path / "sealed"
        sealed.mkdir()
        for mount in (["--bind", str(home), str(sealed)], ["-o", "remount,bind,ro", str(sealed)]):
            if subprocess.run(["mount", *mount], check=False, capture_output=True).returncode:
                pytest.skip("nothing can be mounted here")
            undo.insert(0, lambda: subprocess.run(["umount", "-l", str(sealed)], check=False, capture_output=True))
        monkeypatch.setenv("AGENTDASH_HOME", str(sealed))
        return sealed

    yield make_read_only
    for step in undo:
        step()


@pytest.fixture
def home(manager, database_at_rest):
    """A state folder at rest with one session that was never opened."""
    session = manager.run([sys.executable, "-c", "print('the answer')"], title="titled")
    manager.wait([session.id], timeout=60)
    return database_at_rest().parent


def files(folder):
    return {path: path.stat().st_mtime_ns for path in folder.rglob("*")}


READING = (
    ["ls"], ["ls", "--json"], ["show", "@last"], ["trajectory", "@last"],
    ["trajectory", "--messages", "@last"], ["output", "@last"],
    ["explain", "@last"], ["digest", "@last"], ["changes", "@last"], ["export", "@last"], ["ps", "@last"],
    ["wait", "@last"], ["trajectory", "--replay", "@last"], ["queue", "@last"], ["restore"], ["clean", "--dry-run"],
)  # fmt: skip
CHANGING = (
    ["run", "--", "true"], ["spawn", "-a", "scripted", "x"], ["inject", "@last", "x"], ["retry", "@last"],
    ["rm", "-y", "@last"], ["archive", "@last"], ["rename", "@last", "x"], ["pin", "@last"], ["clean"],
    ["restore", "abc"], ["doctor", "--rebuild"], ["queue", "@last", "hold"], ["queue", "@last", "release"],
)  # fmt: skip


def test_every_verb_that_reads_works_in_a_read_only_folder(home, seal, capfd, monkeypatch):
    seal(home)
    before = files(home)
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)  # a person looks: a read marker is due
    for verb in READING:
        assert run(verb) == 0, (verb, capfd.readouterr())
        assert capfd.readouterr().err == "", verb
    assert files(home) == before


def test_a_read_only_folder_that_never_had_a_trash_is_read_like_one_whose_trash_is_empty(home, seal, capfd):
    (home / "trash").rmdir()
    sealed = seal(home)
    before = files(home)
    assert run(["restore", "--json"]) == 0
    assert json.loads(capfd.readouterr().out) == []
    assert run(["show", "abc"]) == 1
    assert "No session with id 'abc'." in capfd.readouterr().err
    with SessionManager(sealed) as looking:
        assert [session.title for session in looking.reader.sessions()] == ["titled"]
        assert looking.reader.put_away() == []
        assert looking.reader.count_put_away() == (0, 0)
    assert files(home) == before


def test_every_verb_that_changes_something_says_that_the_folder_is_read_only(home, seal, capfd):
    sealed = seal(home)
    before = files(home)
    for verb in CHANGING:
        assert run(verb) == 1, verb
        assert f"The state folder {sealed} is read-only" in capfd.readouterr().err, verb
    assert files(home) == before


def test_doctor_names_a_read_only_folder(home, seal, capfd):
    sealed = seal(home)
    assert run(["doctor"]) == 1
    out = capfd.readouterr().out
    assert f"{sealed} " in out
    assert "sessions can be read but not started or changed" in out
    assert "ok, schema" in out


def test_a_read_only_view_follows_a_session_that_others_run(manager, seal, tmp_path, wait_until):
    os.mkfifo(tmp_path / "go")
    session = manager.run(["sh", "-c", f"echo one; read line < {tmp_path}/go; echo two"])
    sealed = seal(manager.reader.home)
    if sealed == manager.reader.home:
        pytest.skip("the runner cannot write either")
    with SessionManager(sealed) as looking:
        wait_until(lambda: looking.reader.get(session.id).status is Status.RUNNING, what="it to run")
        Path(tmp_path / "go").write_text("\n")
        [done] = looking.wait([session.id], timeout=60)
    assert done.status is Status.DONE
