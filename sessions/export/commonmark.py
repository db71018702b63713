"""Messages are Markdown of an agent: which parts of the language are read, and what is not believed.

markdown-it-py comes with Textual.  It is imported only when a document is written: nothing else needs it.
"""

import re
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

LONGEST = 100_000
"""Characters that are read as Markdown; the worst text of this length (``[[[[…``) takes about 2 s, and of twice as many
four times as long."""

_DEEPEST = 40
"""Quotes and lists inside each other; the reader leaves out what lies deeper."""

_SAFE_LINK = re.compile(r"(?:https?://|mailto:)", re.IGNORECASE)


@cache
def reader(*, html: bool = False) -> "MarkdownIt":
    """CommonMark with tables.

    There are no images, which would be loaded, and no definitions of links, which would be shown nowhere: an image
    becomes a link, a definition stays text.

    Args:
        html: tell tags apart from text; for finding them, never for passing them on.
    """
    from markdown_it import MarkdownIt

    markdown = MarkdownIt("commonmark", {"html": html, "maxNesting": _DEEPEST})
    markdown.enable(["table", "strikethrough"]).disable(["image", "reference"])
    markdown.validateLink = _is_safe  # type: ignore[method-assign]
    return markdown


def read(text: str, *, html: bool = False) -> "list[Token] | None":
    """The text as tokens; None where that would take too long, or lose what is nested too deeply."""
    if len(text) > LONGEST:
        return None
    tokens = reader(html=html).parse(text)
    return None if any(token.level >= _DEEPEST - 1 for token in tokens) else tokens


def _is_safe(url: str) -> bool:
    return _SAFE_LINK.match(url) is not None
