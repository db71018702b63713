"""Failures of real agents that mean: the conversation that was to be resumed is gone."""

import factories
import pytest
from places import CAPTURES

from agentdash.sessions.agents.lost_conversation import lost_conversation
from agentdash.sessions.agents.registry import agent_named
from agentdash.sessions.model.session import Status

CODEX = "Error: thread/resume: thread/resume failed: no rollout found for thread id 1 (code -32600)"


@pytest.mark.parametrize("capture", ["claude-resume-unknown", "claude-other-cwd"])
def test_claude_says_it_in_its_result(capture):
    parser = agent_named("claude").parser()
    for line in (CAPTURES / f"{capture}.jsonl").read_bytes().splitlines():
        parser.feed(line)
    assert lost_conversation(factories.turn(1, status=Status.FAILED, reason=parser.facts.error))


def test_codex_says_it_on_stderr():
    reason = agent_named("codex").stderr_reason(CODEX)
    assert lost_conversation(factories.session("s", status=Status.FAILED, reason=f"exit 1: {reason}"))


@pytest.mark.parametrize(
    ("status", "reason"),
    [
        (Status.FAILED, None),
        (Status.FAILED, "API Error: 500"),
        (Status.DONE, "No conversation found with session ID: 1"),
        (Status.RUNNING, CODEX),
    ],
)
def test_other_failures_and_other_ends_are_not_it(status, reason):
    assert not lost_conversation(factories.turn(1, status=status, reason=reason))
