"""Parse a shell line into the programs that it starts: enough to name them, far from a shell.

Quoting, here-documents, ``cd x && …``, pipes and subshells are understood.  The values of ``$(…)`` and variables are
not known, so these stay as written.
"""

import re
from collections.abc import Iterator

from msgspec import Struct

MOST_CHARACTERS = 50_000
"""The rest of a longer line is ignored."""

_TOKEN = re.compile(
    r"(?P<blank>(?:[ \t]|\\\n)+)"
    r"|(?P<here><<-?(?!<)[ \t]*(?P<mark>'[^'\n]*'|\"[^\"\n]*\"|[^\s'\";&|<>()]+))"
    r"|(?P<redirect>[0-9]*(?:&>>?|>>|>\||[<>]&|<<<|<>|[<>])[ \t]*)"
    r"|(?P<operator>&&|\|\||\|&|;;|[;&|()\n])"
    r"|(?P<word>(?:[^\s'\"\\;&|()<>$`]+|\\.|'[^']*'|\"(?:[^\"\\]|\\.)*\"|\$\([^()]*\)|`[^`]*`|\$)+)"
    r"|(?P<other>.)",
    re.DOTALL,
)
_QUOTED = re.compile(r"'([^']*)'|\"((?:[^\"\\]|\\.)*)\"|\\(.)", re.DOTALL)
_ESCAPED = re.compile(r"\\([$`\"\\\n])")
_KEYWORDS = frozenset({"if", "then", "elif", "else", "while", "until", "do", "{", "}", "!", "time"})


class Program(Struct, frozen=True):
    """One program that a line starts."""

    words: tuple[str, ...]
    """Its name and arguments, without quotes."""
    then: str = ""
    """The operator after it: ``&&``, ``||``, ``|``, ``;``, ``&``; empty at the end of the line."""


def programs(line: str) -> list[Program]:
    """Return the programs of a line in their order."""
    started: list[Program] = []
    words: list[str] = []
    for kind, text in _tokens(line[:MOST_CHARACTERS]):
        if kind == "word" and (words or text not in _KEYWORDS):
            words.append(_unquoted(text))
        elif kind == "operator":
            if words:
                started.append(Program(tuple(words)))
                words = []
            if started and text not in "()":
                started[-1] = Program(started[-1].words, _joint(started[-1].then, text))
    if words:
        started.append(Program(tuple(words)))
    elif started and started[-1].then == ";":
        started[-1] = Program(started[-1].words)  # the last line ends like all others
    return started


def _tokens(line: str) -> Iterator[tuple[str, str]]:
    """Yield words and operators; redirections, comments and the bodies of here-documents are left out."""
    position, target = 0, False
    marks: list[str] = []
    while (token := _TOKEN.match(line, position)) is not None:
        position, kind, text = token.end(), token.lastgroup or "", token[0]
        if kind == "here":
            marks.append(_unquoted(token["mark"]))
        elif kind == "word" and text.startswith("#"):
            end = line.find("\n", position)
            position = len(line) if end < 0 else end
        elif kind in ("word", "operator") and not target:
            yield kind, text
        # The bodies begin behind the line, in the order of their marks; other commands of the line come before.
        if text == "\n" and marks:
            position = _behind(line, position, marks)
            marks = []
        target = kind == "redirect"


def _behind(line: str, position: int, marks: list[str]) -> int:
    """Return the position at which the line continues after the bodies of here-documents."""
    for mark in marks:
        end = re.compile(rf"^\t*{re.escape(mark)}$\n?", re.MULTILINE).search(line, position)
        position = end.end() if end is not None else len(line)
    return position


def _joint(earlier: str, operator: str) -> str:
    """Combine adjacent operators into one: a line break after ``&&`` ends nothing."""
    if operator in ("\n", ";;"):
        return earlier or ";"
    return "|" if operator == "|&" else operator


def _unquoted(word: str) -> str:
    def bare(match: re.Match[str]) -> str:
        if match[2] is not None:
            return _ESCAPED.sub(lambda escaped: "" if escaped[1] == "\n" else escaped[1], match[2])
        return match[1] if match[1] is not None else match[3]

    return _QUOTED.sub(bare, word)
