"""The forms of MCP servers (MCP 2025-11-25): a flat JSON schema as questions, and the answers as its values.  Pure."""

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

from ..asks.model import Choice, Question

MOST_FIELDS = 100
"""Fields of a form, and choices of a field, that are read: a server chooses their number."""

_TRUTHS = {"true": True, "yes": True, "on": True, "1": True, "false": False, "no": False, "off": False, "0": False}
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
            content[question.key] = list(given)
        elif given:
            content[question.key] = _typed(given[0], question.type)
    return content


def _field(name: str, field: Mapping[str, Any], *, required: bool) -> Question:
    several = field.get("type") == "array"
    items = field.get("items")
    choices = tuple(_choices(items if several and isinstance(items, dict) else field))[:MOST_FIELDS]
    title, kind = _text(field.get("title")) or name, _text(field.get("type"))
    return Question(
        key=name,
        text=_text(field.get("description")) or title,
        header=title,
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
    for option in titled[:MOST_FIELDS] if isinstance(titled, list) else []:
        if isinstance(option, dict) and isinstance(option.get("const"), str):
            yield Choice(label=option["const"], description=_text(option.get("title")))
    values, names = source.get("enum"), source.get("enumNames")
    titles = names if isinstance(names, list) else []
    for place, value in enumerate(values[:MOST_FIELDS] if isinstance(values, list) else []):
        if isinstance(value, str):
            yield Choice(label=value, description=_text(titles[place]) if place < len(titles) else "")


def _typed(text: str, kind: str) -> Any:
    if kind == "boolean":
        return _TRUTHS.get(text.strip().casefold(), text)
    with suppress(ValueError):
        if kind == "integer" and -(2**63) <= int(text) < 2**63:
            return int(text)
        if kind == "number" and math.isfinite(float(text)):
            return float(text)
    return text


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
