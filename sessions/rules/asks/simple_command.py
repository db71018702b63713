"""Split a shell line into simple commands, if that is certain; pure.

This is the opposite of a tolerant reader: it accepts the few characters that every common shell reads alike, and
refuses a line with anything else.  Rules decide about what is accepted; the user is asked about the rest.
"""

import re
from collections.abc import Iterator

from msgspec import Struct

MOST_CHARACTERS = 10_000
"""A longer line is refused."""

_SHELLS = frozenset({"sh", "bash", "zsh", "dash"})
_TOKEN = re.compile(
    r"(?P<blank>[ \t]+)"
    r"|(?P<quiet>[12]?>[ \t]?/dev/null(?![^ \t\n;&|])|2>&1(?![^ \t\n;&|]))"
    r"|(?P<joint>&&|\|\||[;|\n])"
    r"|(?P<word>[A-Za-z0-9_./:@%+,-][A-Za-z0-9_./:@%+,=-]*)(?=[ \t\n;&|]|\Z)"
    r"|'(?P<single>[^'\\\n]*)'(?=[ \t\n;&|]|\Z)"
    r"|\"(?P<double>[^\"\\$`!\n]*)\"(?=[ \t\n;&|]|\Z)"
)
_ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\+?=")
_KEYWORD = re.compile(
    "if|then|elif|else|fi|for|while|until|do|done|case|esac|in|select|function|time|coproc|repeat|foreach|end|begin"
)


class Simple(Struct, frozen=True):
    """One command of a line."""

    words: tuple[str, ...]
    """The program and its arguments, exactly as the program gets them."""
    after: str = ""
    """The operator before it; empty for the first."""
    quiet: bool = False
    """Some of its output goes to ``/dev/null``, or its errors to its output."""


def commands(line: str) -> tuple[Simple, ...] | None:
    """Return the commands of a line in their order; None if the line is not certainly a list of simple commands.

    A program that is started by the line of a shell (``bash -lc 'git log'``, as codex asks) counts instead of the
    shell.
    """
    found = _commands(line)
    if found is not None and len(found) == 1 and (inner := _line_of_shell(found[0].words)) is not None:
        return _commands(inner)
    return found


def single(line: str) -> tuple[str, ...] | None:
    """Return the words of a line that is certainly one command without redirections; None for any other line."""
    found = commands(line)
    return found[0].words if found is not None and len(found) == 1 and not found[0].quiet else None


def _commands(line: str) -> tuple[Simple, ...] | None:
    if len(line) > MOST_CHARACTERS or not all(character.isprintable() or character in "\t\n" for character in line):
        return None  # also for an invisible character, or a blank that is not one of the usual
    found: list[Simple] = []
    words: list[str] = []
    after, quiet = "", False
    for kind, text in (*_tokens(line.strip(" \t\n")), ("joint", "")):
        if kind == "other":
            return None
        if kind == "quiet":
            quiet = True
        elif kind != "joint":
            if not words and (kind != "word" or _KEYWORD.fullmatch(text) or _ASSIGNMENT.match(text)):
                return None  # not certainly a program
            words.append(text)
        elif words:
            found.append(Simple(tuple(words), after, quiet))
            words, after, quiet = [], text, False
        else:
            return None
    return tuple(found)


def _tokens(line: str) -> Iterator[tuple[str, str]]:
    """Yield words and operators without blanks; ``other`` at the first character that is not accepted."""
    position = 0
    while position < len(line):
        token = _TOKEN.match(line, position)
        if token is None:
            yield "other", line[position]
            return
        position, kind = token.end(), token.lastgroup or "other"
        if kind != "blank":
            yield kind, token[kind]


def _line_of_shell(words: tuple[str, ...]) -> str | None:
    """Return the line that a shell is started with; None if the words start no shell with a line."""
    if len(words) == 3 and words[0].rpartition("/")[2] in _SHELLS and words[1] in ("-c", "-lc"):
        trusted = words[0].rpartition("/")[0] in ("", "/bin", "/usr/bin", "/usr/local/bin")
        return words[2] if trusted else None
    return None
