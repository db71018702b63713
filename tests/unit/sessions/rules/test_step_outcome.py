"""A command that failed: the same answer wherever it is counted."""

import pytest

from agentdash.sessions.model.session import Step, StepKind, StepStatus
from agentdash.sessions.rules.digest.collect import digest, digest_lines
from agentdash.sessions.rules.limits.loop_detector import Loops
from agentdash.sessions.transcript.export.html import Tally
from agentdash.sessions.transcript.index.kind_codes import encoded
from agentdash.widgets.steps.filtered_steps import FAILURES


@pytest.mark.parametrize(
    ("status", "exit_code", "fails", "line"),
    [
        (StepStatus.FAILED, 1, True, "1 command, 1 failed (`grep x` exit 1)"),
        (StepStatus.FAILED, None, True, "1 command, 1 failed (`grep x`)"),
        (None, 1, True, "1 command, 1 failed (`grep x` exit 1)"),
        (None, 0, False, "1 command"),
        (None, None, False, "1 command"),
        (StepStatus.OK, 0, False, "1 command"),
        (StepStatus.OK, 1, False, "1 command"),  # the agent knows that its search found nothing
        (StepStatus.INTERRUPTED, 130, False, "1 command"),
        (StepStatus.RUNNING, None, False, "1 command"),
    ],
)
def test_digests_exports_loops_and_the_filter_of_failures_agree(status, exit_code, fails, line):
    step = Step(kind=StepKind.COMMAND, index=1, command="grep x", status=status, exit_code=exit_code)
    assert digest_lines(digest([step], "/w")) == [line]
    tally = Tally(1, "/w")
    tally.add(step)
    assert tally.failed == fails
    assert FAILURES[encoded(step)] == fails
    loops = Loops(2)
    for _ in range(2):
        loops.feed(step)
    assert (loops.found is not None) == fails


def test_a_refused_command_is_among_the_failures_that_the_viewer_shows_and_has_not_failed():
    step = Step(kind=StepKind.COMMAND, index=1, command="rm -r /", status=StepStatus.DECLINED)
    tally = Tally(1, "/w")
    tally.add(step)
    assert FAILURES[encoded(step)]
    assert (tally.failed, digest([step], "/w").commands_failed) == (0, 0)
