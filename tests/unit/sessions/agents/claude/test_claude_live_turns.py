"""The turns of a live claude as steps: each turn is read from its own part of the process's output."""

import json
from typing import Any

import pytest
from places import CAPTURES

from agentdash.sessions.agents.base import LaunchRequest
from agentdash.sessions.agents.claude.adapter import ClaudeSettings
from agentdash.sessions.agents.claude.live.control import change_id
from agentdash.sessions.agents.claude.live.dialogue import ClaudeDialogue
from agentdash.sessions.agents.dialogue import TurnEnded
from agentdash.sessions.agents.parsing.parser import TurnParser
from agentdash.sessions.agents.registry import agent_named
from agentdash.sessions.model.session import Step, StepKind, StepStatus
from agentdash.sessions.text.units import duration
from agentdash.sessions.transcript.blocks import describe, lasts

LIVE = CAPTURES / "live"
NAMES = sorted(path.name for path in LIVE.glob("claude-*.jsonl") if not path.name.endswith(".in.jsonl"))
CLAUDE = agent_named("claude")
COMMAND = "touch outside-$$.txt && echo ran-it"


def slices(name: str) -> list[list[bytes]]:
    """The lines of each turn; the lines between two turns belong to the second."""
    dialogue, turns = ClaudeDialogue(), [[]]  # type: tuple[ClaudeDialogue, list[list[bytes]]]
    for line in (LIVE / name).read_bytes().splitlines():
        turns[-1].append(line)
        if TurnEnded() in dialogue.feed(line):
            turns.append([])
    return turns


def read(lines: list[bytes]) -> tuple[TurnParser, list[Step]]:
    """The steps of a turn as they are shown: later ones replace earlier ones of the same index."""
    parser = CLAUDE.parser(1, "stream-json")
    steps = [step for line in lines for step in parser.feed(line)]
    return parser, list({step.index: step for step in steps}.values())


def texts(steps: list[Step], kind: StepKind) -> list[str]:
    return [step.text for step in steps if step.kind is kind]


def test_no_line_is_unknown_and_each_turn_has_its_end() -> None:
    for name in NAMES:
        *turns, rest = slices(name)
        for lines in turns:
            parser, _ = read(lines)
            assert (parser.facts.unknown_kinds, parser.facts.unreadable, parser.facts.waiting) == ({}, {}, None), name
            assert parser.facts.end in ("completed", "failed"), name
        assert read(rest)[1] == [], name


@pytest.mark.parametrize("version", ["197", "330"])
def test_a_turns_own_prompt_is_not_shown_twice_and_a_steered_one_is(version: str) -> None:
    first, second, _ = slices(f"claude-{version}-live-inject.jsonl")
    assert texts(read(first)[1], StepKind.PROMPT) == ["INJECTED one", "INJECTED two"]
    assert texts(read(second)[1], StepKind.PROMPT) == []


@pytest.mark.parametrize("version", ["197", "330"])
def test_of_several_prompts_that_begin_a_turn_together_each_is_shown_once(version: str) -> None:
    _, merged, _ = slices(f"claude-{version}-merged.jsonl")
    assert texts(read(merged)[1], StepKind.PROMPT) == ["[[fake:plain]] three"]


@pytest.mark.parametrize("version", ["197", "330"])
def test_a_prompt_that_was_sent_twice_is_shown_once(version: str) -> None:
    first, rest = slices(f"claude-{version}-dup-uuid.jsonl")
    assert texts(read(first)[1], StepKind.PROMPT) == ["SECOND"]
    assert read(rest)[1] == []


def test_a_prompt_in_a_turn_that_claude_began_is_shown() -> None:
    *_, own, _ = slices("claude-330-background-wakes.jsonl")
    replay = {
        "type": "user", "uuid": "k", "isReplay": True, "timestamp": "2026-01-01",
        "message": {"role": "user", "content": [{"type": "text", "text": "steered"}]},
    }  # fmt: skip
    assert texts(read([*own[:-1], json.dumps(replay).encode(), own[-1]])[1], StepKind.PROMPT) == ["steered"]


def test_a_reader_that_begins_in_the_middle_makes_the_same_steps() -> None:
    lines = slices("claude-330-live-inject.jsonl")[0]
    for cut in range(len(lines)):
        one = CLAUDE.parser(1, "stream-json")
        other = CLAUDE.parser(1, "stream-json")
        for line in lines[:cut]:
            one.feed(line)
        saved = one.checkpoint()
        assert saved is not None
        other.resume(saved)
        assert [one.feed(line) for line in lines[cut:]] == [other.feed(line) for line in lines[cut:]]


@pytest.mark.parametrize("version", ["197", "330"])
def test_an_ask_is_one_notice_and_the_turn_waits_until_it_is_answered(version: str) -> None:
    allowed, denied, stopped, always, _, _ = slices(f"claude-{version}-can-use-tool.jsonl")
    asks = [f"asks to run: {COMMAND}", "asks to write made.txt"]
    shown = {
        f"{asks[0]} (allowed)": allowed, f"{asks[0]} (denied: No: not in this folder.)": denied,
        f"{asks[0]} (denied: Stop it.)": stopped, f"{asks[1]} (allowed, also later)": always,
    }  # fmt: skip
    for text, lines in shown.items():
        notices = [step for step in read(lines)[1] if step.event == "ask"]
        assert [step.text for step in notices] == [text]
    parser, waited = CLAUDE.parser(1, "stream-json"), []
    for line in denied:
        parser.feed(line)
        waited.append(parser.facts.waiting)
    assert list(dict.fromkeys(waited)) == [None, asks[0]]
    assert (parser.facts.denied, read(stopped)[0].facts.denied) == (0, 0)
    commands = [step.status for lines in (allowed, denied, stopped) for step in read(lines)[1] if step.command]
    assert commands == [StepStatus.OK, StepStatus.DECLINED, StepStatus.INTERRUPTED]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("claude-330-ask-user-question.jsonl", "asks: Which colour? (answered: Blue)"),
        ("claude-197-elicitation.jsonl", "asks to fill in a form of s6: Your name? (answered)"),
        ("claude-197-can-use-tool-pending.jsonl", f"asks to run: {COMMAND} (withdrawn)"),
    ],
)
def test_other_asks_and_answers(name: str, text: str) -> None:
    notices = [step.text for step in read(slices(name)[0])[1] if step.event == "ask"]
    assert notices == [text]


def test_claudes_own_answer_to_a_command_is_a_notice() -> None:
    _, _, _, compact, _, _ = slices("claude-330-compact.jsonl")
    _, steps = read(compact)
    assert "Compacted" in texts(steps, StepKind.NOTICE)
    assert texts(steps, StepKind.PROMPT) == []


def test_the_cost_of_a_turn_is_its_own_or_not_known_and_the_total_runs_on() -> None:
    for name in NAMES:
        totals = [0.0]
        for lines in slices(name)[:-1]:
            parser, steps = read(lines)
            [usage] = [step for step in steps if step.kind is StepKind.USAGE]
            assert usage.cost_usd == parser.facts.cost_usd, name
            running = parser.facts.running_cost_usd
            assert running is not None, name
            if totals[-1] == 0 and "resume" not in name:
                assert parser.facts.cost_usd == running, name
            else:
                assert parser.facts.cost_usd is None, (name, "the total counts the turns before")
            assert running >= totals[-1], name
            totals.append(running)


def result(total: float, **tokens: int) -> dict[str, Any]:
    counted = {"inputTokens": tokens["all"], "outputTokens": 0}
    return {
        "type": "result", "subtype": "success", "is_error": False, "stop_reason": "end_turn", "total_cost_usd": total,
        "usage": {"input_tokens": tokens["own"], "output_tokens": 0}, "modelUsage": {"m": counted},
    }  # fmt: skip


def test_the_cost_within_one_part_is_counted_from_result_to_result() -> None:
    parser, steps = read(
        [json.dumps(result(0.25, own=10, all=10)).encode(), json.dumps(result(1, own=5, all=15)).encode()]
    )
    assert [step.cost_usd for step in steps if step.kind is StepKind.USAGE] == [0.25, 0.75]
    assert (parser.facts.cost_usd, parser.facts.running_cost_usd) == (1.0, 1.0)


def launched(**settings: Any) -> Any:
    request = LaunchRequest(
        prompt="p", cwd="/p", session_id="s", settings=ClaudeSettings(args=("--extra", "1"), **settings), model="m"
    )
    return CLAUDE.command(request)


def test_a_live_launch() -> None:
    launch = launched(live=True)
    live = ("--input-format", "stream-json", "--replay-user-messages", "--permission-prompt-tool", "stdio")
    start = ("claude", "-p", "--output-format", "stream-json", "--verbose")
    rest = ("--model", "m", "--permission-mode", "acceptEdits", "--session-id", "s", "--extra", "1")
    assert launch.argv == (*start, *live, *rest)
    assert launch.plain_argv == launched(live=False).argv == (*start, *rest)
    assert (launch.transport, launch.stdin, launch.opening) == ("stream-json", "p", ())
    assert isinstance(CLAUDE.dialogue(launch.transport, launch.opening), ClaudeDialogue)


def test_a_live_launch_that_asks_nobody() -> None:
    assert "--permission-prompt-tool" not in launched(live=True, approvals="deny").argv


def test_turn_by_turn_there_is_no_dialogue() -> None:
    launch = launched(live=False)
    assert (launch.transport, launch.plain_argv, CLAUDE.dialogue(launch.transport, launch.opening)) == ("", (), None)


@pytest.mark.parametrize("status_first", [True, False])
def test_a_change_of_mode_that_is_reported_twice_is_one_notice(status_first: bool) -> None:
    def change(mode: str) -> list[bytes]:
        answer = {"subtype": "success", "request_id": change_id(1, "mode", mode), "response": {"mode": mode}}
        lines = [{"type": "control_response", "response": answer},
                 {"type": "system", "subtype": "status", "status": None, "permissionMode": mode}]  # fmt: skip
        return [json.dumps(line).encode() for line in (reversed(lines) if status_first else lines)]

    _, steps = read([*change("auto"), *change("plan"), *change("auto")])
    modes = [text.partition(": ")[2] for text in texts(steps, StepKind.NOTICE)]
    assert modes == ["auto", "plan", "auto"]


@pytest.mark.parametrize("version", ["197", "330"])
def test_a_call_waits_until_the_answer_and_lasts_from_it(version: str) -> None:
    for lines in slices(f"claude-{version}-can-use-tool.jsonl")[:4]:
        parser, forms = CLAUDE.parser(1, "stream-json"), list[Step]()
        for second, line in enumerate(lines):
            forms += [step for step in parser.feed(line, second * 1000) if step.call_id is not None]
        statuses = [step.status for step in forms]
        assert statuses[:3] == [StepStatus.RUNNING, StepStatus.WAITING, StepStatus.RUNNING]
        waits, last = forms[1], forms[-1]
        assert (waits.began_at, lasts(waits, (waits.asked_at or 0) + 35_000)) == (None, "35s")
        assert last.decided_at is not None and last.began_at == last.decided_at > (last.asked_at or 0)
        assert describe(last).took == duration((last.ended_at or 0) - last.decided_at)
