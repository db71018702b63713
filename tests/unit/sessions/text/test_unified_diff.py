"""One count of the lines of a diff, of any writer, in every place that shows one."""

import difflib
import subprocess
from pathlib import Path

import factories
from hypothesis import given
from hypothesis import strategies as st

from agentdash.sessions.model.session import Change, Status, Step, StepKind, StepStatus
from agentdash.sessions.rules.digest.collect import digest
from agentdash.sessions.rules.json_schema import step_json
from agentdash.sessions.rules.truncate import KEPT, trimmed
from agentdash.sessions.service.changes.from_steps import collect
from agentdash.sessions.service.changes.model import SessionChanges
from agentdash.sessions.text.unified_diff import classified, counts
from agentdash.sessions.transcript.export.formats import FORMATS
from agentdash.tui.render.sessions.changes import changes_text
from agentdash.tui.render.steps import step_text
from agentdash.tui.render.style import Style
from agentdash.widgets.document.diff import Scan
from agentdash.widgets.document.lines import Lines
from agentdash.widgets.steps.step_document import step_document
from agentdash.widgets.steps.step_lines import step_rows

SQL = "@@ -1,2 +1,1 @@\n context\n--- a removed SQL comment"
SESSION = factories.session(
    "s" * 36, agent="claude", title="t", task="t", status=Status.DONE, cwd="/w", created_at=0, updated_at=0
)

_GIT = "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n"
DIFFS = {
    "a removed line that begins with two dashes": (SQL, (0, 1)),
    "an added line that begins with two plusses": ("@@ -1 +1,2 @@\n a\n+++ b", (1, 0)),
    "both at the end of a hunk, before the next": ("@@ -1 +1 @@\n--- a\n+++ b\n@@ -9 +9 @@\n-x\n+y", (2, 2)),
    "git": ("diff --git a/x b/x\nindex 1..2 100644\n--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n-a\n+b\n c\n", (1, 1)),
    "git, two files": (
        _GIT + _GIT.replace("x", "y").replace("+1 @@", "+1,2 @@") + "+c",
        (3, 2),
    ),
    "two files without git": ("--- x\n+++ x\n@@ -1 +1 @@\n-a\n+b\n--- y\n+++ y\n@@ -1 +1 @@\n-a\n+b", (2, 2)),
    "a new file": ("--- /dev/null\n+++ b/x\n@@ -0,0 +1,2 @@\n+a\n+b", (2, 0)),
    "a deleted file": ("--- a/x\n+++ /dev/null\n@@ -1 +0,0 @@\n-a", (0, 1)),
    "only hunks, as codex and claude give them": ("@@ -1,2 +1,2 @@\n first\n-second\n+second, edited\n", (1, 1)),
    "no newline at the end": (
        "@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n\\ No newline at end of file",
        (1, 1),
    ),
    "carriage returns": ("--- a/x\r\n+++ b/x\r\n@@ -1,2 +1,1 @@\r\n a\r\n--- b\r\n", (0, 1)),
    "an empty line of context without its blank": ("@@ -1,3 +1,2 @@\n a\n\n--- b", (0, 1)),
    "no hunk at all": ("-old\n+new\n+more", (2, 1)),
    "names and no hunk": ("--- a/x\n+++ b/x\n+one\n+two\n-three", (2, 1)),
    "no names, and a removed comment": ("--- a comment\n-b", (0, 2)),
    "hunks without numbers": ("@@ def f():\n-a\n--- b\n+c\n@@\n+d", (2, 2)),
    "a patch for codex": (
        "*** Begin Patch\n*** Update File: a.py\n@@\n-a\n+b\n*** Add File: b.py\n+c\n*** End Patch",
        (2, 1),
    ),
    "a head that gives too few lines": ("@@ -1 +1 @@\n-a\n+b\n+c\n--- d", (2, 2)),
    "a head that gives too many lines": ("@@ -1,9 +1,9 @@\n-a\n+b\n--- y\n+++ y\n@@ -1 +1 @@\n-c\n+d", (2, 2)),
    "huge numbers": ("@@ -99999999999999,1 +1 @@\n-a\n+b", (1, 1)),
}


def change_step(diff: str | None, **facts: object) -> Step:
    change = Change(path="a.sql", kind="update", diff=diff, **facts)  # type: ignore[arg-type]
    return Step(kind=StepKind.FILE_CHANGE, changes=(change,), status=StepStatus.OK)


def told(diff: str) -> dict[str, tuple[int, int]]:
    """The counts of a diff in every place that shows them."""
    step = change_step(diff)
    file = collect([step], "/w").files[0]
    facts = digest([step], "/w")
    row = "".join(part for part, _ in step_rows(step, 200)[0])
    pane = {
        part[0]: int(part[1:]) for part, role in step_document(step).blocks[0].caption if role in ("added", "removed")
    }
    markdown, html = ("".join(form.write(SESSION, [step])) for form in FORMATS if form.name in ("md", "html"))
    data = step_json(step)["changes"][0]
    kinds = Scan(Lines(diff, newlines_only=True)).kinds
    return {
        "changes": (file.added or 0, file.removed or 0),
        "changes, as text": _numbers(next(changes_text(SessionChanges(session="s", cwd="/w", files=(file,)), Style()))),
        "digest": (facts.lines_added or 0, facts.lines_removed or 0),
        "list": _numbers(row),
        "command line": _numbers(step_text(step, Style())[0]),
        "pane": (pane.get("+", 0), pane.get("-", 0)),
        "lines of the pane": (kinds.count("+"), kinds.count("-")),
        "html": _numbers(html.partition("<details")[2].partition("</summary>")[0].replace("</span>", " ")),
        "markdown": _numbers(markdown.partition("**Update**")[2].partition("\n")[0]),
        "json": (data["added"], data["removed"]),
    }


def _numbers(text: str) -> tuple[int, int]:
    words = text.replace(">", " ").split()
    added = next((word for word in words if word[0] == "+" and word[1:].isdigit()), "+0")
    removed = next((word for word in words if word[0] == "-" and word[1:].isdigit()), "-0")
    return int(added[1:]), int(removed[1:])


def test_every_place_counts_the_same() -> None:
    for name, (diff, expected) in DIFFS.items():
        found = told(diff)
        assert found == dict.fromkeys(found, expected), name


def test_removed_comments_are_shown_as_removed() -> None:
    rows = step_rows(change_step(SQL), 80)
    assert [(text.strip(), role) for row in rows for text, role in row if role == "removed"] == [
        ("--- a removed SQL comment", "removed")
    ]
    html = "".join(FORMATS[1].write(SESSION, [change_step(SQL)]))
    assert '<del class="removed">--- a removed SQL comment\n</del>' in html
    assert step_text(change_step(SQL), Style(full=True))[-1] == "  --- a removed SQL comment"


def test_a_diff_that_is_shown_in_part_is_counted_whole() -> None:
    diff = "@@ -0,0 +1,40000 @@\n" + "+line\n" * 40_000
    assert len(diff) > KEPT
    short = trimmed(change_step(diff))
    assert len(short.changes[0].diff or "") < len(diff)
    assert "".join(part for part, _ in step_rows(short, 80)[0]).split()[2:4] == ["+40,000", "-0"]
    assert step_json(short)["changes"][0] | {"diff": None} == {
        "path": "a.sql", "kind": "update", "diff": None, "added": 40_000, "removed": 0, "cut": True,
        "moved_to": None, "no_diff": None,
    }  # fmt: skip


LINE = st.text("ab -+@\\\t\r", max_size=8)


@given(st.lists(LINE, max_size=8), st.lists(LINE, max_size=8))
def test_a_diff_of_two_texts_is_counted_as_it_was_made(old: list[str], new: list[str]) -> None:
    names, body = ["--- a/x", "+++ b/x"], list(difflib.unified_diff(old, new, lineterm="", n=1))[2:]
    # difflib marks each line with its first character, and begins each hunk with "@@ -".
    signs = [line[0] for line in body]
    expected = signs.count("+"), signs.count("-")
    assert counts("\n".join([*names, *body])) == counts("\n".join(body)) == expected


@given(st.text("+-@ \\\ndif0123,/*a", max_size=200))
def test_the_fast_count_is_the_count_of_the_lines(diff: str) -> None:
    kinds = [kind for kind, _ in classified(diff)]
    assert counts(diff) == (kinds.count("+"), kinds.count("-"))


def test_git_numstat_agrees(tmp_path: Path) -> None:
    old, new = tmp_path / "old.sql", tmp_path / "new.sql"
    old.write_text("select 1;\n-- a comment\n++ b\nkept\n" * 5)
    new.write_text("select 2;\n++ b\nkept\n++ new\n" * 5)

    def git(*options: str) -> str:
        command = ["git", "diff", "--no-index", *options, str(old), str(new)]
        return subprocess.run(command, capture_output=True, text=True, check=False).stdout

    added, removed, *_ = git("--numstat").split()
    assert counts(git()) == (int(added), int(removed))
