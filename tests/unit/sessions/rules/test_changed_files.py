"""The number of changed files and lines: the same wherever it is shown."""

import pytest

from agentdash.sessions.mcp.orchestration.viewing import change_lines
from agentdash.sessions.mcp.orchestration.views import collected, did
from agentdash.sessions.model.session import Change, Step, StepKind, StepStatus
from agentdash.sessions.rules.digest.collect import digest, digest_lines
from agentdash.sessions.service.changes.from_steps import collect
from agentdash.sessions.service.changes.model import SessionChanges
from agentdash.sessions.transcript.export.html import Tally
from agentdash.tui.render.sessions.changes import changes_text
from agentdash.tui.render.style import Style

DIFF = "@@ -1 +1 @@\n-a\n+b"


def edit(path: str, diff: str | None = None, *, to: str | None = None, status: StepStatus = StepStatus.OK) -> Step:
    change = Change(path=path, kind="update", diff=diff, moved_to=to)
    return Step(kind=StepKind.FILE_CHANGE, status=status, changes=(change,))


@pytest.mark.parametrize(
    ("steps", "files", "lines"),
    [
        ([edit("a.py", DIFF)], ("a.py",), "+1 -1"),
        ([edit("/w/a.py"), edit("a.py", DIFF), edit("./b/../a.py", DIFF)], ("a.py",), "at least +2 -2"),
        ([edit("/w/a.py"), edit("a.py")], ("a.py",), ""),
        ([edit("a.py", DIFF, to="/w/b.py")], ("a.py", "b.py"), "+1 -1"),
        ([edit("a.py", to="b.py")], ("a.py", "b.py"), ""),
        ([edit("a.py", DIFF), edit("b.py", DIFF, status=StepStatus.INTERRUPTED)], ("a.py",), "+1 -1"),
    ],
)
def test_changes_digests_exports_and_leads_count_the_same_files_and_lines(steps, files, lines):
    number = f"{len(files)} file{'s' if len(files) > 1 else ''} changed"
    changes = SessionChanges(session="a", cwd="/w", files=collect(steps, "/w").files)
    assert next(changes_text(changes, Style())) == f"{number}  {lines}".rstrip()
    assert digest_lines(digest(steps, "/w")) == [f"{number} {lines}".rstrip()]
    facts = collected(steps, "/w")
    told = did(facts, 10)
    assert (told.files_changed, told.lines, tuple(facts.touched.values())) == (files, lines, files)
    tally = Tally(1, "/w")
    for step in steps:
        tally.add(step)
    assert tally.files == len(files)


def test_a_lead_reads_that_lines_of_a_file_are_a_minimum():
    assert list(change_lines([edit("a.py"), edit("a.py", DIFF)], "/w", full=False)) == [
        "update a.py at least +1 -1 (2 of 2 edits took effect)\n"
    ]
