"""Nested tables of settings by the path of a key, in which ``rules[1]`` is the second table of ``rules``."""

import re
from collections.abc import Callable, Mapping
from typing import Any

Path = tuple[str, ...]

MOST = 100
"""Most keys of a table that are tried one by one."""

_NUMBERED = re.compile(r"(.+)\[(\d{1,6})\]")


def at(data: Any, path: Path) -> Any:
    """Return the value at a path; None if there is none."""
    for one in path:
        name, index = part(one)
        data = data.get(name) if isinstance(data, Mapping) else None
        if index is not None:
            data = data[index] if isinstance(data, list) and index < len(data) else None
    return data


def replaced(data: Mapping[str, Any], path: Path, value: Any) -> dict[str, Any]:
    """Return a copy with another value at a path, which must exist."""
    (name, index), rest = part(path[0]), path[1:]
    inner = data[name] if index is None else data[name][index]
    new = replaced(inner, rest, value) if rest else value
    if index is None:
        return {**data, name: new}
    return {**data, name: [*data[name][:index], new, *data[name][index + 1 :]]}


def without(data: Mapping[str, Any], path: Path) -> dict[str, Any]:
    """Return a copy without the value at a path, which must exist; without an item and all before it, in a list."""
    name, index = part(path[-1])
    if index is not None:
        of_list = (*path[:-1], name)
        return replaced(data, of_list, at(data, of_list)[index + 1 :])
    around = at(data, path[:-1])
    smaller = {key: value for key, value in around.items() if key != name}
    return replaced(data, path[:-1], smaller) if path[:-1] else smaller


def culprit(data: Any, path: Path, fault: Callable[[Any], str]) -> Path:
    """Return the deepest key at or below ``path`` that alone causes the fault of the data.

    ``fault`` returns a text for the first fault of such data; a fault of several keys together stays at their table.
    """
    whole = fault(data)
    while isinstance(table := at(data, path), Mapping) and 0 < len(table) <= MOST and path:
        if fault(replaced(data, path, {})) == whole:
            break
        alone = (name for name, value in table.items() if fault(replaced(data, path, {name: value})) == whole)
        name = next(alone, None) or _needed(data, path, fault)
        if name is None:
            break
        path = (*path, name)
    return path


def _needed(data: Any, path: Path, fault: Callable[[Any], str]) -> str | None:
    """Return the only key of a table without which the data has not its fault; None if there are several or none."""
    whole = fault(data)
    left = ((name, fault(without(data, (*path, name)))) for name in at(data, path))
    causes = (name for name, other in left if other != whole and "missing required field" not in other)
    first, second = next(causes, None), next(causes, None)
    return first if second is None else None


def part(written: str) -> tuple[str, int | None]:
    """Return the name and the number of a part of a path; the number is None if it has none."""
    match = _NUMBERED.fullmatch(written)
    return (match[1], int(match[2])) if match else (written, None)
