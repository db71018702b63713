"""The page of all values that ``--json`` prints, made from their schemas: ``docs/reference/json.md``."""

from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from agentdash.sessions.text.markdown import escaped, table
from agentdash.tui.cli.schemas.documents import documents
from agentdash.tui.cli.schemas.verbs import LINES, VERBS

Schema = Mapping[str, Any]

_INTRODUCTION = """\
# JSON output

The values that `--json` prints: their fields and types. This page is made from the types of the program by
`make reference`. `agentdash schema VERB` prints the same as JSON Schema, and the files are in
[docs/schema](../schema). [internals/json.md](../internals/json.md) has more about the meaning of some fields.

A verb that takes several ids prints a list, also for one. A value that is not known is `null`. Times (`at`, `…_at`,
`since`) are milliseconds since 1970 in UTC. A field that is "optional" may be missing. The name `files[].path` is
a field of each item of the list `files`.

On stderr, an error is `{"error": {"type": …, "message": …}}`, and a notice is `{"notice": {"message": …}}`, each on a
line of its own. The [exit codes](commands.md#exit-codes) are the same as without `--json`.
"""

_TITLES = ("field", "type", "meaning")
_MANY = 10
"""The least number of fields that a document shares with another one for the page to list only the others."""


def page() -> str:
    """Return the page as Markdown."""
    lines = [_INTRODUCTION, "## Verbs", "", *table(("verb", "prints"), map(_verb, sorted(VERBS))), "", "## Documents"]
    for name in sorted(_documents()):
        lines += ["", f"### {name}", "", *_document(name)]
    lines += ["", "## Parts", "", "Values that are in several places."]
    for name in sorted(_parts()):
        lines += ["", f"### Part: {name}", "", *_part(name)]
    return "\n".join(lines) + "\n"


def _verb(verb: str) -> tuple[str, str]:
    printed = [f"{'list of ' * name.endswith('[]')}{_link(name.removesuffix('[]'))}" for name in VERBS[verb]]
    each = f"; {LINES[verb]}" if verb in LINES else ""
    return f"[`{verb}`](commands.md#agentdash-{verb.replace(' ', '-')})", f"{', or '.join(printed)}{each}"


def _link(document: str) -> str:
    return f"[{document}](#{document})"


@cache
def _documents() -> dict[str, Schema]:
    return {name: document for name, document in documents().items() if name != "index"}


@cache
def _types() -> dict[str, Schema]:
    """Return all types by name: a name means the same in every document."""
    return {name: one for document in _documents().values() for name, one in document.get("$defs", {}).items()}


@cache
def _roots() -> dict[str, str]:
    """Return the names of the documents by their types."""
    return {_target(document["$ref"]): name for name, document in _documents().items() if "$ref" in document}


def _target(ref: str) -> str:
    return ref.rpartition("/")[2]


@cache
def _base(kind: str) -> str | None:
    """Return the type of the largest document whose fields are all in this document too."""
    if kind not in _roots():
        return None
    own = _fields(kind).items()
    inside = [one for one in _roots() if _fields(one).items() < own and len(_fields(one)) >= _MANY]
    return max(inside, key=lambda one: len(_fields(one)), default=None)


def _fields(kind: str) -> Mapping[str, Schema]:
    fields: Mapping[str, Schema] = _types()[kind].get("properties", {})
    return fields


def _own_fields(kind: str) -> dict[str, Schema]:
    base = _base(kind)
    inherited = _fields(base) if base else {}
    return {name: field for name, field in _fields(kind).items() if name not in inherited}


@cache
def _parts() -> frozenset[str]:
    """Return the types that are used several times, without those of whole documents."""
    uses = Counter(name for kind in _types() for name in _named(list(_own_fields(kind).values())))
    return frozenset(name for name, times in uses.items() if times > 1 and name not in _roots())


def _named(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        if "$ref" in value:
            yield _target(value["$ref"])
        value = list(value.values())
    if isinstance(value, list):
        for one in value:
            yield from _named(one)


def _document(name: str) -> Iterator[str]:
    document = _documents()[name]
    kind = _target(document.get("$ref", ""))
    yield escaped(_types()[kind].get("description", "")) if kind else "Any value."
    if verbs := [verb for verb, names in VERBS.items() if name in names or f"{name}[]" in names]:
        yield from ("", f"Printed by {', '.join(f'`{verb}`' for verb in verbs)}.")
    if base := _base(kind):
        yield from ("", f"It has all fields of {_link(_roots()[base])}, and:")
    if kind:
        yield from ("", *table(_TITLES, _rows(kind)))


def _part(name: str) -> Iterator[str]:
    described = escaped(_types()[name].get("description", ""))
    if "enum" in _types()[name]:
        yield f"{described} One{_type(_types()[name]).removeprefix('one')}."
    else:
        yield from (described, "", *table(_TITLES, _rows(name)))


def _rows(kind: str, prefix: str = "") -> Iterator[tuple[str, str, str]]:
    """Yield the fields of a type, and below each those of a type that only it has."""
    required = _types()[kind].get("required", ())
    for name, field in _own_fields(kind).items():
        inner = next((one for one in _named(field) if one not in _parts() and one not in _roots()), None)
        meaning = field.get("description") or (_types()[inner].get("description", "") if inner else "")
        kept = "" if name in required else ", optional"
        yield f"`{prefix}{name}`", f"{_type(field)}{kept}", " ".join(escaped(meaning).split())
        if inner and _fields(inner):
            yield from _rows(inner, f"{prefix}{name}{'[]' * ('list of' in _type(field))}.")


def _type(field: Schema) -> str:
    if "$ref" in field:
        return _of(_target(field["$ref"]))
    if "anyOf" in field:
        return " or ".join(map(_type, field["anyOf"]))
    if "enum" in field:
        values = [f"`{value}`" if value else '`""`' for value in field["enum"]]
        return f"one of {', '.join(values)}" if values[1:] else values[0]
    if field.get("type") == "array":
        return f"list of {_type(field.get('items', {}))}"
    if isinstance(field.get("additionalProperties"), dict):
        return f"object of {_type(field['additionalProperties'])}"
    return str(field.get("type", "any"))


def _of(kind: str) -> str:
    if kind in _roots():
        return _link(_roots()[kind])
    if kind in _parts():
        return f"[{kind}](#part-{kind.lower()})"
    return _type({key: value for key, value in _types()[kind].items() if key != "additionalProperties"})
