"""The questions of an agent among its steps."""

import json
from pathlib import Path

import pytest

from agentdash.sessions.model.session import Step, StepKind, StepStatus
from agentdash.sessions.transcript import blocks, questions

CAPTURES = Path(__file__).parents[3] / "captures" / "live"
ASKED = {
    "questions": [
        {"question": "Which colour?", "options": [{"label": "Red", "description": "warm"}, {"label": "Blue"}]},
        {"question": "Which size?", "options": [{"label": "small"}]},
    ]
}


def body(output="", status=StepStatus.OK, arguments=ASKED):
    step = Step(
        turn=1, index=1, kind=StepKind.TOOL_CALL, text=questions.TOOL, tool=questions.TOOL, status=status,
        arguments=arguments, output=output,
    )  # fmt: skip
    return blocks.describe(step).body


def test_a_question_that_waits_is_shown_with_its_choices():
    (asked,) = body(status=StepStatus.RUNNING)
    assert asked.text == "Which colour?\n- Red: warm\n- Blue\n\nWhich size?\n- small"


def test_an_answered_question_is_shown_with_its_answer_alone():
    (asked,) = body('Your questions have been answered: "Which colour?"="Blue", "Which size?"="quite big". Go on.')
    assert "Which colour?\n- Red: warm\n- Blue\n\nAnswer: Blue" in asked.text
    assert asked.text.endswith("Answer: quite big")


def test_another_result_is_shown_below_the_question():
    asked, output = body("The user declined.", StepStatus.FAILED)
    assert "Which colour?" in asked.text
    assert output.text == "The user declined."


@pytest.mark.parametrize("arguments", [None, {}, {"questions": []}, {"questions": "Which?"}, {"questions": [3]}, []])
def test_a_call_without_questions_is_a_call_like_others(arguments):
    assert isinstance(body(arguments=arguments)[0], blocks.Call)


@pytest.mark.parametrize("version", [197, 330])
def test_the_questions_of_each_version_are_shown_without_json(version):
    lines = (CAPTURES / f"claude-{version}-ask-user-question.jsonl").read_text().splitlines()
    contents = [block for line in map(json.loads, lines) for block in _blocks(line)]
    call = next(one for one in contents if one.get("name") == questions.TOOL)
    result = next(one for one in contents if one.get("tool_use_id") == call["id"])
    (asked,) = body(result["content"], arguments=call["input"])
    assert asked.text == "Which colour?\n- Red: warm\n- Blue: cold\n\nAnswer: Blue"


def _blocks(line):
    content = line.get("message", {}).get("content", [])
    return [one for one in content if isinstance(one, dict)] if isinstance(content, list) else []
