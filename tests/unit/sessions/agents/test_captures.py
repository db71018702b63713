"""Real output of codex-cli 0.169.0 and Claude Code 2.1.197 and 2.1.330, line for line, through the parsers."""

import json

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from places import CAPTURES

from agentdash.sessions.agents.parsing.parser import TurnParser
from agentdash.sessions.agents.registry import agent_named
from agentdash.sessions.model.session import Step, StepKind, StepStatus, Usage
from agentdash.sessions.rules.json_schema import step_json

NAMES = sorted(path.name for path in CAPTURES.glob("*.jsonl"))
AGENTS = ("codex", "claude")

UNENDED = {
    "claude-kill-kill",
    "claude-kill-term",
    "codex-kill-int",
    "codex-kill-kill",
    "codex-kill-kill-sandboxed",
    "codex-kill-term",
    "codex-kill-term-pid",
    "codex-kill-term-sandboxed",
    "codex-refused",
}
"""Killed, or still trying: the stream just stops."""

FAILED = {
    "claude-330-err400": "API Error: 400 ",
    "claude-drop": "API Error: Unable to connect to API (ECONNRESET)",
    "claude-err400": "API Error: 400 ",
    "claude-err401": "Failed to authenticate. API Error: 401 ",
    "claude-err404": "There's an issue with the selected model",
    "claude-err429": "API Error: Request rejected (429)",
    "claude-err500": "API Error: 500 ",
    "claude-err_after_tool": "API Error: 400 Invalid request: scripted, after a tool call.",
    "claude-kill-int": "error during execution (aborted tools)",
    "claude-other-cwd": "No conversation found with session ID: ",
    "claude-resume-unknown": "No conversation found with session ID: ",
    "codex-context": "Codex ran out of room in the model's context window.",
    "codex-drop": "stream disconnected before completion",
    "codex-err400": "Invalid request: scripted.",
    "codex-err401": "unexpected status 401 Unauthorized",
    "codex-err404": "The model does not exist",
    "codex-err429": "exceeded retry limit, last status: 429 Too Many Requests",
    "codex-err500": "We\u2019re currently experiencing high demand",
    "codex-err_after_tool": "Invalid request: scripted, after a tool call.",
    "codex-hang": "stream disconnected before completion: idle timeout",
    "codex-nokey": "Missing environment variable: `FAKE_KEY`.",
}
"""The beginning of the reason that a person reads."""

NO_META = {
    "claude-330-background-wakes",
    "claude-330-live-inject",
    "claude-330-tasks",
    "claude-330-tasks-resumed",
    "claude-stdin-inject",
    "claude-stdin-inject_close",
    "claude-stdin-interrupt",
}


def lines_of(name: str) -> list[bytes]:
    return [line for line in (CAPTURES / name).read_bytes().split(b"\n") if line.strip()]


def read(name: str, agent: str | None = None) -> tuple[TurnParser, list[Step]]:
    """All steps that the parser gave, in the order in which it gave them."""
    parser = agent_named(agent or name.partition("-")[0]).parser()
    steps = [step for at, line in enumerate(lines_of(name)) for step in parser.feed(line, at)]
    return parser, steps


def newest(steps: list[Step]) -> list[Step]:
    """The steps as they are shown: later ones replace earlier ones of the same index."""
    return list({step.index: step for step in steps}.values())


def test_there_are_captures() -> None:
    assert len(NAMES) > 70


def test_every_line_is_accounted_for_and_none_is_unknown() -> None:
    for name in NAMES:
        parser, steps = read(name)
        assert parser.facts.lines == len(lines_of(name)), name
        assert (parser.facts.unknown, parser.facts.unknown_kinds) == (0, {}), name
        assert StepKind.UNKNOWN not in {step.kind for step in steps}, name


def test_indexes_count_up_without_gaps_and_every_step_can_be_printed() -> None:
    for name in NAMES:
        parser, steps = read(name)
        steps += parser.close(99)
        firsts = list(dict.fromkeys(step.index for step in steps))
        assert firsts == list(range(len(firsts))), name
        for step in steps:
            msgspec.json.encode(step_json(step))


def test_end_and_reason() -> None:
    for name in NAMES:
        facts = read(name)[0].facts
        case = name.removesuffix(".jsonl")
        if case in UNENDED:
            assert (facts.end, facts.error) == (None, None), name
        elif case in FAILED:
            assert facts.end == "failed", name
            assert facts.error is not None, name
            assert facts.error.startswith(FAILED[case]), name
        else:
            assert (facts.end, facts.error) == ("completed", None), name


def test_the_step_of_the_failure_has_the_reason_and_not_the_json_of_a_server() -> None:
    for case in FAILED:
        parser, steps = read(f"{case}.jsonl")
        assert [step.text for step in newest(steps) if step.fatal] == [parser.facts.error], case
        assert not (parser.facts.error or "").startswith("{"), case


def test_success_agrees_with_the_exit_code() -> None:
    for name in [name for name in NAMES if name.removesuffix(".jsonl") not in NO_META]:
        facts = read(name)[0].facts
        exit_code = json.loads((CAPTURES / name.replace(".jsonl", ".meta.json")).read_text())["exit"]
        code = exit_code if isinstance(exit_code, int) else 1
        assert agent_named(name.partition("-")[0]).succeeded(facts, code) == (code == 0), name


def test_every_agent_session_is_known_but_where_none_was_found() -> None:
    for name in NAMES:
        found_none = name in ("claude-other-cwd.jsonl", "claude-resume-unknown.jsonl")
        assert (read(name)[0].facts.agent_session is None) == found_none, name


@pytest.mark.parametrize("name", [f"{case}.jsonl" for case in sorted(UNENDED - {"codex-refused"})])
def test_a_command_that_ran_when_the_agent_died_is_shown_and_then_interrupted(name: str) -> None:
    parser, steps = read(name)
    running = [step for step in newest(steps) if step.status is StepStatus.RUNNING]
    assert [step.command for step in running] == ["echo started; sleep 600; echo finished"]
    closed = parser.close(77)
    assert [(step.index, step.status, step.ended_at) for step in closed] == [
        (running[0].index, StepStatus.INTERRUPTED, 77)
    ]
    assert parser.close(78) == []


@pytest.mark.parametrize("capture", [*AGENTS, "claude-330"])
def test_work_is_commands_with_exit_codes_and_file_changes(capture: str) -> None:
    parser, steps = read(f"{capture}-work.jsonl")
    shown = newest(steps)
    commands = [(s.command, s.exit_code, s.status) for s in shown if s.kind is StepKind.COMMAND]
    assert commands == [
        ("ls -la && echo done-listing", 0, StepStatus.OK),
        ("cat does-not-exist.txt; exit 3", 3, StepStatus.FAILED),
        ("cat notes.txt", 0, StepStatus.OK),
    ]
    failed = next(s for s in shown if s.exit_code == 3)
    assert (failed.output or "").strip() == "cat: does-not-exist.txt: No such file or directory"
    changes = [change for step in shown for change in step.changes]
    path = "/home/dev/project/notes.txt"
    assert [(change.path, change.kind) for change in changes] == [(path, "add"), (path, "update")]
    assert [s.text for s in shown if s.kind is StepKind.REASONING][1] == "**Trying a failing command**"
    assert parser.facts.last_message == "Done: notes.txt was created and edited."
    assert all(s.ended_at is not None and s.at is not None and s.at <= s.ended_at for s in shown if s.command)


def test_the_usage_of_codex_is_the_threads_and_grows_over_a_resume() -> None:
    first, second = (read(f"codex-resume-{n}.jsonl")[0].facts for n in (1, 2))
    assert first.agent_session == second.agent_session
    assert not first.usage.known
    assert first.thread_usage == Usage.of(2800, 1000, 47, 0, 0)
    assert second.thread_usage.minus(first.thread_usage) == Usage.of(1200, 0, 36, 0, 0)


def test_the_usage_of_claude_is_the_processes_and_starts_again_at_a_resume() -> None:
    first, second = (read(f"claude-resume-{n}.jsonl")[0].facts for n in (1, 2))
    assert first.agent_session == second.agent_session
    assert not first.thread_usage.known
    assert (first.usage, second.usage) == (Usage.of(2800, 1000, 47, written=0), Usage.of(1200, 0, 36, written=0))


@pytest.mark.parametrize(("agent", "reasoning"), [("codex", 19), ("claude", None)])
def test_usage_of_work(agent: str, reasoning: int | None) -> None:
    facts = read(f"{agent}-work.jsonl")[0].facts
    usage = facts.thread_usage if agent == "codex" else facts.usage
    assert usage == Usage.of(13200, 5000, 165, reasoning, 0)
    assert facts.cost_usd == (None if agent == "codex" else 0.047625)


def test_parallel_codex_commands_keep_their_own_steps() -> None:
    """Items of one process interleave: each is found again by its id."""
    started = b'{"type":"item.started","item":{"id":"item_%d","type":"command_execution","command":"%d"}}'
    done = b'{"type":"item.completed","item":{"id":"item_%d","type":"command_execution","command":"%d","exit_code":%d}}'
    parser = agent_named("codex").parser()
    steps = [parser.feed(line)[0] for line in (started % (0, 0), started % (1, 1), done % (1, 1, 1), done % (0, 0, 0))]
    assert [(s.index, s.text, s.status) for s in steps] == [
        (0, "0", StepStatus.RUNNING),
        (1, "1", StepStatus.RUNNING),
        (1, "1", StepStatus.FAILED),
        (0, "0", StepStatus.OK),
    ]


@pytest.mark.parametrize("agent", AGENTS)
def test_control_characters_arrive_whole(agent: str) -> None:
    """The renderers clean a text, not the parsers."""
    outputs = "".join(s.output or "" for s in read(f"{agent}-binary.jsonl")[1])
    assert "\x1b" in outputs


@pytest.mark.parametrize("agent", AGENTS)
def test_a_line_separator_inside_a_string_is_text(agent: str) -> None:
    parser, _ = read(f"{agent}-unicode.jsonl")
    assert "\u2028" in (parser.facts.last_message or "")


def test_several_turns_of_one_claude_process_add_up() -> None:
    parser, steps = read("claude-stdin-inject.jsonl")
    assert [s.text for s in steps if s.kind is StepKind.PROMPT] == [
        "[[fake:slow_steps]] go",
        "INJECTED while running: count lines",
        "[[fake:context_probe]] after the result",
    ]
    assert parser.facts.usage == Usage.of(6000, 2000, 135, written=0)
    assert parser.facts.cost_usd == 0.024375


def test_an_interrupted_claude_turn_is_not_the_end_of_its_process() -> None:
    parser, steps = read("claude-stdin-interrupt.jsonl")
    command = next(s for s in newest(steps) if s.kind is StepKind.COMMAND)
    assert command.status is StepStatus.INTERRUPTED
    assert [s.fatal for s in steps if s.kind is StepKind.ERROR] == [True]
    assert (parser.facts.end, parser.facts.error) == ("completed", None)


@pytest.mark.parametrize("version", ["claude", "claude-330"])
def test_denied_claude_tools_are_counted_named_and_declined(version: str) -> None:
    parser, steps = read(f"{version}-denied.jsonl")
    assert (parser.facts.denied, parser.facts.denied_names) == (2, ["Bash", "Write"])
    declined = [s.text for s in newest(steps) if s.status is StepStatus.DECLINED]
    assert declined == ["cat does-not-exist.txt; exit 3", "/home/dev/project/notes.txt"]
    assert steps[-1].text == "denied: Bash cat does-not-exist.txt; exit 3, Write /home/dev/project/notes.txt"


def test_a_command_that_claude_refuses_in_plan_mode_is_declined_and_an_allowed_one_is_not() -> None:
    for capture, denied, status in (("denied-plan", 1, StepStatus.DECLINED), ("allowed", 0, StepStatus.FAILED)):
        parser, steps = read(f"claude-330-{capture}.jsonl")
        assert parser.facts.denied == denied
        assert [s.status for s in newest(steps) if s.kind is StepKind.COMMAND] == [status]


def test_the_sub_agent_of_a_newer_claude_works_in_the_background() -> None:
    steps = newest(read("claude-330-subagent.jsonl")[1])
    agent = next(s for s in steps if s.kind is StepKind.SUBAGENT)
    inside = [(s.kind, s.text) for s in steps if s.parent == agent.call_id]
    assert inside == [
        (StepKind.MESSAGE, "Helper: counting."),
        (StepKind.COMMAND, "ls | wc -l"),
        (StepKind.MESSAGE, "Helper: counted."),
    ]


def test_steps_of_a_claude_sub_agent_name_the_call_that_began_it() -> None:
    steps = newest(read("claude-subagent.jsonl")[1])
    agent = next(s for s in steps if s.kind is StepKind.SUBAGENT)
    assert (agent.text, agent.status) == ("Count files", StepStatus.OK)
    assert "Helper: counted." in (agent.output or "")
    inside = [(s.kind, s.text) for s in steps if s.parent == agent.call_id]
    assert inside == [(StepKind.PROMPT, "[[fake:sub]] Count the files."), (StepKind.COMMAND, "ls | wc -l")]
    assert step_json(next(s for s in steps if s.parent))["parent"] == agent.call_id


def test_claude_tasks_become_one_growing_plan() -> None:
    plans = [s for s in newest(read("claude-plan.jsonl")[1]) if s.kind is StepKind.PLAN]
    assert [len(plan.items) for plan in plans] == [1, 2, 3]
    assert {plan.status for plan in plans} == {StepStatus.OK}


def test_a_codex_plan_is_one_step_that_changes() -> None:
    plans = [s for s in read("codex-plan.jsonl")[1] if s.kind is StepKind.PLAN]
    assert len({plan.index for plan in plans}) == 1
    assert [plan.text for plan in plans] == ["0 of 3 done", "1 of 3 done", "3 of 3 done", "3 of 3 done"]
    assert (plans[0].status, plans[-1].status) == (StepStatus.RUNNING, StepStatus.OK)


def plans(steps: list[Step]) -> list[str]:
    """The plan of each step as it is shown in the end: ``Freeze the clock: pending``, one task a line."""
    return ["\n".join(f"{item.text}: {item.status}" for item in s.items) for s in steps if s.kind is StepKind.PLAN]


def test_the_tasks_of_claude_2_1_330_are_one_plan_although_it_calls_in_parallel() -> None:
    shown = newest(read("claude-330-tasks.jsonl")[1])
    texts = [step.text for step in shown if step.kind is StepKind.PLAN]
    assert texts == ["0 of 1 done", "0 of 2 done", "0 of 3 done", "0 of 3 done", "1 of 3 done", "1 of 3 done"]
    assert plans(shown)[2] == "Read the code: pending\nFreeze the clock: pending\nFix the bug: pending"
    assert plans(shown)[-1] == "Read the code: completed\nFreeze the clock: in_progress\nFix the bug: pending"
    assert [step.output for step in shown if step.kind is StepKind.TOOL_CALL] == ["Task not found"]


def test_a_later_turn_claims_no_plan_until_the_list_of_tasks_is_known() -> None:
    created, listed, updated = (s for s in newest(read("claude-330-tasks-resumed.jsonl")[1]) if s.kind is StepKind.PLAN)
    assert (created.text, created.items) == ("Write the changelog", ())
    assert (listed.text, updated.text) == ("1 of 4 done", "2 of 4 done")
    assert plans([updated])[0].splitlines()[-2:] == ["Fix the bug: pending", "Write the changelog: pending"]


def test_what_is_new_in_claude_2_1_330_is_shown_and_ends_nothing() -> None:
    """A background command wakes claude for a second turn, whose result is the end of the process."""
    parser, steps = read("claude-330-background-wakes.jsonl")
    notices = [step.text for step in steps if step.kind is StepKind.NOTICE]
    assert [text.partition(":")[0] for text in notices] == ["task started", "task updated", "task notification"]
    assert len([step for step in steps if step.kind is StepKind.START]) == 2
    assert (parser.facts.end, parser.facts.unreadable) == ("completed", {})


def test_partial_claude_messages_change_nothing_but_the_count_of_lines() -> None:
    parser, steps = read("claude-partial.jsonl")
    assert parser.facts.lines == 74
    assert len([s for s in steps if s.kind is StepKind.MESSAGE]) == 1


def test_the_other_agents_output_is_kept_raw() -> None:
    for name in NAMES:
        other = "claude" if name.startswith("codex") else "codex"
        parser, _ = read(name, other)
        parser.close()
        assert parser.facts.lines == len(lines_of(name)), name
        assert parser.facts.unknown == parser.facts.lines, name
        assert parser.facts.end is None, name


MUTATED = [line for name in NAMES for line in lines_of(name) if len(line) < 5000]


@given(
    agent=st.sampled_from(AGENTS),
    lines=st.lists(st.sampled_from(MUTATED), min_size=1, max_size=8),
    data=st.data(),
)
def test_damaged_lines_are_accounted_for_and_never_raise(agent: str, lines: list[bytes], data: st.DataObject) -> None:
    parser = agent_named(agent).parser()
    steps = []
    for line in lines:
        at = data.draw(st.integers(0, len(line)))
        cut = data.draw(st.integers(0, 20))
        steps += parser.feed(line[:at] + data.draw(st.binary(max_size=8)).replace(b"\n", b"") + line[at + cut :])
    steps += parser.close()
    assert parser.facts.lines == len(lines)
    for step in steps:
        msgspec.json.encode(step)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


def _replaced(value: object, path: list[int], new: object) -> object:
    """The value with one of its parts, however deep, exchanged."""
    if not path or not isinstance(value, dict | list) or not value:
        return new
    keys = list(value) if isinstance(value, dict) else list(range(len(value)))
    chosen = keys[path[0] % len(keys)]
    copy = value.copy()
    copy[chosen] = _replaced(value[chosen], path[1:], new)
    return copy


@given(
    agent=st.sampled_from(AGENTS),
    lines=st.lists(st.sampled_from(MUTATED), min_size=1, max_size=8),
    path=st.lists(st.integers(0, 30), min_size=1, max_size=6),
    new=JSON,
)
def test_fields_of_the_wrong_type_never_raise(agent: str, lines: list[bytes], path: list[int], new: object) -> None:
    parser = agent_named(agent).parser()
    steps = []
    for line in lines:
        steps += parser.feed(json.dumps(_replaced(json.loads(line), path, new)).encode())
    steps += parser.close()
    assert parser.facts.lines == len(lines)
    for step in steps:
        msgspec.json.encode(step)


@given(agent=st.sampled_from(AGENTS), lines=st.lists(st.binary(max_size=200), max_size=5))
def test_any_bytes_are_accounted_for(agent: str, lines: list[bytes]) -> None:
    parser = agent_named(agent).parser()
    for line in lines:
        parser.feed(line)
    expected = len([line for line in lines if line.strip()])
    assert parser.facts.lines == expected
    assert parser.facts.unknown == expected
