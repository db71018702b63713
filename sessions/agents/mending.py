"""Lines of JSON with a flaw, made readable: an odd character is replaced, everything else stays as it was printed.

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

_HALVES = re.compile(
    rb"(?:\\\\|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})+|\\u[dD][89a-fA-F][0-9a-fA-F]{2}"
)
"""Escaped backslashes and whole pairs of surrogates, which stay, or one surrogate alone."""

_LONGEST_HALF = 6
"""Bytes of one escape: a match of that length that begins with ``\\u`` is a surrogate alone."""

DEEPEST = 64
"""Levels of nesting that are read of a line that is nested too deeply for a stack."""

_STRUCTURE = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\Z)|[\[\]{}]', re.DOTALL)
"""Strings, which are passed over, and brackets."""


def mended(line: bytes) -> bytes:
    """The line as UTF-8 without a byte order mark, and without surrogates that have no partner."""
    line = line.strip(_AROUND)
    try:
        line.decode()
    except UnicodeDecodeError:
        line = line.decode("utf-8", "replace").encode()
    if b"\\ud" in line or b"\\uD" in line:
        line = _HALVES.sub(_whole, line)
    return line


def parsed(line: bytes) -> Any:
    """The value of a line, by the widest reading of JSON; everything in it can be encoded again.

    Raw control characters in strings are taken.  NaN, infinities and numbers beyond 64 bits become text.  Of nesting
    that no stack can take the upper levels are read.

    Raises:
        ValueError: the line is not JSON.
        RecursionError: the line is nested too deeply, and its upper levels are not JSON.
    """
    text = mended(line).decode()
    try:
        return _JSON.decode(text)
    except RecursionError:
        with suppress(ValueError):
            return _JSON.decode(shallow(text))
        raise


def shallow(text: str) -> str:
    """JSON text without the levels below the deepest that is read; ``"…"`` stands for what is left out."""
    kept: list[str] = []
    depth = begin = 0
    for found in _STRUCTURE.finditer(text):
        sign = found[0]
        if sign in ("[", "{"):
            depth += 1
            if depth == DEEPEST + 1:
                kept.append(text[begin : found.start()])
        elif sign in ("]", "}"):
            if depth == DEEPEST + 1:
                kept.append('"…"')
                begin = found.end()
            depth -= 1
    return "".join([*kept, text[begin:]] if depth <= DEEPEST else kept)


def _whole(found: re.Match[bytes]) -> bytes:
    alone = len(found[0]) == _LONGEST_HALF and found[0].startswith(b"\\u")
    return b"\\ufffd" if alone else found[0]


def _integer(text: str) -> int | str:
    fits = len(text) <= 20 and -(2**63) <= int(text) < 2**63
    return int(text) if fits else text


def _number(text: str) -> float | str:
    value = float(text)
    return value if math.isfinite(value) else text


_JSON = json.JSONDecoder(strict=False, parse_int=_integer, parse_float=_number, parse_constant=str)
