"""The forms of MCP servers: the same questions and the same values, whichever agent passes them on."""

import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentdash.sessions.agents.claude.live.dialogue import ClaudeDialogue
from agentdash.sessions.agents.codex.app_server.dialogue import CodexDialogue
from agentdash.sessions.agents.dialogue import Asked, Dialogue
from agentdash.sessions.agents.mcp_forms import MOST_FIELDS, content_of, fields_of
from agentdash.sessions.model.errors import UsageError
from agentdash.sessions.rules.asks.answers import check_answer, with_defaults
from agentdash.sessions.rules.asks.model import Answer, Ask, Choice, Question, Verdict

PROPERTIES: dict[str, Any] = {
    "name": {"type": "string", "title": "Your name", "description": "As it is printed"},
    "age": {"type": "integer"},
    "size": {"type": "number", "title": "Size"},
    "sure": {"type": "boolean"},
    "colour": {"type": "string", "enum": ["r", "b"], "enumNames": ["Red"]},
    "tags": {"type": "array", "items": {"anyOf": [{"const": "x", "title": "X"}, {"const": "y"}]}},
    "key": {"type": "string", "format": "password"},
    "token": {"type": "string", "writeOnly": True},
    "odd": 3,
}
SCHEMA = {"type": "object", "properties": PROPERTIES, "required": ["name"]}
QUESTIONS = (
    Question(key="name", text="As it is printed", header="Your name"),
    Question(key="age", text="age", header="age", required=False, type="integer"),
    Question(key="size", text="Size", header="Size", required=False, type="number"),
    Question(
        key="sure", text="sure", header="sure", free=False, required=False, type="boolean",
        choices=(Choice(label="true"), Choice(label="false")),
    ),
    Question(
        key="colour", text="colour", header="colour", free=False, required=False,
        choices=(Choice(label="r", description="Red"), Choice(label="b")),
    ),
    Question(
        key="tags", text="tags", header="tags", several=True, free=False, required=False,
        choices=(Choice(label="x", description="X"), Choice(label="y")),
    ),
    Question(key="key", text="key", header="key", secret=True, required=False),
    Question(key="token", text="token", header="token", secret=True, required=False),
)  # fmt: skip


def asked(dialogue: Dialogue, request: dict[str, Any]) -> Ask:
    [event] = dialogue.feed(json.dumps(request).encode())
    assert isinstance(event, Asked)
    return event.ask


def claude(schema: Any) -> tuple[Dialogue, Ask]:
    dialogue = ClaudeDialogue()
    request = {"subtype": "elicitation", "mcp_server_name": "s", "message": "Who?", "requested_schema": schema}
    return dialogue, asked(dialogue, {"type": "control_request", "request_id": "1", "request": request})


def codex(schema: Any) -> tuple[Dialogue, Ask]:
    dialogue = CodexDialogue()
    for line in ({"id": 1, "result": {}}, {"id": 2, "result": {"thread": {"id": "T"}}}):
        dialogue.feed(json.dumps(line).encode())
    params = {"threadId": "T", "serverName": "s", "message": "Who?", "requestedSchema": schema}
    return dialogue, asked(dialogue, {"id": 1, "method": "mcpServer/elicitation/request", "params": params})


@pytest.mark.parametrize("agent", [claude, codex])
def test_every_agent_has_the_same_questions_and_gives_the_same_values(agent: Any) -> None:
    dialogue, ask = agent(SCHEMA)
    assert ask.questions == QUESTIONS
    values = {"name": ("Ada",), "age": ("36",), "size": ("1.5",), "sure": ("yes",), "tags": ("x", "y"), "key": ()}
    line = json.loads(dialogue.answer(ask.key, Answer(verdict=Verdict.ANSWER, values=values)) or b"")
    answer = line["result"] if agent is codex else line["response"]["response"]
    assert answer["content"] == {"name": "Ada", "age": 36, "size": 1.5, "sure": True, "tags": ["x", "y"]}


@pytest.mark.parametrize("agent", [claude, codex])
def test_a_form_of_any_size_has_a_bounded_number_of_fields_and_choices(agent: Any) -> None:
    choices = [str(n) for n in range(1_000)]
    many = {name: {"enum": choices} for name in choices}
    _, ask = agent({"properties": many})
    assert len(ask.questions) == MOST_FIELDS
    assert {len(question.choices) for question in ask.questions} == {MOST_FIELDS}


def test_a_text_that_is_not_of_its_type_is_passed_on() -> None:
    fields = fields_of({"properties": {"n": {"type": "integer"}, "x": {"type": "number"}, "b": {"type": "boolean"}}})
    given = {"n": ("9" * 30,), "x": ("nan",), "b": ("perhaps",), "unknown": ("v",)}
    assert content_of(fields, given) == {"n": "9" * 30, "x": "nan", "b": "perhaps"}


LIMITS: dict[str, Any] = {
    "env": {"type": "string", "enum": ["dev", "prod"], "default": "prod"},
    "level": {"type": "integer", "enum": [1, 2, 3]},
    "replicas": {"type": "integer", "minimum": 1, "maximum": 9, "default": 2},
    "ratio": {"type": "number", "minimum": 0.0, "maximum": 1.0},
    "dry": {"type": "boolean", "default": True},
    "mail": {"type": "string", "format": "email"},
    "site": {"type": "string", "format": "uri"},
    "day": {"type": "string", "format": "date"},
    "at": {"type": "string", "format": "date-time"},
    "code": {"type": "string", "pattern": "^[A-Z]{2}-[0-9]+$"},
    "slow": {"type": "string", "pattern": "^(a+)+$"},
    "word": {"type": "string", "minLength": 2, "maxLength": 4},
    "tags": {"type": "array", "minItems": 1, "maxItems": 2, "items": {"enum": ["x", "y", "z"]}, "default": ["x"]},
    "titled": {"type": "string", "oneOf": [{"const": "r", "title": "Red"}, {"const": "b", "title": "Blue"}]},
}


def test_a_form_takes_only_what_its_schema_allows() -> None:
    for name, good, bad, reason in [
        ("env", ("dev",), ("test",), "Choices: dev, prod"), ("level", ("2",), ("4",), "Choices: 1, 2, 3"),
        ("replicas", ("9",), ("99",), "1 to 9"), ("replicas", ("1",), ("0",), "1 to 9"),
        ("ratio", ("0.5",), ("1.5",), "0.0 to 1.0"), ("dry", ("false",), ("perhaps",), "Choices: true, false"),
        ("mail", ("a@b.org",), ("notmail",), "an email address"), ("site", ("https://x.org/a",), ("x.org",), "a URI"),
        ("day", ("2026-02-28",), ("2026-02-30",), "a date"), ("at", ("2026-01-31T09:30:00Z",), ("9:30",), "a time"),
        ("at", ("2026-01-31T09:30:00.5+01:00",), ("2026-01-31T25:00:00Z",), "a time"),
        ("code", ("AB-1",), ("ab-1",), "match ^[A-Z]"), ("slow", ("aaa",), ("a" * 60 + "!",), "match"),
        ("word", ("abcd",), ("abcde",), "2 to 4 characters"), ("word", ("ab",), ("a",), "2 to 4 characters"),
        ("tags", ("x", "y"), ("x", "y", "z"), "1 to 2 choices"), ("titled", ("r",), ("Red",), "Choices: r, b"),
    ]:  # fmt: skip
        _, ask = claude({"type": "object", "properties": {name: LIMITS[name]}})
        check_answer(ask, Answer(verdict=Verdict.ANSWER, values={name: good}))
        with pytest.raises(UsageError, match=re.escape(reason)):
            check_answer(ask, Answer(verdict=Verdict.ANSWER, values={name: bad}))


def test_the_defaults_of_a_form_are_those_that_its_schema_allows() -> None:
    schema: dict[str, Any] = {"properties": LIMITS | {"replicas": {**LIMITS["replicas"], "default": 99}}}
    _, ask = claude(schema)
    defaults = {field.key: field.default for field in ask.questions if field.default}
    assert defaults == {"env": ("prod",), "dry": ("true",), "tags": ("x",)}
    given = with_defaults(ask, Answer(verdict=Verdict.ANSWER, values={"env": ("dev",)}))
    assert given.values == {"env": ("dev",), "dry": ("true",), "tags": ("x",)}


def test_numbers_keep_their_type() -> None:
    fields = fields_of({"properties": {"level": LIMITS["level"]}})
    assert content_of(fields, {"level": ("2",)}) == {"level": 2}


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
NAMES = st.sampled_from(
    [
        "type",
        "items",
        "enum",
        "enumNames",
        "oneOf",
        "anyOf",
        "const",
        "title",
        "format",
        "required",
        "default",
        "minimum",
        "maximum",
        "minLength",
        "maxLength",
        "minItems",
        "maxItems",
        "pattern",
    ]
)


@given(
    JSON | st.fixed_dictionaries({"properties": st.dictionaries(NAMES, st.dictionaries(NAMES, JSON)), "required": JSON})
)
def test_no_schema_harms_a_form(schema: Any) -> None:
    fields = fields_of(schema)
    json.dumps(content_of(fields, {field.key: ("1",) for field in fields}))
