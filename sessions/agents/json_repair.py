"""Repair of JSON lines with a flaw: an odd character is replaced, everything else stays as it was printed.

Agents print what models, servers and files gave them.  claude cuts the output of a command between the two halves of
an emoji and prints one of them as ``\\ud83d`` (Claude Code 2.1.197): legal JSON that a strict reader refuses.
"""

import json
import math
import re
from contextlib import suppress
from typing import Any

_AROUND = b"\xef\xbb\xbf\0 \t\r\n"
"""Bytes that may surround a line: a byte order mark, blanks, and the NULs of a file that lost its last writes."""

_SURROGATES = re.compile(rb"\\u[dD][89a-fA-F][0-9a-fA-F]{2}(?:\\u[dD][89a-fA-F][0-9a-fA-F]{2})*")
"""Escapes of surrogates in a row: pairs, or halves without a partner."""

_ESCAPE = 6
"""Bytes of one of them."""

DEEPEST = 64
"""Levels of nesting that are read of a line that is nested too deeply for a stack."""

_STRUCTURE = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\Z)|[\[{]++|[\]}]++', re.DOTALL)
"""Strings, which are passed over, and brackets in a row."""

_LARGE = re.compile(r"[0-9]{19}|[eE][+]?[0-9]{3}")
"""May be a number beyond 64 bits."""


class Numeral(str):
    """The text of a number that JSON or 64 bits do not have, such as ``NaN``: elsewhere text like any other."""

    __slots__ = ()


def repaired(line: bytes) -> bytes:
    """The line as UTF-8 without a byte order mark, and without surrogates that have no partner."""
    line = line.strip(_AROUND)
    try:
        line.decode()
    except UnicodeDecodeError:
        line = line.decode("utf-8", "replace").encode()
    return _SURROGATES.sub(_characters, line)


def parsed(line: bytes) -> Any:
    """The value of a line, by the widest reading of JSON.

    Raw control characters in strings are taken.  NaN, infinities and numbers beyond 64 bits become text, each a
    :class:`Numeral`; everything else can be encoded again.  Of nesting that no stack can take the upper levels are
    read.

    Raises:
        ValueError: the line is not JSON.
        RecursionError: the line is nested too deeply, and its upper levels are not JSON.
    """
    text = repaired(line).decode()
    decode = (_JSON_OF_LARGE if _LARGE.search(text) else _JSON).decode
    try:
        return decode(text)
    except RecursionError:
        with suppress(ValueError):
            return decode(shallow(text))
        raise


def shallow(text: str) -> str:
    """JSON text without the levels below the deepest that is read; ``"…"`` stands for what is left out."""
    kept: list[str] = []
    depth = begin = 0
    for found in _STRUCTURE.finditer(text):
        brackets = found[0]
        if brackets[0] in "[{":
            if depth <= DEEPEST < depth + len(brackets):
                kept.append(text[begin : found.start() + DEEPEST - depth])
            depth += len(brackets)
        elif brackets[0] in "]}":
            if depth - len(brackets) <= DEEPEST < depth:
                kept.append('"…"')
                begin = found.start() + depth - DEEPEST
            depth -= len(brackets)
    return "".join([*kept, text[begin:]] if depth <= DEEPEST else kept)


def _characters(found: re.Match[bytes]) -> bytes:
    """The characters of a row of escapes; the first one is text if its backslash is escaped itself."""
    row, before = found[0], found.start()
    while before and found.string[before - 1] == _BACKSLASH:
        before -= 1
    text = b""
    if (found.start() - before) % 2:
        text, row = row[:_ESCAPE], row[_ESCAPE:]
    units = bytes.fromhex(row.replace(b"\\u", b"").decode())
    return text + units.decode("utf-16-be", "replace").encode()


_BACKSLASH = ord("\\")


def _integer(text: str) -> int | str:
    fits = len(text) <= 20 and -(2**63) <= int(text) < 2**63
    return int(text) if fits else Numeral(text)


def _number(text: str) -> float | str:
    value = float(text)
    return value if math.isfinite(value) else Numeral(text)


_JSON = json.JSONDecoder(strict=False, parse_constant=Numeral)
_JSON_OF_LARGE = json.JSONDecoder(strict=False, parse_int=_integer, parse_float=_number, parse_constant=Numeral)
