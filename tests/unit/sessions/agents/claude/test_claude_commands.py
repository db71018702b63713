"""Commands of claude itself: no model answers them, and their answer is a message of a good turn."""

import json

import pytest
from places import CAPTURES

from agentdash.sessions.agents.claude.adapter import STREAM_JSON, Claude
from agentdash.sessions.model.session import StepKind

CLAUDE = Claude()
PROMPTS = ("one", "/context", "/help", "/model", "/clear", "three")
RESULT = {
    "type": "result", "subtype": "success", "is_error": False, "num_turns": 0, "stop_reason": None, "session_id": "c",
}  # fmt: skip


def turns(version):
    """Return the turns of a recorded process, each as the steps and the facts of a parser of its own."""
    lines = (CAPTURES / "commands" / f"claude-{version}.jsonl").read_bytes().splitlines()
    parser, found, done = CLAUDE.parser(1, STREAM_JSON), [], {}
    for line in lines:
        found += parser.feed(line)
        if b'"type":"result"' in line:
            done[PROMPTS[len(done)]] = found, parser.facts
            parser, found = CLAUDE.parser(len(done) + 1, STREAM_JSON), []
    return done


def fed(*lines, transport=""):
    parser = CLAUDE.parser(1, transport)
    steps = {}
    for line in lines:
        steps |= {step.index: step for step in parser.feed(json.dumps(line).encode())}
    return parser, list(steps.values())


def made_up(text, **fields):
    message = {"model": "<synthetic>", "content": [{"type": "text", "text": text}]}
    return {"type": "assistant", "session_id": "c", "message": message} | fields


@pytest.mark.parametrize("version", ["197", "330"])
def test_a_command_of_claude_itself_ends_well_with_its_answer_as_the_last_message(version):
    recorded = turns(version)
    for prompt, begins in (("/context", "## Context Usage"), ("/help", "/help isn't available")):
        steps, facts = recorded[prompt]
        assert (facts.end, facts.error, facts.local) == ("completed", None, True), prompt
        said = [step for step in steps if step.kind is StepKind.MESSAGE]
        assert len(said) == 1 and said[0].text.strip() == facts.last_message.strip() and said[0].text.startswith(begins)
        assert not [step for step in steps if step.kind in (StepKind.ERROR, StepKind.PROMPT)], prompt
        assert CLAUDE.succeeded(facts, 0)
    _, facts = recorded["three"]
    assert (facts.end, facts.local) == ("completed", False)
    assert facts.last_message == "I can see 1 user messages and 0 tool results. Newest: three"


@pytest.mark.parametrize("version", ["197", "330"])
def test_clear_says_nothing_and_is_in_another_conversation(version):
    recorded = turns(version)
    steps, facts = recorded["/clear"]
    assert (facts.end, facts.local, facts.last_message) == ("completed", True, None)
    assert not [step for step in steps if step.kind in (StepKind.ERROR, StepKind.MESSAGE)]
    assert facts.agent_session not in (None, recorded["one"][1].agent_session)
    assert facts.agent_session == recorded["three"][1].agent_session
    assert facts.cleared is (version == "330")


def test_an_answer_that_only_the_result_has_is_a_message_too():
    parser, steps = fed(RESULT | {"result": "Set the model."}, transport=STREAM_JSON)
    assert [step.text for step in steps if step.kind is StepKind.MESSAGE] == ["Set the model."]
    assert parser.facts.last_message == "Set the model."


SPOKEN = {
    "type": "assistant",
    "session_id": "c",
    "message": {"model": "m", "content": [{"type": "text", "text": "hal"}]},
}
CUT = RESULT | {"result": "hal", "num_turns": 1, "terminal_reason": "completed"}


@pytest.mark.parametrize(
    "lines",
    [
        (SPOKEN, CUT),
        (SPOKEN, RESULT | {"result": "hal"}),
        (CUT,),
        (made_up("answer"), RESULT | {"num_turns": None}),
        (made_up("answer"), RESULT | {"terminal_reason": "completed"}),
        (made_up("answer"), RESULT | {"stop_reason": ["x"]}),
        (made_up("answer"), RESULT | {"is_error": None}),
        (made_up("API Error: 500", error="server_error"), RESULT | {"is_error": True, "result": "API Error: 500"}),
    ],
    ids=str,
)
def test_a_cut_answer_is_no_command(lines):
    parser, steps = fed(*lines)
    assert parser.facts.end == "failed" and not parser.facts.local
    assert [step.fatal for step in steps if step.kind is StepKind.ERROR] == [True]


def test_filler_gives_no_step():
    for filler in ("No response requested.", "(no content)"):
        parser, steps = fed(made_up(filler), RESULT | {"result": ""})
        assert [step.kind for step in steps] == [StepKind.USAGE]
        assert (parser.facts.end, parser.facts.last_message) == ("completed", None)
