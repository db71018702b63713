"""Facts to a status: every rule that decides how a turn ended."""

import pytest

from agentdash.sessions.model.session import Status
from agentdash.sessions.rules.status import EndFacts, NoRoom, at_the_end, while_running
from agentdash.sessions.rules.turn_facts import Facts


def verdict(succeeded=False, end=None, error=None, **own):
    return at_the_end(EndFacts(facts=Facts(end=end, error=error), succeeded=succeeded, **own))


def test_only_the_proper_end_is_green():
    assert verdict(succeeded=True, end="completed", exit_code=0).status is Status.DONE


def test_an_end_that_proves_no_success_is_failed_with_its_reason():
    for facts, reason in [
        ({"exit_code": 1, "stderr_reason": "Error: not logged in"}, "exit 1: Error: not logged in"),
        ({"exit_code": 1}, "exit 1"),
        ({"signal": "SIGKILL"}, "killed by SIGKILL, not by agentdash"),
        ({"end": "failed", "error": "rate limit", "exit_code": 1}, "rate limit"),
        ({"end": "failed", "exit_code": 1}, "exit 1"),
        ({"exit_code": 0}, "ended without a final event (exit 0)"),
        ({"exit_code": 0, "end": "completed"}, "completed, but exit 0 alone does not mean success for this agent"),
        ({"exit_code": None, "end": "completed"}, "completed, but exit code unknown"),
        ({"exit_code": 1, "end": "completed"}, "completed, then exit 1"),
        ({"exit_code": 1, "end": "completed", "stderr_reason": "Error: x"}, "completed, then exit 1: Error: x"),
        ({"exit_code": 1, "stdout_reason": "Not logged in."}, "exit 1: Not logged in."),
        ({"exit_code": 0, "stdout_reason": "Not logged in."}, "ended without a final event (exit 0): Not logged in."),
        ({"exit_code": 1, "stdout_reason": "hello", "stderr_reason": "Error: x"}, "exit 1: Error: x"),
        ({"exit_code": 1, "stdout_reason": "hello", "error": "overloaded"}, "exit 1: overloaded"),
        ({"end": "failed", "error": "rate limit", "stdout_reason": "hello", "exit_code": 1}, "rate limit"),
    ]:
        found = verdict(**facts)
        assert found.status is Status.FAILED, facts
        assert found.reason == reason, facts


@pytest.mark.parametrize("facts", [{"exit_code": 0}, {"exit_code": 1}, {"exit_code": 143}, {"signal": "SIGINT"}])
def test_after_our_own_stop_it_is_stopped_whatever_the_exit_code(facts):
    found = verdict(stopped_by="you", **facts)
    assert (found.status, found.reason) == (Status.STOPPED, "stopped by you")


def test_a_turn_is_lost_only_where_nothing_is_known():
    assert verdict(runner_killed=True).status is Status.LOST
    assert "rebooted" in verdict(rebooted=True).reason
    adopted = verdict(runner_killed=True, end="completed", succeeded=True)
    assert (adopted.status, adopted.reason) == (Status.DONE, "the runner was killed")


def test_an_agent_that_stays_after_its_end_is_done_and_says_so():
    found = verdict(end="completed", lingered=True, signal="SIGINT")
    assert found.status is Status.DONE
    assert "stayed" in found.reason


def test_a_failure_whose_process_had_to_be_ended_is_not_blamed_on_others():
    found = verdict(end="failed", lingered=True, signal="SIGINT")
    assert (found.status, found.reason) == (Status.FAILED, "the agent reported a failure")


def test_what_a_stop_ended_and_who_asked_is_the_reason():
    found = verdict(stopped_by="its limit: ran longer than 10m", ended="2 processes ended (SIGINT 2), 0 left")
    assert found.reason == "stopped by its limit: ran longer than 10m; 2 processes ended (SIGINT 2), 0 left"


def test_a_good_turn_tells_of_limits_and_sweeps():
    facts = {"succeeded": True, "end": "completed", "exit_code": 0}
    assert verdict(crossed=("cost more than $2.00",), **facts).reason == "over limit: cost more than $2.00"
    assert verdict(ended="1 process ended (SIGTERM 1), 0 left", **facts).reason.startswith("swept: 1 process ended")
    assert while_running(Facts(), ("ran longer than 1h",)) == (Status.RUNNING, "over limit: ran longer than 1h")


def test_denied_permissions_are_told():
    found = at_the_end(EndFacts(facts=Facts(end="completed", denied=2), succeeded=True, exit_code=0))
    assert found.reason == "2 permissions denied"
    facts = Facts()
    for name in ("Bash", "Write", "Bash"):
        facts.deny(name)
    assert while_running(facts) == (Status.RUNNING, "3 permissions denied: Bash, Write")
    facts.notice = "Reconnecting... 1/2"
    assert while_running(facts)[1] == "3 permissions denied: Bash, Write; Reconnecting... 1/2"


def test_a_running_turn_is_running_waiting_or_finishing():
    assert while_running(Facts())[0] is Status.RUNNING
    assert while_running(Facts(notice="Reconnecting... 1/2")) == (Status.RUNNING, "Reconnecting... 1/2")
    assert while_running(Facts(waiting="rm -rf build?")) == (Status.WAITING, "rm -rf build?")
    assert while_running(Facts(waiting="rm -rf build?"), answered=True)[0] is Status.RUNNING
    assert while_running(Facts(end="completed"))[0] is Status.FINISHING


def full(cut=True):
    return NoRoom(what="the disk was full", evidence="a test write failed", cut=cut)


@pytest.mark.parametrize(
    ("facts", "reason"),
    [
        ({"exit_code": 0}, "the disk was full: ended without a final event (exit 0)"),
        ({"exit_code": 2, "stderr_reason": "cannot write"}, "the disk was full: exit 2: cannot write"),
        ({"signal": "SIGXFSZ"}, "the disk was full: killed by SIGXFSZ, not by agentdash"),
        ({"exit_code": 1, "end": "failed", "error": "rate limit"}, "rate limit; the disk was full"),
        ({"exit_code": 0, "succeeded": True}, "its output is incomplete: the disk was full (exit 0)"),
    ],
)
def test_a_full_disk_is_the_reason_of_a_turn_whose_output_did_not_fit(facts, reason):
    found = verdict(no_room=full(), **facts)
    assert (found.status, found.reason) == (Status.FAILED, reason)
    assert "a test write failed" in found.rule


def test_a_full_disk_changes_no_proven_end_and_is_mentioned():
    proven = verdict(succeeded=True, end="completed", exit_code=0, no_room=full())
    assert (proven.status, proven.reason) == (Status.DONE, "the disk was full: steps may be missing")
    whole = verdict(succeeded=True, exit_code=0, no_room=full(cut=False))
    assert (whole.status, whole.reason) == (Status.DONE, "the disk was full: some of its output may be missing")
    stopped = verdict(stopped_by="you", exit_code=0, no_room=full())
    assert (stopped.status, stopped.reason) == (Status.STOPPED, "stopped by you; the disk was full")
