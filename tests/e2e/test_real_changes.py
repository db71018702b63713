"""What the real codex and claude changed, by the stream, by codex's own transcript, and by git."""

import subprocess

import pytest

from agentdash.sessions.model import Status

pytestmark = pytest.mark.real

MINUTES = 120
OPTIONS = {"codex": {"sandbox": "danger-full-access"}, "claude": {"permission_mode": "bypassPermissions"}}


@pytest.fixture
def project(tmp_path, require_tool):
    require_tool("git")
    folder = tmp_path / "project"
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    return folder


def ended(manager, session):
    session = manager.wait([session.id], timeout=MINUTES)[0]
    assert session.status is Status.DONE, session.reason
    return session


def diff_of(edit):
    return [line for line in edit.diff.split("\n") if line[:1] in ("+", "-")]


def test_a_session_of_two_turns_has_every_diff_and_what_git_says(manager, agent, project):
    session = ended(manager, manager.spawn("[[fake:work]] go", agent=agent, cwd=str(project), options=OPTIONS[agent]))
    subprocess.run(["git", "-C", str(project), "add", "notes.txt"], check=True)
    manager.inject(session.id, "[[fake:files]] go")
    ended(manager, session)

    found = manager.changes_of(session.id)
    assert found.notes == ()
    told = [(f.path, f.kind, f.touched, f.added, f.removed, f.git and f.git.code) for f in found.files]
    assert told == [("notes.txt", "add", 2, 3, 1, "A "), ("src/app.py", "add", 2, 3, 1, "??")]
    created, edited = found.files[0].edits
    assert diff_of(created) == ["+first line", "+second line"]
    assert diff_of(edited) == ["-second line", "+second line, edited"]
    assert [edit.turn for edit in found.files[1].edits] == [2, 2]
    assert (found.git.top, found.git.totals.staged, found.git.totals.untracked) == (str(project), 1, 1)

    second = manager.changes_of(session.id, 2)
    assert [file.path for file in second.files] == ["src/app.py"]
    assert diff_of(second.files[0].edits[0]) == ["+def main():", "+    return 1"]


def test_an_archived_thread_of_codex_keeps_its_diffs(manager, codex_env, project, require_tool):
    options = OPTIONS["codex"]
    session = ended(manager, manager.spawn("[[fake:files]] go", agent="codex", cwd=str(project), options=options))
    subprocess.run([require_tool("codex"), "archive", session.agent_session], check=True, capture_output=True)
    assert not list((codex_env / "sessions").rglob("rollout-*"))
    (file,) = manager.changes_of(session.id, git=False).files
    assert (file.path, file.added, file.removed) == ("src/app.py", 3, 1)
