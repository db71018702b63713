"""Loops: what counts as one, when it is over, and that nothing an agent prints can break or fill the detector."""

import os
import subprocess
import sys

from hostile_text import nasty
from hypothesis import example, given
from hypothesis import strategies as st

from agentdash.sessions.agents.registry import agent_named
from agentdash.sessions.model.session import Step, StepKind, StepStatus
from agentdash.sessions.rules.limits.loop_detector import _MOST_COMMANDS, _MOST_SPEAKERS, Loops

FAILED, OK, RUNNING = StepStatus.FAILED, StepStatus.OK, StepStatus.RUNNING


def command(text, status=FAILED, **own):
    return Step(kind=StepKind.COMMAND, text=text, command=text, status=status, **own)


def call(arguments, *, tool="lookup", server="docs", **own):
    return Step(
        kind=StepKind.TOOL_CALL,
        status=OK,
        server=server,
        tool=tool,
        arguments=arguments,
        text=f"{server}.{tool}",
        **own,
    )


def said():
    return Step(kind=StepKind.MESSAGE, text="Once more.")


def evidence(*steps, repeats=4, polling_tools=frozenset()):
    loops = Loops(repeats, polling_tools)
    for step in steps:
        loops.feed(step)
    return loops.found.evidence if loops.found else None


def test_the_same_command_that_fails_four_times_is_a_loop():
    assert evidence(*[command("pytest -q")] * 3) is None
    assert evidence(*[command("pytest -q")] * 4) == "`pytest -q` failed 4 times in a row"
    assert evidence(*[command("pytest -q")] * 6) == "`pytest -q` failed 6 times in a row"
    assert evidence(*[command("make")] * 2, repeats=2) == "`make` failed 2 times in a row"


def test_blanks_around_a_command_and_what_is_said_between_make_no_difference():
    steps = [command("make"), said(), command(" make\n"), said(), command("make "), command("make")]
    assert evidence(*steps) == "`make` failed 4 times in a row"


def test_the_beginning_of_a_command_does_not_count_and_its_exit_code_alone_does():
    assert evidence(*[command("make", RUNNING), command("make")] * 3) is None
    assert evidence(*[command("make", None, exit_code=2)] * 4) == "`make` failed 4 times in a row"


def test_a_success_begins_anew_and_ends_a_loop():
    failing = [command("make")] * 3
    assert evidence(*failing, command("make", OK), *failing) is None
    assert evidence(*[command("make")] * 4, command("make", OK)) is None


def test_a_command_that_was_refused_neither_failed_nor_went_well():
    declined = command("make", StepStatus.DECLINED)
    assert evidence(*[declined] * 9) is None
    assert evidence(*[command("make")] * 3, declined, command("make")) == "`make` failed 4 times in a row"


def test_looking_at_something_between_two_failures_does_not_hide_a_loop():
    cycle = [command("make"), call({"q": "make"}), command("cat Makefile", OK)]
    assert evidence(*cycle * 4) == "`make` failed 4 times in a row"


def test_who_does_as_many_other_things_has_moved_on():
    others = [command(f"cat {name}", OK) for name in "abcd"]
    assert evidence(*[command("make")] * 4, *others[:3]) == "`make` failed 4 times in a row"
    assert evidence(*[command("make")] * 4, *others) is None
    assert evidence(*([command("make"), *others] * 6)) is None
    assert evidence(*[command("make")] * 4, *[call({"n": n}) for n in range(4)]) is None


def test_the_same_call_again_and_again_is_a_loop_in_whatever_order_its_arguments_stand():
    calls = [call({"q": "tick", "n": 1}), call({"n": 1, "q": "tick"})] * 2
    assert evidence(*calls) == 'the same call docs.lookup(n=1, q="tick") 4 times'
    assert evidence(*[call({}, server=None, tool="Read")] * 5) == "the same call Read() 5 times"


def test_another_call_or_a_command_ends_a_loop_of_calls():
    same = [call({"q": "tick"})] * 4
    assert evidence(*same, call({"q": "tock"})) is None
    assert evidence(*same, call({"q": "tick"}, server="wiki")) is None
    assert evidence(*same, command("ls", OK)) is None
    assert evidence(*same, said()) == 'the same call docs.lookup(q="tick") 4 times'


def test_asking_how_far_a_command_has_come_is_no_loop():
    polling = agent_named("claude").polling_tools
    for tool in ("TaskOutput", "BashOutput", "wait"):
        assert evidence(*[call({"task_id": "b1"}, server=None, tool=tool)] * 20, polling_tools=polling) is None
    assert evidence(*[call({"ids": ["1"]}, tool="wait")] * 20, polling_tools=agent_named("codex").polling_tools) is None


def test_sub_agents_that_do_the_same_beside_each_other_are_no_loop():
    assert evidence(*[command("make", parent=f"task-{n}") for n in range(8)]) is None


def test_a_loop_of_a_sub_agent_ends_with_it():
    loop = [command("make", parent="task-1")] * 4
    assert evidence(*loop) == "`make` failed 4 times in a row"
    ended = Step(kind=StepKind.SUBAGENT, tool="Task", call_id="task-1", status=OK, arguments={})
    assert evidence(*loop, ended) is None


def test_a_loop_keeps_its_key_while_it_goes_on():
    loops = Loops(2)
    keys = []
    for step in [command("make")] * 5 + [command("ls")] * 5:
        loops.feed(step)
        keys.append(loops.found.key if loops.found else None)
    assert len(set(keys[1:5])) == 1
    assert len({key for key in keys if key}) == 2


def test_a_loop_has_the_same_key_in_every_process():
    code = (
        "from agentdash.sessions.rules.limits.loop_detector import Loops\n"
        "from agentdash.sessions.model.session import *\n"
        "loops = Loops(2)\n"
        "for kind in ('command', 'tool_call'):\n"
        "    for _ in range(2): loops.feed(Step(kind=StepKind(kind), text='make', tool='t', arguments={'n': 1},"
        " status=StepStatus.FAILED if kind == 'command' else StepStatus.OK))\n"
        "    print(loops.found.key); loops = Loops(2)"
    )
    told = [
        subprocess.run(
            [sys.executable, "-c", code],
            env=os.environ | {"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    ]
    assert told[0] == told[1]
    assert told[0].count(":") == 2


def test_evidence_is_one_short_clean_line():
    told = evidence(*[command("\x1b[31mfind . \\\n  -name '*.py'" + "x" * 10_000)] * 4)
    assert told.startswith("`find . \\ -name '*.py'xxx")
    assert len(told) < 100
    told = evidence(*[call({"text": "\x1b]0;title\x07" + "y" * 100_000, "k" * 10_000: 1})] * 4)
    assert told.startswith('the same call docs.lookup(text="')
    assert len(told) < 200


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | nasty | st.binary(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(nasty | st.integers(), inner, max_size=3),
    max_leaves=8,
)
STEPS = st.builds(
    Step,
    kind=st.sampled_from(StepKind),
    text=nasty,
    status=st.sampled_from([None, *StepStatus]),
    command=st.none() | nasty,
    exit_code=st.none() | st.integers(),
    server=st.none() | nasty,
    tool=st.none() | nasty,
    arguments=VALUES,
    parent=st.none() | nasty,
    call_id=st.none() | nasty,
)


@given(st.lists(STEPS, max_size=12), st.integers(1, 3))
@example([Step(kind=StepKind.TOOL_CALL, tool="lookup", arguments={"": "\ud800"})], 1)
def test_no_step_can_break_it(steps, repeats):
    told = evidence(*[step for step in steps for _ in range(3)], repeats=repeats)
    assert told is None or ("\n" not in told and "\x1b" not in told and len(told) < 400)


def test_its_memory_does_not_grow_with_the_turn():
    loops = Loops(10**6)
    for n in range(2_000):
        loops.feed(command(f"make {n}" * 100))
        loops.feed(command("make", parent=f"task-{n}"))
    assert len(loops._speakers) == _MOST_SPEAKERS
    assert max(len(speaker._failures) for speaker in loops._speakers.values()) <= _MOST_COMMANDS
