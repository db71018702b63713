"""Foreign text inside a Markdown document: it cannot end what stands around it, nor swallow what follows."""

import re
from typing import TYPE_CHECKING

from ..text.sanitize import clean, one_line
from . import commonmark

if TYPE_CHECKING:
    from markdown_it.token import Token

_TICKS = re.compile("`+")
_INDENT = re.compile(r"^[ \t]+")
_MEANT = re.compile(r"([\\`*_\[\]<>#|~&$])")
_TAG = re.compile(r"<(?=[A-Za-z/!?])")
_END = "end"
_MOST_TAGS = 100
"""Different tags of a paragraph that are looked for one by one; of more, every sign that could begin one is escaped."""

_PATIENCE = 3
"""Tags inside tags come to light one layer after the other; what needs longer is not worth it."""


def fence(text: str, language: str = "") -> str:
    """The cleaned text in a fence that is longer than any run of backticks in it."""
    text = clean(text).rstrip("\n")
    ticks = "`" * max(3, _longest_run(text) + 1)
    return f"{ticks}{language}\n{text}\n{ticks}"


def code(text: str) -> str:
    """One line as inline code; empty for empty."""
    text = one_line(text)
    ticks = "`" * (_longest_run(text) + 1)
    pad = " " if "`" in text else ""
    return f"{ticks}{pad}{text}{pad}{ticks}" if text else ""


def plain(text: str) -> str:
    """One line in which nothing means anything to Markdown."""
    return _MEANT.sub(r"\\\1", one_line(text))


def quote(text: str) -> str:
    """Every line behind a ``>``.

    Tabs at its beginning become blanks: moved by two columns they would indent less, and code would be read as text.
    """
    lines = (_INDENT.sub(lambda indent: indent[0].expandtabs(4), line) for line in text.split("\n"))
    return "\n".join(f"> {line}".rstrip() for line in lines)


def message(text: str) -> str:
    """Markdown as the agent wrote it, where it stays within itself.

    An open fence is closed, tags are escaped; where that does not help the text is shown in a fence.
    """
    text = clean(text).strip("\n")
    for _ in range(_PATIENCE):
        tokens = commonmark.read(f"{text}\n\n{_END}", html=True)
        if tokens is None or _hides(tokens):
            break
        tags = [token for token in tokens if _has_tags(token)]
        if not tags and _ends(tokens):
            return text
        text = _escaped(text, tags) if tags else f"{text}\n{tokens[-1].markup}"
    return fence(text, "markdown")


def _longest_run(text: str) -> int:
    return max(map(len, _TICKS.findall(text)), default=0)


def _ends(tokens: "list[Token]") -> bool:
    """Whether what comes after the text is a paragraph of its own."""
    return tokens[-1].type == "paragraph_close" and tokens[-2].content == _END and tokens[-1].level == 0


def _has_tags(token: "Token") -> bool:
    return token.type == "html_block" or any(inner.type == "html_inline" for inner in token.children or ())


def _escaped(text: str, blocks: "list[Token]") -> str:
    """The text with a backslash before each tag of these blocks."""
    lines = text.split("\n")
    for block in blocks:
        first, last = block.map or (0, len(lines))
        tags = {re.escape(inner.content) for inner in block.children or () if inner.type == "html_inline"}
        pattern = "|".join(tags) if 0 < len(tags) <= _MOST_TAGS else _TAG
        # As many lines as before: the places of the other blocks stay true.
        lines[first:last] = re.sub(pattern, r"\\\g<0>", "\n".join(lines[first:last])).split("\n")
    return "\n".join(lines)


def _hides(tokens: "list[Token]") -> bool:
    """Whether entities stand for characters that are taken out of all foreign text."""
    return any(inner.content != clean(inner.content) for token in tokens for inner in token.children or ())
