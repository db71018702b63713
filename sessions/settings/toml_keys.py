"""The keys of a settings file: their values in nested tables, and their lines in the text.

In the path of a key ``rules[1]`` is the second table of ``rules``.  ``tomllib`` keeps no positions, so section headers
and the beginnings of assignments are read, which is enough to point the user to the right line.  For a key inside an
inline table, it is the table that contains it.
"""

import re
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any


def merged(stated: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """Merge two tables key by key; ``over`` wins."""
    result = dict(stated)
    for key, value in over.items():
        old = result.get(key)
        result[key] = merged(old, value) if isinstance(old, Mapping) and isinstance(value, Mapping) else value
    return result


def value_at(values: Any, path: tuple[str, ...]) -> Any:
    """Return the value at a path of nested tables; None if there is no value."""
    for part in path:
        values = values.get(part) if isinstance(values, Mapping) else None
    return values


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
    # Go down for as long as one key of the table alone has the same fault.
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


_KEY = r"""(?:[A-Za-z0-9_-]+|"[^"]*"|'[^']*')"""
_PATH = rf"{_KEY}(?:\s*\.\s*{_KEY})*"
_HEADER = re.compile(rf"\s*(\[\[?)\s*({_PATH})\s*\]")
_ASSIGNMENT = re.compile(rf"\s*({_PATH})\s*=")
_COMMENTED = re.compile(rf"# (?:\[\s*{_PATH}\s*\]|{_PATH}\s*=)")
_AT_LINE = re.compile(r"\(at line (\d+)")


def line_of(text: str, key: tuple[str, ...]) -> int:
    """Return the line of the key, else of the nearest table around it, else 1."""
    known = _lines(text)
    plain = tuple(part.partition("[")[0] for part in key)  # an index such as args[2] has no line of its own
    for length in range(len(plain), 0, -1):
        if line := known.get(key[:length]) or known.get(plain[:length]):
            return line
    return 1


def error_line(message: str, text: str) -> int:
    """Return the line that a ``tomllib`` error names; the last one for "at end of document"."""
    match = _AT_LINE.search(message)
    return int(match[1]) if match else max(1, len(text.splitlines()))


def key_at(text: str, line: int, *, unclosed: bool) -> tuple[str, ...]:
    """Return the key whose value ends in an error at a line; () if none is before it.

    ``unclosed``: the error is a list or a table without its end, so that what follows it was read as a part of it.
    """
    begun = sorted((at, len(key), key) for key, at in _lines(text).items() if at <= line)
    lines = text.split("\n")
    values = [key for at, _, key in begun if assigns(lines[at - 1])]
    if unclosed:
        open_ones = (key for at, _, key in begun if assigns(lines[at - 1]) and not _closes(lines, at, begun))
        return next(open_ones, values[-1] if values else ())
    at, _, key = begun[-1] if begun else (0, 0, ())
    return key if at == line else ()


def assigns(line: str) -> bool:
    """Return whether a line begins the value of a key."""
    return _HEADER.match(line) is None and _ASSIGNMENT.match(line) is not None


def _closes(lines: list[str], at: int, begun: list[tuple[int, int, tuple[str, ...]]]) -> bool:
    """Return whether each bracket of a value that begins at a line is closed before the next key."""
    end = next((later for later, _, _ in begun if later > at), len(lines) + 1)
    value = "\n".join(lines[at - 1 : end - 1])
    return value.count("[") + value.count("{") <= value.count("]") + value.count("}")


def _lines(text: str) -> dict[tuple[str, ...], int]:
    lines_of: dict[tuple[str, ...], int] = {}
    section: tuple[str, ...] = ()
    numbered: tuple[str, ...] = ()
    """The section with the number of the table, if it is one of ``[[several]]``."""
    tables: Counter[tuple[str, ...]] = Counter()
    quoted = False
    for number, line in enumerate(text.split("\n"), 1):
        # Text inside a multi-line string is not a key.
        if not quoted:
            if header := _HEADER.match(line):
                section = numbered = parts(header[2])
                if header[1] == "[[":
                    numbered = (*section[:-1], f"{section[-1]}[{tables[section]}]")
                    tables[section] += 1
                    lines_of[numbered] = number
                for length in range(1, len(section) + 1):  # [a.b] makes a table a as well
                    lines_of.setdefault(section[:length], number)
            elif assignment := _ASSIGNMENT.match(line):
                for table in (section, numbered):
                    lines_of.setdefault(table + parts(assignment[1]), number)
        quoted ^= (line.count('"""') + line.count("'''")) % 2 == 1
    return lines_of


def parts(key: str) -> tuple[str, ...]:
    """Return the parts of a dotted key, without their quotes."""
    return tuple(part.strip("\"'") for part in re.findall(_KEY, key))


def dotted(path: tuple[str, ...]) -> str:
    """Return the key as TOML writes it; see :func:`parts`."""
    return ".".join(part if re.fullmatch(r"[A-Za-z0-9_-]+", part) else f'"{part}"' for part in path)


def place_of(text: str, key: tuple[str, ...]) -> int:
    """Return the line at which the user would set a key: its own, even as a comment, or the last line of its table.

    A key of the top of the file belongs before the first table.
    """
    lines = text.split("\n")
    bare = "\n".join(line.removeprefix("# ") if _COMMENTED.match(line) else line for line in lines)
    for known in (_lines(text), _lines(bare)):
        if key in known:
            return known[key]
    last = max(1, len(text.splitlines()))
    tables = [(parts(header[2]), number) for number, line in enumerate(lines, 1) if (header := _HEADER.match(line))]
    begin = next((number for table, number in tables if table == key[:-1]), None) if len(key) > 1 else 0
    return last if begin is None else max(1, next((number - 1 for _, number in tables if number > begin), last))
