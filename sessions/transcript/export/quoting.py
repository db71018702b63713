"""Untrusted text inside a Markdown document: it cannot end the block around it, nor take in the text after it."""

import re
from functools import cache
from typing import TYPE_CHECKING

from agentdash.sessions.text.sanitize import clean, one_line

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token


LONGEST = 100_000
"""The most characters that are read as Markdown; the worst text of this length (``[[[[…``) takes about 2 s, and one of
twice the length four times as long."""

_DEEPEST = 40
"""The deepest nesting of quotes and lists; the reader leaves out deeper parts."""

_SAFE_LINK = re.compile(r"(?:https?://|mailto:)", re.IGNORECASE)


@cache
def reader(*, html: bool = False) -> "MarkdownIt":
    """Return a reader of CommonMark with tables.

    Images are read as links, because a page would load them.  Definitions of links stay text, because they would not
    be shown.

    Args:
        html: True to separate tags from text, which finds them; tags are never passed on.
    """
    from markdown_it import MarkdownIt

    markdown = MarkdownIt("commonmark", {"html": html, "maxNesting": _DEEPEST})
    markdown.enable(["table", "strikethrough"]).disable(["image", "reference"])
    markdown.validateLink = lambda url: _SAFE_LINK.match(url) is not None  # type: ignore[method-assign]
    return markdown


def read(text: str, *, html: bool = False) -> "list[Token] | None":
    """Return the tokens of a text; None if it is too long, or nested so deeply that parts would be lost."""
    if len(text) > LONGEST:
        return None
    tokens = reader(html=html).parse(text)
    return None if any(token.level >= _DEEPEST - 1 for token in tokens) else tokens


_TICKS = re.compile("`+")
_INDENT = re.compile(r"^[ \t]+")
_MEANT = re.compile(r"([\\`*_\[\]<>#|~&$])")
_TAG = re.compile(r"<(?=[A-Za-z/!?])")
_END = "end"
_MOST_TAGS = 100
"""The most different tags of a paragraph that are escaped one by one; else each possible beginning of a tag is."""

_PATIENCE = 3
"""The most rounds of escaping: nested tags appear one layer a round, and a text that needs more is not worth it."""


def fence(text: str, language: str = "") -> str:
    """Return the cleaned text in a fence that is longer than any run of backticks in it."""
    text = clean(text).rstrip("\n")
    ticks = "`" * max(3, _longest_run(text) + 1)
    return f"{ticks}{language}\n{text}\n{ticks}"


def code(text: str) -> str:
    """Return one line as inline code; "" for an empty text."""
    text = one_line(text)
    ticks = "`" * (_longest_run(text) + 1)
    pad = " " if "`" in text else ""
    return f"{ticks}{pad}{text}{pad}{ticks}" if text else ""


def plain(text: str) -> str:
    """Return one line in which all Markdown is escaped."""
    return _MEANT.sub(r"\\\1", one_line(text))


def quote(text: str) -> str:
    """Return the text with a ``>`` before each line.

    Tabs at its beginning become blanks: two columns further right they would indent less, and code would be read as
    text.
    """
    lines = (_INDENT.sub(lambda indent: indent[0].expandtabs(4), line) for line in text.split("\n"))
    return "\n".join(f"> {line}".rstrip() for line in lines)


def message(text: str) -> str:
    """Return Markdown as the agent wrote it, if it cannot affect the text after it.

    An open fence is closed, and tags are escaped.  If that is not enough, the text is shown in a fence.
    """
    text = clean(text).strip("\n")
    for _ in range(_PATIENCE):
        tokens = read(f"{text}\n\n{_END}", html=True)
        # Entities can contain characters that are removed from all untrusted text.
        if tokens is None or any(one.content != clean(one.content) for token in tokens for one in token.children or ()):
            break
        tags = [
            token
            for token in tokens
            if token.type == "html_block" or any(inner.type == "html_inline" for inner in token.children or ())
        ]
        # The paragraph after the text is read as a paragraph of its own.
        last = tokens[-1]
        if not tags and last.type == "paragraph_close" and tokens[-2].content == _END and last.level == 0:
            return text
        text = _escaped(text, tags) if tags else f"{text}\n{tokens[-1].markup}"
    return fence(text, "markdown")


def _longest_run(text: str) -> int:
    return max(map(len, _TICKS.findall(text)), default=0)


def _escaped(text: str, blocks: "list[Token]") -> str:
    """Return the text with a backslash before each tag of these blocks."""
    lines = text.split("\n")
    for block in blocks:
        first, last = block.map or (0, len(lines))
        tags = {re.escape(inner.content) for inner in block.children or () if inner.type == "html_inline"}
        pattern = "|".join(tags) if 0 < len(tags) <= _MOST_TAGS else _TAG
        # The number of lines does not change, so the line numbers of the other blocks stay right.
        lines[first:last] = re.sub(pattern, r"\\\g<0>", "\n".join(lines[first:last])).split("\n")
    return "\n".join(lines)
