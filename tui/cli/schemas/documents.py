"""Make the JSON Schema files in ``docs/schema`` from the types."""

import ast
import inspect
import json
import re
from collections.abc import Iterator
from functools import cache
from typing import Any

import msgspec
from msgspec import UNSET, Struct, structs

from agentdash.tui.cli.schemas.shapes import SOURCES
from agentdash.tui.cli.schemas.verbs import LINES, NAMES, VERBS

DIALECT = "https://json-schema.org/draft/2020-12/schema"


def documents() -> dict[str, dict[str, Any]]:
    """Return the contents of all files by their names, without the ending."""
    index = {"verbs": {verb: list(names) for verb, names in VERBS.items()}, "lines": sorted(LINES)}
    return {"index": index} | {name: _document(name, kind) for name, kind in NAMES.items()}


def encoded(document: dict[str, Any]) -> str:
    """Return the text of a file."""
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"


def _document(name: str, kind: Any) -> dict[str, Any]:
    (schema,), components = msgspec.json.schema_components([kind], ref_template="#/$defs/{name}")
    kinds = {one.__name__: one for one in _structs(msgspec.inspect.type_info(kind))}
    for component, definition in components.items():
        if component in kinds:
            _complete(definition, kinds[component])
        for part in (definition, *definition.get("properties", {}).values()):
            if "description" in part:
                part["description"] = _in_json(part["description"])
    head = {"$schema": DIALECT, "$id": f"agentdash:{name}"}
    return head | schema | ({"$defs": dict(sorted(components.items()))} if components else {})


def _in_json(text: str) -> str:
    """Return a docstring in the words of JSON: ``null`` for None, and the names alone of what it refers to."""
    text = re.sub(r":\w+:`\.*(?:\w+\.)*(\w+)`", r"`\1`", inspect.cleandoc(text))
    return re.sub(r"\bNone\b", "null", text).replace("``", "`")


def _complete(definition: dict[str, Any], kind: type[Struct]) -> None:
    """Require the fields that are always printed, refuse others, and describe them with the texts of the type."""
    described = _described(kind)
    definition.pop("title", None)
    definition["required"] = []
    definition["additionalProperties"] = False
    for field in structs.fields(kind):
        prop = definition["properties"][field.encode_name]
        prop.pop("default", None)
        if field.name in described:
            prop.setdefault("description", described[field.name])
        left_out = kind.__struct_config__.omit_defaults and not field.required
        if field.default is not UNSET and not left_out:
            definition["required"].append(field.encode_name)


def _described(kind: type[Struct]) -> dict[str, str]:
    """Return the texts of a type's fields, which are those of the types from which it was made."""
    if kind not in SOURCES:
        return {name: text for one in reversed(kind.__mro__) for name, text in _descriptions(one).items()}
    return {name: text for source in SOURCES[kind] for name, text in _described(source).items()}


@cache
def _descriptions(kind: type) -> dict[str, str]:
    """Return the texts below the fields of a type."""
    try:
        body = ast.parse(inspect.getsource(kind).lstrip()).body[0]
    except (OSError, TypeError):
        return {}  # it was made from others
    texts, name = {}, None
    for statement in body.body if isinstance(body, ast.ClassDef) else ():
        if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
            name = statement.target.id
        elif name and isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
            texts[name] = " ".join(str(statement.value.value).split())
            name = None
        else:
            name = None
    return texts


def _structs(info: Any) -> Iterator[type[Struct]]:
    """Yield all struct types that a type contains."""
    seen: set[type] = set()
    waiting = [info]
    while waiting:
        one = waiting.pop()
        if isinstance(one, msgspec.inspect.StructType):
            if one.cls in seen:
                continue
            seen.add(one.cls)
            yield one.cls
        if isinstance(one, Struct):
            waiting += [getattr(one, name) for name in one.__struct_fields__]
        elif isinstance(one, tuple):
            waiting += one
