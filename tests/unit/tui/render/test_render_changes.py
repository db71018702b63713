"""What people read of a session's changes: a line a file, foreign text as text, nothing unknown shown as 0."""

import re
from typing import Any

import pytest

from agentdash.sessions.model.session import StepStatus
from agentdash.sessions.runner.git.git_process import GitAnswer
from agentdash.sessions.service.changes.git import GitDiff
from agentdash.sessions.service.changes.model import (
    Edit,
    FileChanges,
    GitReport,
    GitState,
    GitTotals,
    SessionChanges,
)
from agentdash.sessions.text.sanitize import cell_width
from agentdash.tui.render.sessions.changes import changes_text, file_diffs
from agentdash.tui.render.style import Style

LOOK = Style(width=100)
NASTY = "a\x1b[2J\nb\u202e[/red]\x07.py"
DIFF = "@@ -1 +1 @@\n-old \n+new"


def edit(**facts: Any) -> Edit:
    base: dict[str, Any] = {"turn": 1, "index": 2, "kind": "update", "status": StepStatus.OK}
    return Edit(**(base | facts))


def file(path: str = "a.py", **facts: Any) -> FileChanges:
    base: dict[str, Any] = {"kind": "update", "touched": 1, "added": 4, "removed": 1, "edits": (edit(),)}
    return FileChanges(path=path, absolute=f"/home/ann/code/api/{path}", **(base | facts))


def text(*files: FileChanges, style: Style = LOOK, **facts: Any) -> list[str]:
    return list(changes_text(SessionChanges(session="s", cwd="/home/ann/code/api", files=files, **facts), style))


def diffs(one: FileChanges, found: GitDiff | None = None, style: Style = LOOK) -> list[str]:
    return list(file_diffs(one, style, None if found is None else lambda _: found))


def test_unknown_lines_are_left_out_and_never_zero() -> None:
    told = text(file(added=None, removed=None))
    assert told[0] == "1 file changed"
    assert told[1].split() == ["a.py", "update", "1", "edit"]


@pytest.mark.parametrize(
    "second", [file("b.py", added=None, removed=None), file("b.py", added=0, removed=0, partial=True)]
)
def test_lines_that_are_known_in_part_are_said_to_be_the_least(second: FileChanges) -> None:
    assert text(file(), second)[0] == "2 files changed  at least +4 -1"


def test_what_was_only_tried_is_no_change() -> None:
    tried = file(
        "/etc/x",
        kind=None,
        touched=0,
        added=None,
        removed=None,
        edits=(edit(status=StepStatus.FAILED), edit(status=StepStatus.DECLINED), edit(status=StepStatus.FAILED)),
    )
    assert text(tried)[0] == "No edits in this session."
    assert text(tried)[1].split() == ["/etc/x", "2", "failed,", "1", "declined"]
    assert text(file(), tried)[0] == "1 file changed  +4 -1"


def test_a_move_is_told_at_both_ends() -> None:
    told = text(
        file("old.py", kind="delete", edits=(edit(kind="delete", moved_to="new.py"),)),
        file("new.py", kind="add", edits=(edit(kind="add", moved_from="old.py"),)),
    )
    assert told[1].endswith("moved to new.py")
    assert told[2].endswith("moved from old.py")


def test_git_stands_beside_the_file_and_below_all() -> None:
    totals = GitTotals(staged=1, unstaged=2, untracked=3, others=4)
    report = GitReport(answer=GitAnswer.OK, top="/srv/api", totals=totals)
    told = text(file(git=GitState(code="MM", words=("staged", "unstaged"))), git=report)
    assert told[1].endswith("1 edit  MM staged unstaged")
    assert told[2] == "git: /srv/api: 1 staged, 2 unstaged, 3 untracked (4 not by its edits)"


@pytest.mark.parametrize(
    ("report", "told"),
    [
        (GitReport(answer=GitAnswer.NO_REPOSITORY), "git: not a repository"),
        (GitReport(answer=GitAnswer.NO_GIT), "git: git is not installed"),
        (GitReport(answer=GitAnswer.TIMED_OUT, top="/srv/api"), "git: /srv/api, timed out"),
        (GitReport(answer=GitAnswer.FAILED, detail="fatal: \x1b[31mno"), "git: failed, fatal: no"),
        (
            GitReport(answer=GitAnswer.NO_COMMITS, top="/srv/api", totals=GitTotals(untracked=1, cut=True)),
            "git: /srv/api, no commits yet: at least 1 untracked",
        ),
    ],
)
def test_whatever_git_answers_is_a_line(report: GitReport, told: str) -> None:
    assert text(git=report)[-1] == told


def test_notes_come_last() -> None:
    assert text(file(), notes=("one", "two"))[-2:] == ["one", "two"]


def test_a_hostile_name_is_one_harmless_line_everywhere() -> None:
    nasty = file(NASTY, edits=(edit(diff=NASTY, moved_to=NASTY),))
    for line in (*text(nasty), *diffs(nasty)):
        assert re.search(r"[\x00-\x1f\x7f\u202e]", line) is None
    assert text(nasty)[1].split()[:2] == ["a", "b[/red].py"]


@pytest.mark.parametrize("width", [80, 100, 200])
def test_a_long_name_is_cut_from_the_left_and_the_line_fits(width: int) -> None:
    told = text(file("folder/" * 60 + "last.py"), file("b.py"), style=Style(width=width))
    assert all(cell_width(line) <= width for line in told)
    assert "…" in told[1]
    assert "/last.py  update" in told[1]


def test_the_diff_of_each_edit_says_which_step_and_how_it_ended() -> None:
    told = diffs(file(edits=(edit(diff=DIFF, added=1, removed=1), edit(turn=2, diff=DIFF, status=StepStatus.FAILED))))
    assert told[1:] == [
        "── a.py",
        "  turn 1, step 2: update +1 -1",
        "  @@ -1 +1 @@",
        "  -old ",
        "  +new",
        "  turn 2, step 2: update, failed",
        "  @@ -1 +1 @@",
        "  -old ",
        "  +new",
    ]


def test_colours_are_those_of_what_became_of_a_line() -> None:
    told = diffs(file(edits=(edit(diff=DIFF),)), style=Style(colour=True))
    assert told[-2:] == ["  \x1b[31m-old \x1b[0m", "  \x1b[32m+new\x1b[0m"]


def test_what_is_missing_of_a_diff_is_said() -> None:
    cut = file(edits=(edit(diff=DIFF, cut=True), edit(cut=True)), more_edits=3)
    assert diffs(cut)[-4:] == [
        "  (the rest of this diff was not stored)",
        "  turn 1, step 2: update",
        "  (diff too long to store)",
        "  3 more edits not stored",
    ]


def test_git_fills_in_only_where_the_agent_gave_nothing() -> None:
    found = GitDiff(answer=GitAnswer.OK, text=DIFF + "\n", cut=True)
    assert diffs(file(), found)[3:] == [
        "  git diff HEAD, including changes by others:",
        "  @@ -1 +1 @@",
        "  -old ",
        "  +new",
        "  (the rest of this diff is not shown)",
    ]
    assert len(diffs(file(edits=(edit(diff=DIFF),)), found)) == 6
    assert len(diffs(file(touched=0, edits=(edit(status=StepStatus.FAILED),)), found)) == 3
    assert diffs(file(), GitDiff(answer=GitAnswer.OK))[-1] == "  no diff from the agent, and none from git"
    gone = diffs(file(), GitDiff(answer=GitAnswer.NO_FOLDER))
    assert gone[-1] == "  no diff from the agent, and none from git: the folder no longer exists"
