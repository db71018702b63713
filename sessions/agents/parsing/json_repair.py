"""Repair of flawed JSON lines: invalid characters are replaced, everything else stays as it was printed.

Agents print text from models, servers and files.  claude cuts the output of a command between the two halves of an
emoji and prints one half as ``\\ud83d`` (Claude Code 2.1.197): legal JSON that a strict reader refuses.
"""

import json
import math
import re
from contextlib import suppress
from typing import Any

_AROUND = b"\xef\xbb\xbf\0 \t\r\n"
"""Bytes that may surround a line: a byte order mark, blanks, and NULs of a file that lost its last writes."""

_SURROGATES = re.compile(rb"\\u[dD][89a-fA-F][0-9a-fA-F]{2}(?:\\u[dD][89a-fA-F][0-9a-fA-F]{2})*")
"""A run of escaped surrogates: pairs, or halves without a partner."""

_ESCAPE = 6
"""Bytes of one escape."""

DEEPEST = 64
"""Levels that are read of a line whose nesting is too deep for the stack."""

_STRUCTURE = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)|[\[{]++|[\]}]++', re.DOTALL)
"""Strings, which are skipped, and runs of brackets.  A string without an end goes on to the end of the text."""

_LARGE = re.compile(r"[0-9]{19}|[eE][+]?[0-9]{3}")
"""Text that may be a number beyond 64 bits."""


class Numeral(str):
    """A number that JSON or 64 bits cannot hold, such as ``NaN``, as text; other code treats it as plain text."""

    __slots__ = ()


def repaired(line: bytes) -> bytes:
    """Return the line as UTF-8 without a byte order mark and without unpaired surrogates."""
    line = line.strip(_AROUND)
    try:
        line.decode()
    except UnicodeDecodeError:
        line = line.decode("utf-8", "replace").encode()
    return _SURROGATES.sub(_characters, line)


def parsed(line: bytes) -> Any:
    """Return the value of a line, by the most lenient reading of JSON.

    Raw control characters in strings are accepted.  NaN, infinities and numbers beyond 64 bits become text, each a
    :class:`Numeral`; everything else can be encoded again.  If the nesting is too deep for the stack, only the upper
    levels are read.

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


def parsed_object(line: bytes) -> dict[str, Any] | None:
    """Return the object of a line by the same reading; None if it is none."""
    try:
        value = parsed(line)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def shallow(text: str) -> str:
    """Return JSON text cut at the level `DEEPEST`; ``"…"`` replaces each value that is left out."""
    kept: list[str] = []
    depth = begin = 0
    for match in _STRUCTURE.finditer(text):
        brackets = match[0]
        if brackets[0] in "[{":
            if depth <= DEEPEST < depth + len(brackets):
                kept.append(text[begin : match.start() + DEEPEST - depth])
            depth += len(brackets)
        elif brackets[0] in "]}":
            if depth - len(brackets) <= DEEPEST < depth:
                kept.append('"…"')
                begin = match.start() + depth - DEEPEST
            depth -= len(brackets)
    return "".join([*kept, text[begin:]] if depth <= DEEPEST else kept)


def _characters(match: re.Match[bytes]) -> bytes:
    """Return the characters of a run of escapes; the first escape is text if its backslash is escaped itself."""
    row, before = match[0], match.start()
    while before and match.string[before - 1] == _BACKSLASH:
        before -= 1
    text = b""
    if (match.start() - before) % 2:
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
