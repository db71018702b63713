"""The tools as ``tools/list`` shows them: names, texts, and JSON Schemas made from the types of the tools."""

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec
from msgspec import Struct

from ..orchestration.tool import Tool

_PREFIX = "#/$defs/"

_ALWAYS_LOAD = {"anthropic/alwaysLoad": True}
"""Keeps claude from hiding the tools behind its own search (read in 2.1.197)."""


def listed(tools: Iterable[Tool]) -> list[dict[str, Any]]:
    """Return the entries of the tools."""
    return [_entry(tool) for tool in tools]


def _entry(tool: Tool) -> dict[str, Any]:
    """Return one entry.

    ``codex exec`` (0.169.0) refuses a tool unless both ``destructiveHint`` and ``openWorldHint`` are false; both
    clients call tools with ``readOnlyHint`` at the same time.
    """
    entry = {
        "name": tool.name,
        "title": tool.title,
        "description": tool.description,
        "inputSchema": {**schema_of(tool.arguments), "additionalProperties": False},
        "annotations": {
            "title": tool.title,
            "readOnlyHint": tool.reads,
            "destructiveHint": False,
            "openWorldHint": False,
        },
        "_meta": _ALWAYS_LOAD,
    }
    return entry if tool.result is None else entry | {"outputSchema": schema_of(tool.result)}


def schema_of(kind: type[Struct]) -> dict[str, Any]:
    """Return the JSON Schema of a struct: one object, with the types inside it in place of references to them.

    A type that contains itself stays a reference.  The names of the types are left out.
    """
    (schema,), parts = msgspec.json.schema_components([kind], ref_template=_PREFIX + "{name}")
    flat: dict[str, Any] = _flat(schema, parts, ())
    kept = _kept(flat, parts)
    return {"type": "object", "properties": {}} | flat | ({"$defs": kept} if kept else {})


def _flat(schema: Any, parts: Mapping[str, Any], inside: tuple[str, ...]) -> Any:
    """Return a schema with its parts in place; ``inside`` names the types around it."""
    if isinstance(schema, list):
        return [_flat(one, parts, inside) for one in schema]
    if not isinstance(schema, dict):
        return schema
    name = str(schema.get("$ref", "")).removeprefix(_PREFIX)
    if name in inside:
        return schema
    if name:
        own = {key: value for key, value in schema.items() if key != "$ref"}
        return {**_flat(parts[name], parts, (*inside, name)), **own}
    return {
        key: {field: _flat(one, parts, inside) for field, one in value.items()}
        if key == "properties"
        else _flat(value, parts, inside)
        for key, value in schema.items()
        if key != "title"
    }


def _kept(flat: Any, parts: Mapping[str, Any]) -> dict[str, Any]:
    """Return the types to which a schema still refers."""
    found: dict[str, Any] = {}
    rest = [flat]
    while rest:
        one = rest.pop()
        if isinstance(one, dict):
            name = one.get("$ref")
            if isinstance(name, str) and (key := name.removeprefix(_PREFIX)) not in found:
                found[key] = _flat(parts[key], parts, (key,))
                rest.append(found[key])
            rest += one.values()
        elif isinstance(one, list):
            rest += one
    return found
