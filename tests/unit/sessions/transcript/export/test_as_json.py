"""The JSON of a session: the documented schema, step by step."""

import json

import factories
import msgspec
from every_kind import STEPS, session
from hostile_text import nasty, steps_saying
from hypothesis import given

from agentdash.sessions.model.session import Step, StepKind, TurnMode
from agentdash.sessions.rules.json_schema import dump, session_json, step_json
from agentdash.sessions.transcript.export.formats import as_json


def test_the_document_holds_the_documented_session_and_steps() -> None:
    told = json.loads("".join(as_json(session(), STEPS)))
    assert list(told) == ["session", "turns", "steps"]
    assert told["session"] == json.loads(dump(session_json(session())))
    assert told["steps"] == [json.loads(dump(step_json(step))) for step in STEPS]


def test_each_turn_has_the_settings_with_which_it_ran() -> None:
    mode = TurnMode(setting="sandbox", permissions="read-only", default="workspace-write", search=True)
    turns = [factories.turn(1), factories.turn(2, mode=mode)]
    told = json.loads("".join(as_json(session(), STEPS, turns)))["turns"]
    assert told == [{"turn": 1, "mode": None}, {"turn": 2, "mode": json.loads(msgspec.json.encode(mode))}]


def test_a_session_without_steps() -> None:
    assert json.loads("".join(as_json(session(), [])))["steps"] == []


@given(nasty)
def test_texts_come_back_as_they_were(text: str) -> None:
    told = json.loads("".join(as_json(session(title=text), steps_saying(text))))
    assert told["session"]["title"] == text
    assert {step["text"] for step in told["steps"]} == {text, "the last command"}


def test_each_step_is_written_as_it_comes() -> None:
    steps = iter([Step(kind=StepKind.MESSAGE, text="one"), Step(index=1, kind=StepKind.MESSAGE, text="two")])
    pieces = as_json(session(), steps)
    assert '"one"' in next(pieces) + next(pieces)
    assert next(steps).text == "two"
