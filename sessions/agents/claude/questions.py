"""claude's questions, and the forms of MCP servers: their fields, and the answers in claude's shape.  Pure.

Seen in 2.1.197 and 2.1.330: the answers of ``AskUserQuestion`` have the question's text as their key, and several
choices are joined by commas (``sdk-tools.d.ts``).
"""

import math
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

from ...asks.model import Answer, Choice, Question
from .tools import text_in

_TRUTHS = {"true": True, "yes": True, "on": True, "1": True, "false": False, "no": False, "off": False, "0": False}
_TYPES = frozenset({"string", "number", "integer", "boolean"})


def questions_of(given: Mapping[str, Any]) -> tuple[Question, ...]:
    """Return the questions of an ``AskUserQuestion``; each accepts an answer in words."""
    return tuple(
        Question(
            key=text_in(entry.get("question")),
            text=text_in(entry.get("question")),
            header=text_in(entry.get("header")),
            choices=tuple(
                Choice(label=text_in(option.get("label")), description=text_in(option.get("description")))
                for option in _objects(entry.get("options"))
            ),
            several=entry.get("multiSelect") is True,
        )
        for entry in _objects(given.get("questions"))
    )


def answers_of(answer: Answer) -> dict[str, str]:
    """Return the answers as ``updatedInput.answers`` has them."""
    return {key: ", ".join(values) for key, values in answer.values.items() if values}


def fields_of(schema: Any) -> tuple[Question, ...]:
    """Return the fields of a form, from the JSON schema of an elicitation."""
    given = schema if isinstance(schema, dict) else {}
    properties, required = given.get("properties"), given.get("required")
    needed = required if isinstance(required, list) else []
    fields = properties.items() if isinstance(properties, dict) else ()
    return tuple(_field(name, field, required=name in needed) for name, field in fields if isinstance(field, dict))


def content_of(questions: tuple[Question, ...], answer: Answer) -> dict[str, Any]:
    """Return the values of a form with the types of its schema.

    A text that is not of its field's type is passed on as it is: the server refuses it with a reason.
    """
    content: dict[str, Any] = {}
    for question in questions:
        values = answer.values.get(question.key, ())
        if values and question.several:
            content[question.key] = list(values)
        elif values:
            content[question.key] = _typed(values[0], question.type)
    return content


def _field(name: str, field: Mapping[str, Any], *, required: bool) -> Question:
    several = field.get("type") == "array"
    items = field.get("items")
    source = items if several and isinstance(items, dict) else field
    choices = tuple(_choices(source))
    kind = text_in(field.get("type"))
    return Question(
        key=name,
        text=text_in(field.get("description")) or text_in(field.get("title")) or name,
        header=text_in(field.get("title")) or name,
        choices=(Choice(label="true"), Choice(label="false")) if kind == "boolean" else choices,
        several=several,
        free=kind != "boolean" and not choices,
        secret=field.get("format") == "password" or field.get("writeOnly") is True,
        required=required,
        type=kind if kind in _TYPES else "string",
    )


def _choices(source: Mapping[str, Any]) -> Iterator[Choice]:
    """Yield the allowed values; a value's title is its description."""
    titled = source.get("oneOf") or source.get("anyOf")
    for option in _objects(titled):
        if isinstance(option.get("const"), str):
            yield Choice(label=option["const"], description=text_in(option.get("title")))
    values, names = source.get("enum"), source.get("enumNames")
    titles = names if isinstance(names, list) else []
    for place, value in enumerate(values if isinstance(values, list) else []):
        if isinstance(value, str):
            yield Choice(label=value, description=text_in(titles[place]) if place < len(titles) else "")


def _typed(text: str, kind: str) -> Any:
    if kind == "boolean":
        return _TRUTHS.get(text.strip().casefold(), text)
    with suppress(ValueError):
        if kind == "integer" and -(2**63) <= int(text) < 2**63:
            return int(text)
        if kind == "number" and math.isfinite(float(text)):
            return float(text)
    return text


def _objects(values: Any) -> list[dict[str, Any]]:
    return [value for value in values if isinstance(value, dict)] if isinstance(values, list) else []
