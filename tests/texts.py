"""Print every text that a user may see: ``make texts``, for a reader who has not seen them before.

The keys, columns, settings and verbs come from their registries; all other texts are the strings of the source that
have a blank, with ``{…}`` in place of values.  Regular expressions, SQL, style sheets and docstrings are left out.
"""

import ast
import re
import sys
from collections.abc import Iterator

import click
from places import ROOT

from agentdash.sessions.settings.catalog import VARIABLES, patterns
from agentdash.sessions.settings.catalog_texts import default_text
from agentdash.tui.cli.main import cli
from agentdash.tui.keys.actions import REGISTRY
from agentdash.widgets.table.columns import COLUMNS

ROOMS = ("sessions", "widgets", "tui")
_WORDS = re.compile(r"[A-Za-z]{2}")
_CODE = re.compile(
    r"\A[\s({…}]*(?:SELECT|COALESCE|INSERT|UPDATE|DELETE|ALTER|CREATE|PRAGMA|BEGIN|WITH|FROM|WHERE|CASE|EXISTS)\b"
    r"|\A[\s(]*[\w.]+ IN\b|\A\w+ \([\w, ]+\) AS\b"
    r"|\bSELECT .+ FROM\b|\b(?:ORDER|GROUP) BY\b|\bIS (?:NOT )?NULL\b|\bLEFT JOIN\b|= \?\d"
    r"|[a-z-]+: [^;{}]+; *}|\A\$[a-z]|\(\?|\\[bsdS]"
)
"""The beginning or a part of SQL, a style sheet, a colour, and signs of a regular expression."""


def texts(source: str) -> Iterator[tuple[int, str]]:
    """Yield the texts of a module with their lines, in their order."""
    nodes = list(ast.walk(ast.parse(source)))
    skipped = {id(node) for parent in nodes for node in _parts_without_texts(parent)}
    found = [
        (node.lineno, text)
        for node in nodes
        if isinstance(node, ast.Constant | ast.JoinedStr) and id(node) not in skipped
        if " " in (text := _text(node)).strip() and _WORDS.search(text) and not _CODE.search(text)
    ]
    yield from sorted(dict.fromkeys(found))


def _parts_without_texts(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the strings in a node that are no texts, or that are printed as a part of another text."""
    if isinstance(node, ast.Expr):
        yield node.value
    elif isinstance(node, ast.JoinedStr):
        yield from node.values
        specs = (value.format_spec for value in node.values if isinstance(value, ast.FormattedValue))
        yield from filter(None, specs)
    elif isinstance(node, ast.Call) and ast.unparse(node.func) in ("re.compile", "cast"):
        yield from ast.walk(node)
    elif isinstance(node, ast.AnnAssign | ast.arg) and node.annotation is not None:
        # The description of a setting is a part of its annotation.
        yield from ast.walk(node.annotation) if "Meta(" not in ast.unparse(node.annotation) else ()
    elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.returns is not None:
        yield from ast.walk(node.returns)


def _text(node: ast.Constant | ast.JoinedStr) -> str:
    """Return a string, with ``{…}`` for each value of an f-string; empty for another constant."""
    if isinstance(node, ast.JoinedStr):
        return "".join(_text(part) if isinstance(part, ast.Constant) else "{…}" for part in node.values)
    return node.value if isinstance(node.value, str) else ""


def keys() -> Iterator[str]:
    """Yield a line for each action of a key."""
    for action in REGISTRY.values():
        yield f"{action.id:<24} {action.label:<12} {action.help}"


def columns() -> Iterator[str]:
    """Yield a line for each column of the table."""
    yield from (f"{name:<10} {column.help}" for name, column in COLUMNS.items())


def settings() -> Iterator[str]:
    """Yield a line for each setting and each environment variable."""
    for one in (*patterns(), *VARIABLES):
        yield f"{one.key:<34} {one.kind}; {default_text(one)}; {one.description}"


def verbs(command: click.Command = cli, parent: click.Context | None = None) -> Iterator[str]:
    """Yield the help of the command line and of each verb."""
    name = command.name if parent else "agentdash"
    context = click.Context(command, parent, info_name=name, max_content_width=100, **command.context_settings)
    yield f"{command.get_help(context)}\n"
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            below = command.get_command(context, name)
            assert below is not None
            yield from verbs(below, context)


def sources(printed: str) -> Iterator[str]:
    """Yield the texts of each module of the program under its path, without those that are ``printed`` already."""
    for room in ROOMS:
        for path in sorted((ROOT / room).rglob("*.py")):
            found = texts(path.read_text(encoding="utf-8"))
            lines = [f"{line:>5}  {text!r}" for line, text in found if _one_line(text) not in printed]
            if lines:
                yield from (f"\n{path.relative_to(ROOT)}", *lines)


def main() -> None:
    """Print all texts."""
    parts = {"Keys": keys(), "Columns": columns(), "Settings": settings(), "Verbs": verbs()}
    registered = "\n".join(line for title, lines in parts.items() for line in (f"== {title} ==", *lines, ""))
    other = "\n".join(("== Other texts ==", *sources(_one_line(registered))))
    sys.stdout.write(f"{registered}\n{other}\n")


def _one_line(text: str) -> str:
    return " ".join(text.split())


if __name__ == "__main__":
    main()
