"""The counts of a turn in the overview of a document."""

import pytest

from agentdash.sessions.model.session import Change, Step, StepKind, StepStatus
from agentdash.sessions.transcript.export.html import Tally


@pytest.mark.parametrize(
    ("status", "files"),
    [
        (None, 1),
        (StepStatus.OK, 1),
        (StepStatus.FAILED, 0),
        (StepStatus.DECLINED, 0),
        (StepStatus.INTERRUPTED, 0),
        (StepStatus.RUNNING, 0),
    ],
)
def test_only_edits_that_changed_a_file_are_counted(status: StepStatus | None, files: int) -> None:
    tally = Tally(1, "/w")
    tally.add(Step(kind=StepKind.FILE_CHANGE, status=status, changes=(Change(path="a.py", kind="update"),)))
    assert tally.files == files
