"""The forms of MCP servers (MCP 2025-11-25): a flat JSON schema as questions, and the answers as its values.  Pure."""

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

from msgspec import structs

from agentdash.sessions.agents.parsing.json_lines import text_in
from agentdash.sessions.rules.asks.answers import FORMATS, fault
from agentdash.sessions.rules.asks.model import Choice, Question

MOST_FIELDS = 101
"""Fields of a form, and choices of a field, that are read: one more than an ask can have, so that it is noticed."""

_TRUTHS = {"true": True, "yes": True, "on": True, "1": True, "false": False, "no": False, "off": False, "0": False}
_HUGE = 1e300
"""Limits beyond it are none: a number of JSON can have any length."""
_TYPES = frozenset({"string", "number", "integer", "boolean"})


def fields_of(schema: Any) -> tuple[Question, ...]:
    """Return the fields of a form as questions; empty if the schema has none that can be read."""
    given = schema if isinstance(schema, dict) else {}
    properties, required = given.get("properties"), given.get("required")
    fields = list(properties.items())[:MOST_FIELDS] if isinstance(properties, dict) else []
    needed = required if isinstance(required, list) else []
    return tuple(_field(name, field, required=name in needed) for name, field in fields if isinstance(field, dict))


def content_of(questions: Sequence[Question], values: Mapping[str, tuple[str, ...]]) -> dict[str, Any]:
    """Return the values of a form with the types of its schema.

    A text that is not of its field's type is passed on as it is: the server refuses it with a reason.
    """
    content: dict[str, Any] = {}
    for question in questions:
        given = values.get(question.key, ())
        if given and question.several:
            content[question.key] = [_typed(one, question.type) for one in given]
        elif given:
            content[question.key] = _typed(given[0], question.type)
    return content


def _field(name: str, field: Mapping[str, Any], *, required: bool) -> Question:
    several = field.get("type") == "array"
    items = field.get("items")
    source = items if several and isinstance(items, dict) else field
    choices = tuple(_choices(source))[:MOST_FIELDS]
    title, kind = text_in(field.get("title")) or name, text_in(source.get("type"))
    question = Question(
        key=name,
        text=text_in(field.get("description")) or title,
        header=title,
        choices=(Choice(label="true"), Choice(label="false")) if kind == "boolean" else choices,
        several=several,
        free=kind != "boolean" and not choices,
        secret=field.get("format") == "password" or field.get("writeOnly") is True,
        required=required,
        type=kind if kind in _TYPES else "string",
        minimum=_number(source.get("minimum")),
        maximum=_number(source.get("maximum")),
        min_length=_count(source.get("minLength")),
        max_length=_count(source.get("maxLength")),
        min_items=_count(field.get("minItems")) if several else None,
        max_items=_count(field.get("maxItems")) if several else None,
        format=form if (form := text_in(source.get("format"))) in FORMATS else "",
        pattern=text_in(source.get("pattern")),
    )
    given = field.get("default")
    default = tuple(_value(one) for one in given[:MOST_FIELDS]) if isinstance(given, list) else (_value(given),)
    fits = given is not None and "" not in default and not fault(question, default)
    return structs.replace(question, default=default) if fits else question


def _choices(source: Mapping[str, Any]) -> Iterator[Choice]:
    """Yield the allowed values; a value's title is its description."""
    titled = source.get("oneOf") or source.get("anyOf")
    for option in titled[:MOST_FIELDS] if isinstance(titled, list) else []:
        if isinstance(option, dict) and (label := _value(option.get("const"))):
            yield Choice(label=label, description=text_in(option.get("title")))
    values, names = source.get("enum"), source.get("enumNames")
    titles = names if isinstance(names, list) else []
    for place, value in enumerate(values[:MOST_FIELDS] if isinstance(values, list) else []):
        if label := _value(value):
            yield Choice(label=label, description=text_in(titles[place]) if place < len(titles) else "")


def _value(value: Any) -> str:
    """Return a value as a text; empty if it is neither a text, a number nor a boolean."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if isinstance(value, str) else str(value) if isinstance(value, int | float) else ""


def _number(value: Any) -> int | float | None:
    return value if isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < _HUGE else None


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < _HUGE else None


def _typed(text: str, kind: str) -> Any:
    if kind == "boolean":
        return _TRUTHS.get(text.strip().casefold(), text)
    with suppress(ValueError):
        if kind == "integer" and -(2**63) <= int(text) < 2**63:
            return int(text)
        if kind == "number" and math.isfinite(float(text)):
            return float(text)
    return text
