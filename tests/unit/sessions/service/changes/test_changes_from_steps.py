"""Steps to files: order, kinds, counts, what only was tried, and what a hostile or endless stream cannot do."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from agentdash.sessions.model.session import Change, Step, StepKind, StepStatus
from agentdash.sessions.service.changes import from_steps
from agentdash.sessions.service.changes.from_steps import Collected, collect
from agentdash.sessions.service.changes.model import FileChanges
from agentdash.sessions.text import unified_diff
from agentdash.sessions.text.unified_diff import created, deleted, diff_of

CWD = "/home/ann/code/api"
HUNK = "@@ -1,2 +1,3 @@\n one\n-two\n+2\n+3"


def step(index: int, *changes: tuple[str, str] | tuple[str, str, str], turn: int = 1, **facts: Any) -> Step:
    told = tuple(Change(path=path, kind=kind, diff=diff[0] if diff else None) for path, kind, *diff in changes)
    base: dict[str, Any] = {"status": StepStatus.OK, "at": index * 10, "ended_at": index * 10 + 5}
    return Step(turn=turn, index=index, kind=StepKind.FILE_CHANGE, changes=told, **(base | facts))


def only(collected: Collected) -> FileChanges:
    (file,) = collected.files
    return file


def test_files_stand_in_the_order_in_which_they_were_first_touched() -> None:
    found = collect(
        [step(1, ("b.py", "update"), ("a.py", "add")), step(2, ("a.py", "update")), step(3, ("c", "add"))], CWD
    )
    assert [(file.path, file.touched) for file in found.files] == [("b.py", 1), ("a.py", 2), ("c", 1)]


def test_steps_of_other_kinds_touch_no_file() -> None:
    assert (
        collect([Step(kind=StepKind.COMMAND, command="rm x"), Step(kind=StepKind.MESSAGE, text="x")], CWD).files == ()
    )


def test_one_file_is_one_file_by_whatever_name() -> None:
    named = ("src/a.py", "./src//a.py", f"{CWD}/src/a.py", "src/lib/../a.py", f"/{CWD}/src/a.py")
    file = only(collect([step(n, (name, "update")) for n, name in enumerate(named)], CWD))
    assert (file.path, file.absolute, file.touched) == ("src/a.py", f"{CWD}/src/a.py", len(named))


def test_a_path_is_shown_below_the_folder_only_if_it_lies_there() -> None:
    for named, shown in [
        ("../../etc/passwd", "/home/ann/etc/passwd"),
        ("../../../../../../etc/passwd", "/etc/passwd"),
        ("/etc/passwd", "/etc/passwd"),
        ("src/../../api-2/x", "/home/ann/code/api-2/x"),
        (f"{CWD}/../api/x", "x"),
        (f"{CWD}-2/x", f"{CWD}-2/x"),
        (".", CWD),
        ("~/x", "~/x"),
        ("a\nb\x1b[2J", "a\nb\x1b[2J"),
        ("a\0/../../../../etc", f"{CWD}/a\0/../../../../etc"[len(CWD) + 1 :]),
    ]:
        assert only(collect([step(1, (named, "update"))], CWD)).path == shown, named


@given(st.text(min_size=1))
def test_any_text_is_a_path_and_is_shown_for_what_it_is(named: str) -> None:
    file = only(collect([step(1, (named, "update"))], CWD))
    assert file.absolute.startswith("/")
    assert file.path == file.absolute or f"{CWD}/{file.path}" == file.absolute


def test_the_root_folder_has_files_too() -> None:
    assert only(collect([step(1, ("/etc/passwd", "update"))], "/")).path == "etc/passwd"


@pytest.mark.parametrize(
    ("kinds", "whole"),
    [
        (("add",), "add"),
        (("add", "update", "update"), "add"),
        (("update", "delete"), "delete"),
        (("add", "delete"), "delete"),
        (("delete", "add"), "update"),
        (("update", "update"), "update"),
        (("frobnicate",), "update"),
    ],
)
def test_the_kind_over_the_whole_session(kinds: tuple[str, ...], whole: str) -> None:
    assert only(collect([step(n, ("x", kind)) for n, kind in enumerate(kinds)], CWD)).kind == whole


def test_lines_of_all_edits_are_added_up_and_the_diffs_are_kept() -> None:
    file = only(collect([step(1, ("x", "update", HUNK)), step(4, ("x", "update", HUNK), turn=2)], CWD))
    assert (file.added, file.removed, file.partial) == (4, 2, False)
    assert [(e.turn, e.index, e.diff, e.added, e.at) for e in file.edits] == [(1, 1, HUNK, 2, 15), (2, 4, HUNK, 2, 45)]


def test_lines_are_not_known_where_no_diff_is_and_partly_known_where_one_is_missing() -> None:
    file = only(collect([step(1, ("x", "update"))], CWD))
    assert (file.added, file.removed, file.partial) == (None, None, False)
    file = only(collect([step(1, ("x", "update")), step(2, ("x", "update", HUNK))], CWD))
    assert (file.added, file.removed, file.partial) == (2, 1, True)


@pytest.mark.parametrize("status", [s for s in StepStatus if s is not StepStatus.OK])
def test_what_was_only_tried_is_kept_and_is_no_change(status: StepStatus) -> None:
    file = only(collect([step(1, ("x", "add", HUNK), status=status)], CWD))
    assert (file.kind, file.touched, file.added) == (None, 0, None)
    assert [(edit.kind, edit.status, edit.diff) for edit in file.edits] == [("add", status, HUNK)]


def test_a_failed_edit_between_two_good_ones_changes_nothing() -> None:
    steps = [
        step(1, ("x", "add", HUNK)),
        step(2, ("x", "delete", HUNK), status=StepStatus.FAILED),
        step(3, ("x", "update", HUNK)),
    ]
    file = only(collect(steps, CWD))
    assert (file.kind, file.touched, file.added, len(file.edits)) == ("add", 2, 4, 3)


def test_an_agent_that_tells_no_status_has_done_it() -> None:
    assert only(collect([step(1, ("x", "add"), status=None)], CWD)).kind == "add"


def test_a_file_named_twice_in_one_step_has_two_edits() -> None:
    assert only(collect([step(1, ("x", "update", HUNK), ("./x", "update", HUNK))], CWD)).added == 4


def test_a_change_without_a_path_is_no_file() -> None:
    assert collect([step(1, ("", "update"))], CWD) == Collected()


def test_a_transcript_gives_the_diffs_that_steps_lack() -> None:
    given = step(1, ("x", "update"), ("y", "update"))
    change = structs.replace(given.changes[0], diff=HUNK, added=2, removed=1)
    found = collect([structs.replace(given, changes=(change, given.changes[1]))], CWD)
    assert [(file.path, file.added) for file in found.files] == [("x", 2), ("y", None)]


def test_a_file_that_was_moved_is_deleted_here_and_added_there() -> None:
    moved = Change(path=f"{CWD}/old.py", kind="update", diff=HUNK, moved_to=f"{CWD}/sub/new.py")
    old, new = collect([structs.replace(step(1), changes=(moved,))], CWD).files
    assert (old.path, old.kind, old.added, old.edits[0].moved_to) == ("old.py", "delete", 0, "sub/new.py")
    assert (new.path, new.kind, new.added, new.edits[0].moved_from) == ("sub/new.py", "add", 2, "old.py")
    assert new.edits[0].diff == HUNK


def test_more_files_than_are_kept_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(from_steps, "MOST_FILES", 3)
    found = collect((step(n, (f"f{n % 5}", "update")) for n in range(10)), CWD)
    assert [(file.path, file.touched) for file in found.files] == [("f0", 2), ("f1", 2), ("f2", 2)]
    assert found.more == 4


def test_more_edits_than_are_kept_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(from_steps, "MOST_EDITS", 2)
    steps = [step(n, ("x", "delete" if n == 4 else "update", HUNK)) for n in range(5)]
    file = only(collect(steps, CWD))
    assert (file.touched, file.added, file.kind, len(file.edits), file.more_edits) == (5, 10, "delete", 2, 3)


def test_diffs_beyond_the_room_are_counted_and_said_to_be_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(from_steps, "TEXT_CHARACTERS", len(HUNK) + 5)
    file = only(collect([step(n, ("x", "update", HUNK)) for n in range(2)], CWD))
    assert [(edit.diff, edit.cut, edit.added) for edit in file.edits] == [(HUNK, False, 2), (None, True, 2)]
    assert (file.added, file.partial) == (4, False)


def test_a_hundred_thousand_steps_leave_a_bounded_rest() -> None:
    found = collect((step(n, (f"f{n % 20_000}", "update")) for n in range(100_000)), CWD)
    assert (len(found.files), found.more) == (from_steps.MOST_FILES, 50_000)
    assert sum(len(file.edits) for file in found.files) == 50_000


def test_lines_that_look_like_file_names_are_lines_below_a_hunk() -> None:
    told = diff_of("--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n--- gone\n+++ here\n same\n\\ No newline at end of file")
    assert told is not None
    assert (told.added, told.removed) == (1, 1)


def test_a_diff_without_hunks_counts_its_lines() -> None:
    told = diff_of("--- a/x\n+++ b/x\n+one\n+two\n-three")
    assert told is not None
    assert (told.added, told.removed) == (2, 1)


def test_no_diff_is_not_an_empty_one() -> None:
    assert diff_of(None) is None
    assert diff_of("") is None


@pytest.mark.parametrize(
    ("content", "text", "count"),
    [
        ("", "", 0),
        ("one", "@@ -0,0 +1,1 @@\n+one", 1),
        ("one\n", "@@ -0,0 +1,1 @@\n+one", 1),
        ("one\n\ntwo\u2028two\r\n", "@@ -0,0 +1,3 @@\n+one\n+\n+two\u2028two\r", 3),
    ],
)
def test_a_whole_file_as_a_diff(content: str, text: str, count: int) -> None:
    assert (created(content).text, created(content).added, created(content).removed) == (text, count, 0)
    assert (deleted(content).added, deleted(content).removed) == (0, count)


def test_of_a_huge_diff_the_beginning_is_kept_and_everything_is_counted() -> None:
    lines = 1_000_000
    for told in (created("abc\n" * lines), diff_of("@@ -0,0 +1,1000000 @@\n" + "+abc\n" * lines)):
        assert told is not None
        assert (told.added, told.cut) == (lines, True)
        assert len(told.text) < 2 * unified_diff.DIFF_CHARACTERS
        assert told.text.endswith("\n+abc")
