"""Find the line of a key in a TOML file.

``tomllib`` keeps no positions.  This module reads section headers and the beginnings of assignments, which is enough
to point the user to the right line.  For a key inside an inline table, it finds the table that contains it.
"""

import re
from collections import Counter

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
