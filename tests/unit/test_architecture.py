"""ARCHITECTURE.md and docs/internals are true and short.

They name what exists: files, functions, rooms, tables, the contract of an adapter, the names in JSON, and each other.
"""

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from msgspec import Struct
from places import ROOT

from agentdash.sessions.agents import capabilities
from agentdash.sessions.agents.base import Agent
from agentdash.sessions.storage.schema import VERSION

MAP = ROOT / "ARCHITECTURE.md"
PAGES = [MAP, *sorted((ROOT / "docs/internals").glob("*.md"))]
MOST_WORDS = 2_500
"""Words of the map: what a stranger reads in ten minutes."""

NAMED = re.compile(r"`([\w/]+\.(?:py|sql))(?::\s+(\w+(?:`,\s+`\w+)*))?`")
CONSTANT = re.compile(r"`(_?[A-Z][A-Z_]+)`")
ATTRIBUTE = re.compile(r"`([A-Z]\w+)\.(\w+)")
SCHEMAS = re.compile(r"^([\w-]+) +(\w.*(?:\n .*)*)", re.MULTILINE)
LINK = re.compile(r"\]\((?![a-z]+:)([^)#]*)(?:#([^)]*))?\)")
CODE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
Names = dict[str, "Names"]


def page(name: str) -> str:
    return (ROOT / "docs/internals" / name).read_text(encoding="utf-8")


SOURCES = {
    f"/{path.relative_to(ROOT)}": path.read_text(encoding="utf-8")
    for folder in ("sessions", "widgets", "tui", "tests", "bench", "src/agentdash")
    for path in sorted((ROOT / folder).glob("*.*" if folder.startswith("src") else "**/*.*"))
    if path.suffix in {".py", ".sql"}
}


CLASS = re.compile(r"^class (\w+)(.*?):\n(.*?)(?=^\S|\Z)", re.MULTILINE | re.DOTALL)
CLASSES = [found for source in SOURCES.values() for found in CLASS.findall(source)]
"""The name, the bases and the body of each class."""
WORDS = {word for source in SOURCES.values() for word in re.findall(r"\w+", source)}


def missing(text: str) -> list[str]:
    """The files that a text names and that are not there, and the functions that are not all in one file so named."""
    wrong = []
    for file, named in NAMED.findall(text):
        names = set(re.findall(r"\w+", named))
        sources = [source for path, source in SOURCES.items() if path.endswith(f"/{file}")]
        having = [source for source in sources if names <= set(re.findall(r"(?:def|class) (\w+)", source))]
        if not having or (names and len(having) > 1):
            wrong.append(f"{file}: {', '.join(sorted(names))} in {len(having)} of {len(sources)} files")
    return wrong


def unknown(text: str) -> list[str]:
    """The constants that a text names and no source has, and the attributes that no class so named has."""
    constants = sorted({*CONSTANT.findall(text)} - WORDS)
    return constants + [f"{owner}.{name}" for owner, name in ATTRIBUTE.findall(text) if not has(owner, name)]


def has(owner: str, name: str) -> bool:
    """True if a class, or a class that it derives from, has an attribute."""
    own = re.compile(rf"^ +(?:def |async def |self\.)?{name}\b *[:(=]", re.MULTILINE)
    found = [(bases, body) for one, bases, body in CLASSES if one == owner]
    return any(own.search(body) or any(has(base, name) for base in re.findall(r"\w+", bases)) for bases, body in found)


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_every_file_and_function_exists(path):
    assert missing(path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_every_constant_and_attribute_exists(path):
    assert unknown(path.read_text(encoding="utf-8")) == []


def test_a_constant_or_an_attribute_that_is_not_there_is_found():
    assert unknown("`SORT_KEYS`, `_SORTED`, `AGENTDASH_CONFIG`, `Store.take_places`, `Launch.asks`") == []
    assert len(unknown("`never_there`, `_never_there`".upper())) == 2
    assert unknown("`Store.never_there`, `Never.keep`") == ["Store.never_there", "Never.keep"]


def test_a_file_or_a_function_that_is_not_there_is_found():
    right = (
        "`runner.py: main`, `turn_runner.py: _loop`,\n  `_advance`, `schema.sql`, `asks.py`, `prompts/asks.py: settle`"
    )
    assert missing(right) == []
    for wrong in (
        "`never_there.py`",
        "`runner.py: gone`",
        "`turn_runner.py: _loop`,\n  `gone`",
        "`adapter.py: launch`",
    ):
        assert len(missing(wrong)) == 1


def test_the_map_is_read_in_ten_minutes():
    assert len(MAP.read_text(encoding="utf-8").split()) <= MOST_WORDS


def test_each_room_has_one_line_in_the_map():
    rooms = [
        f"{place.relative_to(ROOT)}/"
        for top in ("sessions", "widgets", "tui")
        for place in (ROOT / top).iterdir()
        if (place / "__init__.py").exists()
    ]
    listed = re.findall(r"^\* `(\w+/\w+/)`: \S.*\.$", MAP.read_text(encoding="utf-8"), re.MULTILINE)
    assert sorted(listed) == sorted(rooms)


def test_the_map_links_every_page():
    linked = {target for target, _ in LINK.findall(MAP.read_text(encoding="utf-8"))}
    assert {str(path.relative_to(ROOT)) for path in PAGES[1:]} <= linked


def headings(path: Path) -> list[str]:
    """The anchors of a document's headings, as GitHub makes them."""
    found = re.findall(r"^#+ (.+)$", CODE.sub("", path.read_text(encoding="utf-8")), re.MULTILINE)
    return [re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-") for text in found]


def broken_links(path: Path, text: str) -> Iterator[str]:
    for target, anchor in LINK.findall(text):
        place = path.parent / target if target else path
        if not place.exists() or (anchor and anchor not in headings(place)):
            yield f"{target}#{anchor}" if anchor else target


@pytest.mark.parametrize("path", [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *PAGES], ids=lambda path: path.name)
def test_every_link_leads_to_a_file_and_a_heading(path):
    assert list(broken_links(path, path.read_text(encoding="utf-8"))) == []


def test_a_link_that_leads_nowhere_is_found():
    text = (
        "[a](ARCHITECTURE.md#how-to-add) [b](#rooms) [c](https://example.org) [d](gone.md) [e](README.md#gone) [f](#no)"
    )
    assert list(broken_links(MAP, text)) == ["gone.md", "README.md#gone", "#no"]


def test_the_database_has_this_version_and_these_tables():
    named = re.search(
        r"^agentdash\.db +the tables of schema\.sql \(user_version = (\d+)\): ([\w\s,]+)\n\w",
        page("on-disk.md"),
        re.MULTILINE,
    )
    schema = (ROOT / "sessions/storage/schema.sql").read_text(encoding="utf-8")
    assert int(named[1]) == VERSION
    assert sorted(re.findall(r"\w+", named[2])) == sorted(re.findall(r"CREATE TABLE (\w+)", schema))


def test_every_attribute_of_an_adapter_is_described():
    described = set(re.findall(r"`(\w+)", page("adding-an-agent.md")))
    own = {name for name in (*vars(Agent), *Agent.__annotations__) if not name.startswith("_")}
    structs = [one for one in vars(capabilities).values() if isinstance(one, type) and issubclass(one, Struct)]
    groups = [one for one in structs if one.__module__ == capabilities.__name__]
    assert {one.__name__ for one in groups} >= {"Modes", "Use"}
    own |= {field for one in groups for field in one.__struct_fields__}
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


JSON = dict(SCHEMAS.findall(page("json.md").split("```")[1]))


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
