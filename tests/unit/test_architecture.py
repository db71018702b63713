"""ARCHITECTURE.md names what exists: files, functions, tables, the contract of an adapter, and the names in JSON."""

import json
import re
from collections.abc import Mapping
from typing import Any

import pytest
from places import ROOT

from agentdash.sessions.agents.base import Agent
from agentdash.sessions.storage.schema.migrations import VERSION

TEXT = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
NAMED = re.compile(r"`([\w/]+\.(?:py|sql))(?::\s(\w+(?:`, `\w+)*))?`")
SCHEMAS = re.compile(r"^([\w-]+) +(\w.*(?:\n .*)*)", re.MULTILINE)
Names = dict[str, "Names"]


def section(title: str) -> str:
    return TEXT[TEXT.index(f"# {title}\n") :].partition("\n## ")[0]


def test_every_file_and_function_exists():
    paths = [
        path for folder in ("sessions", "widgets", "tui", "tests", "bench") for path in (ROOT / folder).rglob("*.*")
    ]
    missing = []
    for file, names in NAMED.findall(TEXT):
        sources = [path.read_text(encoding="utf-8") for path in paths if f"/{path}".endswith(f"/{file}")]
        defined = {name for source in sources for name in re.findall(r"(?:def|class) (\w+)", source)}
        missing += [file] if not sources else [f"{file}: {name}" for name in {*re.findall(r"\w+", names)} - defined]
    assert not missing, "\n".join(missing)


def test_the_database_has_this_version_and_these_tables():
    named = re.search(
        r"^agentdash\.db +the tables of schema\.sql \(user_version = (\d+)\): ([\w\s,]+)\n\w", TEXT, re.MULTILINE
    )
    schema = (ROOT / "sessions/storage/schema/schema.sql").read_text(encoding="utf-8")
    assert int(named[1]) == VERSION
    assert sorted(re.findall(r"\w+", named[2])) == sorted(re.findall(r"CREATE TABLE (\w+)", schema))


def test_every_attribute_of_an_adapter_is_described():
    described = set(re.findall(r"`(\w+)", section("Adding an agent CLI")))
    own = {name for name in (*vars(Agent), *Agent.__annotations__) if not name.startswith("_")}
    assert sorted(own - described) == []


def parsed(names: str) -> Names:
    """Names and, in braces, the names in their values: ``id, usage {input_tokens}``."""
    stack, last = [found := {}], {}
    for token in re.findall(r"[\w…]+|[{}]", names):
        if token == "{":
            stack.append(last)
        elif token == "}":
            stack.pop()
        else:
            last = stack[-1].setdefault(token, {})
    return found


def properties(part: Mapping[str, Any], definitions: Mapping[str, Any]) -> Mapping[str, Any]:
    """The properties of an object, of the objects of an array, or of an object that can be null."""
    if "$ref" in part:
        return properties(definitions[part["$ref"].rpartition("/")[2]], definitions)
    for inner in (*part.get("anyOf", ()), *([part["items"]] if "items" in part else [])):
        if found := properties(inner, definitions):
            return found
    return part.get("properties", {})


def check(names: Names, part: Mapping[str, Any], definitions: Mapping[str, Any]) -> None:
    known = properties(part, definitions)
    if "…" in names:
        assert names.keys() - {"…"} < known.keys()
    else:
        assert sorted(names) == sorted(known)
    for name, inner in names.items():
        if inner:
            check(inner, known[name], definitions)


JSON = dict(SCHEMAS.findall(section("JSON").split("```")[1]))


def test_the_names_in_json_are_those_of_the_schema():
    for name, keys in JSON.items():
        schema = json.loads((ROOT / "docs/schema" / f"{name}.json").read_text(encoding="utf-8"))
        base, plus, own = keys.rpartition(" + ")
        check(parsed(f"{JSON[base]}, {own}" if plus else own), schema, schema["$defs"])


def test_a_name_that_is_missing_or_not_there_is_found():
    schema = {"properties": {"id": {}, "usage": {"anyOf": [{"$ref": "#/$defs/Use"}, {"type": "null"}]}}}
    definitions = {"Use": {"properties": {"tokens": {}, "cost": {}}}}
    for right in ("id, usage {tokens, cost}", "id, usage", "id, usage {cost, …}"):
        check(parsed(right), schema, definitions)
    for wrong in ("id", "id, usage, more", "id, usage {tokens}", "id, usage {gone, …}"):
        with pytest.raises(AssertionError):
            check(parsed(wrong), schema, definitions)
