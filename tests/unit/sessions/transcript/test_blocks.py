"""One description of a step: what all renderers draw."""

import pytest

from agentdash.sessions.model.session import Step, StepKind, StepStatus, Usage
from agentdash.sessions.transcript.blocks import Call, Code, Facts, Origin, Output, Plan, Prose, Tokens, Voice, describe


def body(kind, **own):
    return describe(Step(kind=kind, **own)).body


def test_every_kind_has_a_block_even_if_it_holds_nothing():
    for kind in StepKind:
        assert body(kind), kind


@pytest.mark.parametrize("kind", [StepKind.COMMAND, StepKind.TOOL_CALL, StepKind.SUBAGENT, StepKind.FILE_CHANGE])
def test_an_output_is_referred_to_and_not_copied(kind):
    output = "line\n" * 1_000
    (block,) = [block for block in body(kind, output=output) if isinstance(block, Output)]
    assert block.text is output


def test_what_people_models_and_thoughts_say_is_prose():
    kinds = {StepKind.PROMPT: Voice.USER, StepKind.MESSAGE: Voice.AGENT, StepKind.REASONING: Voice.THOUGHT}
    assert {kind: body(kind, text="x") for kind in kinds} == {
        kind: (Prose("x", voice),) for kind, voice in kinds.items()
    }


def test_a_command_that_only_has_a_text_is_that_text():
    assert body(StepKind.COMMAND, text="ls")[0] == Code("ls")
    assert body(StepKind.COMMAND, text="list", command="ls")[0] == Code("ls")


def test_a_failed_start_is_an_error_a_command_and_its_stderr():
    error, command, stderr = body(StepKind.ERROR, text="exit 127", fatal=True, command="codex", output="not found")
    assert error.fatality == "fatal"
    assert command == Code("codex", of_failed_start=True)
    assert stderr == Output("not found", Origin.FAILED_START, ended=True)
    assert len(body(StepKind.ERROR, text="401")) == 1


@pytest.mark.parametrize(
    ("status", "origin"), [(StepStatus.OK, Origin.EDITOR), (StepStatus.FAILED, Origin.TOOL), (None, Origin.EDITOR)]
)
def test_what_an_editor_answers_matters_if_it_failed(status, origin):
    assert body(StepKind.FILE_CHANGE, status=status, output="x")[1].origin is origin


def test_a_plan_knows_how_much_is_done_and_why_it_failed():
    assert body(StepKind.PLAN, text="in words") == (Plan((), "in words"),)
    assert len(body(StepKind.PLAN, status=StepStatus.DECLINED, output="no")) == 2


@pytest.mark.parametrize(
    ("kind", "own", "purpose"),
    [
        (StepKind.TOOL_CALL, {"tool": "search", "text": "mcp__docs__search"}, ""),
        (StepKind.TOOL_CALL, {"tool": "search", "text": "find a fixture"}, "find a fixture"),
        (StepKind.WEB_SEARCH, {"tool": "search", "text": "how to search"}, "how to search"),
        (StepKind.WEB_SEARCH, {"text": "how to search"}, "how to search"),
        (StepKind.SUBAGENT, {"tool": "Agent", "text": "Agent"}, ""),
    ],
)
def test_a_call_has_a_purpose_unless_its_text_is_its_name(kind, own, purpose):
    assert body(kind, **own)[0].purpose == purpose


def test_arguments_that_are_empty_or_shown_already_are_not_among_the_others():
    given = {"prompt": "Count all files.", "description": "Count", "depth": None, "type": "general"}
    call = body(StepKind.SUBAGENT, tool="Agent", text="Count", arguments=given)[0]
    assert call.task == "Count all files."
    assert call.other_arguments == {"type": "general"}
    assert call.arguments == given
    assert body(StepKind.TOOL_CALL, tool="t", arguments=given)[0].other_arguments == given
    assert Call("t", "", ["x"]).other_arguments == ["x"]


def test_the_tokens_of_a_thread_are_told_from_those_of_the_turn():
    thread, own = Usage(input_tokens=1_000), Usage(input_tokens=300)
    facts = {"usage": thread, "whole_thread": True, "text": "of all turns"}
    assert body(StepKind.USAGE, **facts, turn_usage=own) == (Tokens(own, thread, None, ""),)
    assert body(StepKind.USAGE, **facts, turn_usage=thread) == (Tokens(thread, None, None, ""),)
    assert body(StepKind.USAGE, usage=own, text="a remark") == (Tokens(own, None, None, "a remark"),)
    assert body(StepKind.USAGE, usage=Usage()) == (Tokens(None, None, None, ""),)


def test_a_start_names_what_is_known():
    assert body(StepKind.START, model="opus", text="resumed") == (Facts((("model", "opus"),), "resumed"),)
    assert body(StepKind.START, text="resumed")[0].line == "resumed"


def test_how_a_step_is_called_and_how_it_ended():
    call = describe(Step(kind=StepKind.TOOL_CALL, server="docs", tool="find", event="x", status=StepStatus.DECLINED))
    assert (call.name, call.failed, call.exit_note, call.took) == ("docs.find", True, "", "")
    command = describe(
        Step(kind=StepKind.COMMAND, tool="Bash", status=StepStatus.OK, exit_code=2, at=1_000, ended_at=4_200)
    )
    assert (command.name, command.failed, command.exit_note, command.took) == ("", False, "exit 2", "3.2s")
    assert describe(Step(kind=StepKind.NOTICE, event="retry", exit_code=0)).name == "retry"
