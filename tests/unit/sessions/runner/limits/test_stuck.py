"""A turn that gets nowhere: since when, also where another runner takes it over."""

from agentdash.sessions.model.session import Step, StepKind, StepStatus
from agentdash.sessions.rules.attention import AttentionSettings
from agentdash.sessions.rules.turn_facts import Facts
from agentdash.sessions.runner.limits.stuck import StuckWatch

LONG_AGO = 1_700_000_000_000


def watched(*commands, recorded=None):
    watch = StuckWatch(AttentionSettings(repeats=2), dict, recorded)
    for text in commands:
        watch.feed(Step(kind=StepKind.COMMAND, text=text, command=text, status=StepStatus.FAILED))
        found = watch.episode(Facts(), 0.0)
    return found


def test_a_runner_that_takes_a_turn_over_goes_on_with_the_episode_of_the_one_before():
    before = watched(*["make"] * 4)
    after = watched(*["make"] * 5, recorded=(before.evidence, LONG_AGO))
    assert (after.key, after.since) == (before.key, LONG_AGO)
    assert "5 times" in after.evidence


def test_another_loop_is_another_episode():
    before = watched(*["make"] * 4)
    after = watched(*["pytest"] * 4, recorded=(before.evidence, LONG_AGO))
    assert after.since > LONG_AGO


def test_a_turn_that_waits_for_an_answer_is_not_stuck():
    watch = StuckWatch(AttentionSettings(repeats=2, idle_seconds=10), dict)
    for _ in range(4):
        watch.feed(Step(kind=StepKind.COMMAND, text="make", command="make", status=StepStatus.FAILED))
    asks = Facts(waiting="asks to run: rm -rf build")
    assert watch.check(asks, 100_000.0, 0.0) is None
    assert watch.episode(asks, 0.0) is None
    assert watch.episode(Facts(), 0.0) is not None
