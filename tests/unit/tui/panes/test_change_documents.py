"""The screen of changes and the verb ``changes`` say the same of a session's edits."""

from agentdash.sessions.model.session import StepStatus
from agentdash.sessions.runner.git.git_process import GitAnswer
from agentdash.sessions.service.changes.git import GitDiff
from agentdash.sessions.service.changes.model import (
    Edit,
    FileChanges,
    GitReport,
    GitTotals,
    NetBasis,
    NetChanges,
    NetContent,
    NetFile,
    SessionChanges,
)
from agentdash.tui.panes.change_documents import ChangedFile, changed_files, file_document, file_row, title
from agentdash.tui.render.sessions.changes import changes_text, file_diffs
from agentdash.tui.render.style import Style


def edit(**facts) -> Edit:
    return Edit(**({"turn": 1, "index": 2, "kind": "update", "status": StepStatus.OK} | facts))


def file(*edits: Edit, **facts) -> FileChanges:
    base = {"path": "a.py", "absolute": "/w/a.py", "kind": "update", "touched": 1, "added": 4, "removed": 1}
    return FileChanges(**(base | facts), edits=edits)


def both(changes: SessionChanges) -> tuple[str, str]:
    """The line above the files on the screen, and all that the verb prints."""
    return title("Fix it", changes), "\n".join(changes_text(changes, Style()))


def diffs(one: FileChanges) -> tuple[str, str]:
    """All lines about one file on the screen and of the verb."""
    document = file_document(ChangedFile(None, one), SessionChanges(session="s", cwd="/w"), None)
    return "\n".join(lines_of(document)), "\n".join(file_diffs(one, Style(), None))


def test_numbers_that_are_a_minimum_and_further_edits_are_named_by_both():
    git = GitReport(answer=GitAnswer.OK, totals=GitTotals(unstaged=1000, cut=True, others=2))
    changes = SessionChanges(session="s", cwd="/w", files=(file(edit()),), more=7, git=git)
    shown, printed = both(changes)
    assert shown == (
        "Fix it   1 file changed  +4 -1 and 7 edits to other files   git: at least 1,000 unstaged (2 not by its edits)"
    )
    assert all(words in printed for words in shown.split("   ")[1:])


def test_a_title_is_whole_while_there_is_room_and_git_gives_way_first():
    git = GitReport(answer=GitAnswer.OK, totals=GitTotals(untracked=1))
    changes = SessionChanges(session="s", cwd="/w", git=git, net=NetChanges(basis=NetBasis.START, files=(new_file(),)))
    name = "Fix the flaky login test that fails every third night"
    summary, state = "net: 1 file  +2 -0  since the session's start", "git: 1 untracked"
    whole = f"{name}   {summary}   {state}"
    assert title(name, changes, len(whole)) == whole
    assert title(name, changes, len(whole) - 5) == f"{name[:-6]}…   {summary}   {state}"
    assert title(name, changes, len(whole) - 19) == f"{name}   {summary}"
    assert title(name, changes, 60) == f"{name[:19]}…   {summary}"


def new_file(**facts) -> NetFile:
    return NetFile(**({"path": "a.py", "absolute": "/w/a.py", "kind": "add", "added": 2, "removed": 0} | facts))


def test_a_file_of_both_has_one_row_and_its_net_result_first():
    both = new_file(by_edits=True, basis=NetBasis.HEAD)
    net = NetChanges(basis=NetBasis.HEAD, files=(both, new_file(path="b", absolute="/w/b")), why="x")
    gone = FileChanges(path="c", absolute="/w/c", kind="delete", touched=2, added=1, removed=1, edits=(edit(),))
    changes = SessionChanges(session="s", cwd="/w", files=(file(edit(diff="@@ -1 +1 @@\n-old\n+new")), gone), net=net)
    listed = changed_files(changes)
    assert [file_row(one)[:4] for one in listed] == [
        ("a.py", "add", "+2 -0", ""),
        ("b", "add", "+2 -0", "by a command or others"),
        ("c", "no change x2", "", ""),
    ]
    text = "\n".join(lines_of(file_document(listed[0], changes, lambda _: GitDiff(answer=GitAnswer.OK, text="+x"))))
    assert text.index("net · +2 -0 · against HEAD · x") < text.index("+ x") < text.index("turn 1 step 2")
    assert "no change against HEAD" in "\n".join(lines_of(file_document(listed[2], changes, None)))
    nothing = file_document(ChangedFile(new_file(content=NetContent.LARGE, added=None), None), changes, None)
    assert "too large to compare" in "\n".join(lines_of(nothing))


def lines_of(document) -> list[str]:
    rows = [row for item in range(len(document)) for row in document.rows(item, 80)]
    return ["".join(text for text, _ in row) for row in rows]


def test_without_edits_both_say_so_with_the_reason_of_git():
    git = GitReport(answer=GitAnswer.FAILED, detail="fatal: \x1b[31mno")
    shown, printed = both(SessionChanges(session="s", cwd="/w", git=git))
    assert shown == "Fix it   No edits in this session.   git: failed, fatal: no"
    assert printed.splitlines() == shown.split("   ")[1:]


def test_both_say_what_of_a_diff_was_not_stored():
    diff = "@@ -1 +1 @@\n-old\n+new"
    for text in diffs(file(edit(diff=diff, cut=True, moved_to="b.py"), edit(cut=True), more_edits=3)):
        assert text.index("moved to b.py") < text.index("new") < text.index("the rest of this diff was not stored")
        assert text.count("not stored") == 2
        assert "diff too long to store" in text
        assert text.endswith("3 more edits not stored")
    for text in diffs(file(edit(diff=diff))):
        assert "not stored" not in text
