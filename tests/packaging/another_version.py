"""A version of agentdash that has its modules elsewhere: each that no other version starts by its name is renamed."""

import ast
from pathlib import Path

STARTED_BY_NAME = ("runner", "wake_process", "hook_process")
"""Modules that runners of other versions start as programs."""


def move_modules(root: Path) -> None:
    """Rename the modules of the rooms that runners use, and all imports of them, also in the agents of the tests."""
    folders = ("sessions", "tui", "widgets", "agents")
    trees = {path: path.read_text() for folder in folders for path in (root / folder).rglob("*.py")}
    names = {path: _name(root, path) for path in trees}
    moved = {names[path] for path in trees if _moves(root, path)}
    for path, text in trees.items():
        lines = text.splitlines(keepends=True)
        imports = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.ImportFrom)]
        for node in sorted(imports, key=lambda node: -node.lineno):
            if (changed := _renamed(node, _package(names[path], path), moved)) is not None:
                lines[node.lineno - 1 : node.end_lineno] = [f"{' ' * node.col_offset}{changed}\n"]
        path.unlink()
        target = path.with_name(f"{path.stem}_elsewhere.py") if names[path] in moved else path
        target.write_text("".join(lines))


def _moves(root: Path, path: Path) -> bool:
    place = path.relative_to(root).parts
    room = place[1] if place[0] == "sessions" and len(place) > 2 else ""
    if room == "agents":  # the registry names its modules in texts
        return place[2] == "parsing" and path.stem != "__init__"
    rooms = ("rules", "runner", "storage", "transcript")
    return room in rooms and path.stem not in ("__init__", *STARTED_BY_NAME)


def _name(root: Path, path: Path) -> str:
    parts = ("agentdash", *path.relative_to(root).with_suffix("").parts)
    return ".".join(parts).removesuffix(".__init__")


def _package(name: str, path: Path) -> list[str]:
    return name.split(".") if path.stem == "__init__" else name.split(".")[:-1]


def _renamed(node: ast.ImportFrom, package: list[str], moved: set[str]) -> str | None:
    """Return an import with the new names; None if it has none."""
    base = package[: len(package) - node.level + 1] if node.level else []
    stem = ".".join([*base, *([node.module] if node.module else [])])
    before = ast.unparse(node)
    if stem in moved:
        node.module = f"{node.module}_elsewhere"
    for alias in node.names:
        if f"{stem}.{alias.name}" in moved:
            alias.asname, alias.name = alias.asname or alias.name, f"{alias.name}_elsewhere"
    return None if ast.unparse(node) == before else ast.unparse(node)
