"""Which step of a lead started which worker."""

import factories
from hypothesis import given
from hypothesis import strategies as st

from agentdash.sessions.model.session import StepKind
from agentdash.sessions.transcript.worker_steps import started_by, step_that_started

A = factories.session("11111111-aaaa", parent="lead", call="call_1")
B = factories.session("22222222-bbbb", parent="lead")
C = factories.session("33333333-cccc", parent="lead")
WORKERS = [A, B, C]


def tool(**facts):
    return factories.step(1, StepKind.TOOL_CALL, **facts)


def command(text, output):
    return factories.step(1, StepKind.COMMAND, command=text, output=output)


def test_a_step_names_the_workers_that_it_started():
    for step, workers in [
        (tool(call_id="call_1", tool="delegate"), [A]),
        (tool(call_id="call_1", tool="delegate", output='{"session":"22222222"}'), [A]),
        (tool(call_id="x", server="agentdash", tool="delegate", output='{"session":"22222222"}'), [B]),
        (tool(call_id="x", server="agentdash", tool="delegate", output='{"session":"11111111"}'), []),
        (tool(call_id="item_0", server="agentdash", tool="delegate", output='{"session":"11111111"}'), [A]),
        (tool(call_id="item_1", server="agentdash", tool="wait_for", output='{"session":"11111111"}'), []),
        (tool(tool="mcp__agentdash__delegate", output='{"session":"22222222-bbbb","status":"running"}'), [B]),
        (tool(server="agentdash", tool="wait_for", output='{"session":"22222222"}'), []),
        (tool(server="other", tool="delegate", output="22222222"), []),
        (command('agentdash spawn "port a"', "22222222  ● running"), [B]),
        (command("cd x && python3 -m agentdash spawn a; agentdash spawn b", "22222222\n33333333\n"), [B, C]),
        (command("agentdash spawn a", "0022222222 222222220 11111111"), []),
        (command("agentdash ls", "22222222"), []),
        (command("grep spawn agentdash.log; run", "22222222"), []),
        (factories.step(1, StepKind.MESSAGE, text="agentdash spawn 22222222", call_id="call_1"), []),
    ]:
        assert started_by(step, WORKERS) == workers, step


def test_a_lead_without_workers_is_not_searched():
    assert started_by(tool(call_id="call_1"), []) == []


def test_the_step_of_a_worker_is_the_first_that_started_it():
    steps = [command("agentdash ls", "22222222"), command("agentdash spawn b", "22222222"), tool(call_id="call_1")]
    assert step_that_started(steps, B) is steps[1]
    assert step_that_started(steps, A) is steps[2]
    assert step_that_started(steps, C) is None


ODD = st.one_of(st.none(), st.text(), st.integers(), st.just("agentdash spawn " * 3_000), st.just("2" * 100_000))


@given(ODD, ODD, ODD, st.sampled_from([StepKind.COMMAND, StepKind.TOOL_CALL]))
def test_no_step_is_too_odd(one, other, third, kind):
    step = factories.step(1, kind, command=one, output=other, server=third, tool=one, call_id=third)
    assert set(started_by(step, WORKERS)) <= set(WORKERS)
