"""What the real codex and claude changed, by the stream, by codex's own transcript, and by git."""

import subprocess

import pytest

from agentdash.sessions.model.session import Status, StepKind
from agentdash.sessions.rules.launch import Start
from agentdash.sessions.service.changes.model import NetBasis

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


def test_a_session_of_two_turns_has_every_diff_in_its_steps_too_and_what_git_says(manager, agent, project):
    session = ended(
        manager, manager.spawn(Start("[[fake:work]] go", agent=agent, cwd=str(project), options=OPTIONS[agent]))
    )
    subprocess.run(["git", "-C", str(project), "add", "notes.txt"], check=True)
    manager.prompts.inject(session.id, "[[fake:files]] go")
    ended(manager, session)

    found = manager.reader.steps.changes_of(session.id)
    assert found.notes == ()
    told = [(f.path, f.kind, f.touched, f.added, f.removed, f.git and f.git.code) for f in found.files]
    assert told == [("notes.txt", "add", 2, 3, 1, "A "), ("src/app.py", "add", 2, 3, 1, "??")]
    created, edited = found.files[0].edits
    assert diff_of(created) == ["+first line", "+second line"]
    assert diff_of(edited) == ["-second line", "+second line, edited"]
    assert [edit.turn for edit in found.files[1].edits] == [2, 2]
    net = [(f.path, f.kind, f.added, f.removed, f.by_edits) for f in found.net.files]
    assert (found.net.basis, net) == (
        NetBasis.START,
        [("notes.txt", "add", 2, 0, True), ("src/app.py", "add", 2, 0, True)],
    )
    find = manager.reader.steps.net_diffs(session.id)
    assert find(found.net.files[0]).text == "@@ -0,0 +1,2 @@\n+first line\n+second line, edited\n"
    assert (found.git.top, found.git.totals.staged, found.git.totals.untracked) == (str(project), 1, 1)

    second = manager.reader.steps.changes_of(session.id, 2)
    assert [file.path for file in second.files] == ["src/app.py"]
    assert diff_of(second.files[0].edits[0]) == ["+def main():", "+    return 1"]
    check_steps(manager, session)


def check_steps(manager, session):
    """Steps have the diffs in every turn, and in every way to read them."""
    steps = [step for step in manager.reader.steps.each_step(session.id) if step.kind is StepKind.FILE_CHANGE]
    told = [(step.turn, step.changes[0].path.rpartition("/")[2], step.changes[0].lines) for step in steps]
    assert told == [(1, "notes.txt", (2, 0)), (1, "notes.txt", (1, 1)), (2, "app.py", (2, 0)), (2, "app.py", (1, 1))]
    assert (
        manager.reader.steps.digest(session.id, whole=True).lines_added,
        manager.reader.steps.digest(session.id, 2).lines_added,
    ) == (6, 3)
    second = [step for step in manager.reader.steps.each_step(session.id, 2) if step.kind is StepKind.FILE_CHANGE]
    assert second == steps[2:]

    opened = manager.reader.steps.open_trajectory(session.id)
    view = opened.refresh().view
    items = [item for item in range(len(view)) if view.step(item).kind is StepKind.FILE_CHANGE]
    view.fill(items)
    assert [view.step(item).changes for item in items] == [step.changes for step in steps]
    opened.close()


def test_a_diff_is_there_while_the_turn_still_runs(manager, codex_env, project, wait_until):
    prompt = "[[fake:slow_edit]] go"
    session = manager.spawn(Start(prompt, agent="codex", cwd=str(project), options=OPTIONS["codex"]))
    opened = manager.reader.steps.open_trajectory(session.id)

    def diffs():
        view = opened.refresh().view
        items = [item for item in range(len(view)) if view.step(item).kind is StepKind.FILE_CHANGE]
        return [view.whole(item).changes[0].diff for item in items]

    wait_until(lambda: diffs() == ["@@ -0,0 +1,1 @@\n+one"], what="the diff of the first edit")
    assert manager.reader.get(session.id).status is Status.RUNNING
    (project / "go").touch()
    ended(manager, session)
    assert diffs() == ["@@ -0,0 +1,1 @@\n+one", "@@ -1 +1 @@\n-one\n+two\n"]
    opened.close()


def test_an_archived_thread_of_codex_keeps_its_diffs(manager, codex_env, project, require_tool):
    options = OPTIONS["codex"]
    session = ended(
        manager, manager.spawn(Start("[[fake:files]] go", agent="codex", cwd=str(project), options=options))
    )
    subprocess.run([require_tool("codex"), "archive", session.agent_session], check=True, capture_output=True)
    assert not list((codex_env / "sessions").rglob("rollout-*"))
    (file,) = manager.reader.steps.changes_of(session.id, git=False).files
    assert (file.path, file.added, file.removed) == ("src/app.py", 3, 1)
