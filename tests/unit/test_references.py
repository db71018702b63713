"""Every name that a docstring refers to exists: of its own module, or of the module that a relative path names."""

import ast
import re
from pathlib import Path

import pytest
from places import ROOT

REFERENCE = re.compile(r":(?:mod|class|func|data|meth|attr|exc):`([^`]+)`")


def names_of(path: Path) -> set[str]:
    """The names that a module defines or imports, with those of its classes and of the attributes of their objects."""
    nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
    names = {n.name for n in nodes if isinstance(n, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)}
    names |= {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    names |= {n.attr for n in nodes if isinstance(n, ast.Attribute) and isinstance(n.ctx, ast.Store)}
    return names | {n.asname or n.name for n in nodes if isinstance(n, ast.alias)}


def exists(name: str, path: Path) -> bool:
    """True if a name that the module at ``path`` refers to exists; a dot before it is the folder of the module."""
    parts = name.lstrip(".").split(".")
    if name.startswith("."):
        path = path.parents[len(name) - len(name.lstrip(".")) - 1]
    while path.is_dir() and parts:
        path /= parts.pop(0)
        path = path if path.is_dir() else path.with_suffix(".py")
    return path.exists() and (not parts or names_of(path).issuperset(parts))


@pytest.mark.parametrize("folder", ["sessions", "widgets", "tui"])
def test_references_in_docstrings_exist(folder: str) -> None:
    stale = [
        f"{path.relative_to(ROOT)}: {name}"
        for path in sorted((ROOT / folder).rglob("*.py"))
        for name in REFERENCE.findall(path.read_text(encoding="utf-8"))
        if not exists(name, path)
    ]
    assert not stale, "\n".join(stale)


@pytest.mark.parametrize(
    ("name", "known"),
    [
        ("exists", True),
        ("gone", False),
        (".places", False),
        ("..places.ROOT", True),
        ("..places.GONE", False),
        ("..hostile", True),
        (".test_references.exists", True),
    ],
)
def test_a_reference_is_found_by_its_path(name: str, known: bool) -> None:
    assert exists(name, Path(__file__)) is known
