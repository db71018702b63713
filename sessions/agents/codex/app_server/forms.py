"""The forms of MCP servers (MCP 2025-11-25): a flat JSON schema as questions, and the answers as its values."""

import math
from collections.abc import Mapping
from typing import Any

from msgspec import Raw

from ....asks.model import Choice, Question
from ...json_lines import value_of

MOST_FIELDS = 100
"""Fields of a form, and choices of a field, that are read."""

_TYPES = ("string", "number", "integer", "boolean")
_TRUTHS = {"true": True, "yes": True, "on": True, "1": True, "false": False, "no": False, "off": False, "0": False}


def questions_of(schema: Raw) -> tuple[Question, ...]:
    """Return the fields of a form; empty if the schema has none that can be read."""
    form = value_of(schema)
    needed = form.get("required") if isinstance(form, dict) else None
    required = needed if isinstance(needed, list) else []
    return tuple(_question(name, field, required=name in required) for name, field in _fields(form).items())


def content_of(schema: Raw, values: Mapping[str, tuple[str, ...]]) -> dict[str, Any]:
    """Return the values of a form with the types of its fields; a text that does not fit its type stays a text."""
    fields = _fields(value_of(schema))
    return {name: _value(fields.get(name, {}), texts) for name, texts in values.items() if texts}


def _fields(form: Any) -> dict[str, dict[str, Any]]:
    found = form.get("properties") if isinstance(form, dict) else None
    if not isinstance(found, dict):
        return {}
    return {name: field for name, field in list(found.items())[:MOST_FIELDS] if isinstance(field, dict)}


def _question(name: str, field: dict[str, Any], *, required: bool) -> Question:
    several = field.get("type") == "array"
    items = field.get("items")
    choices = _choices(items if several and isinstance(items, dict) else field)
    kind = field.get("type")
    if kind == "boolean":
        choices = (Choice(label="true"), Choice(label="false"))
    return Question(
        key=name,
        text=_text(field.get("title")) or name,
        header=_text(field.get("description")),
        choices=choices,
        several=several,
        free=not choices,
        required=required,
        type=kind if isinstance(kind, str) and kind in _TYPES else "string",
    )


def _choices(field: dict[str, Any]) -> tuple[Choice, ...]:
    """Return the values that a field takes; a titled value keeps its title as the description."""
    for key in ("oneOf", "anyOf"):
        titled = field.get(key)
        if isinstance(titled, list):
            options = [
                one for one in titled[:MOST_FIELDS] if isinstance(one, dict) and isinstance(one.get("const"), str)
            ]
            return tuple(Choice(label=one["const"], description=_text(one.get("title"))) for one in options)
    plain = field.get("enum")
    values = [value for value in plain[:MOST_FIELDS] if isinstance(value, str)] if isinstance(plain, list) else []
    names = field.get("enumNames")
    titles = names if isinstance(names, list) else []
    return tuple(
        Choice(label=value, description=_text(titles[place]) if place < len(titles) else "")
        for place, value in enumerate(values)
    )


def _value(field: dict[str, Any], texts: tuple[str, ...]) -> Any:
    kind = field.get("type")
    if kind == "array":
        return list(texts)
    text = texts[0]
    if kind == "boolean":
        return _TRUTHS.get(text.strip().lower(), text)
    return _number(text, whole=kind == "integer") if kind in ("number", "integer") else text


def _number(text: str, *, whole: bool) -> int | float | str:
    try:
        number = int(text) if whole else float(text)
    except ValueError:
        return text
    return number if math.isfinite(number) and abs(number) < 2**63 else text


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
