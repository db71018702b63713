"""The reader of Markdown in agents' messages: CommonMark without the parts that are not safe.

markdown-it-py comes with Textual.  It is imported only when a document is written, because nothing else needs it.
"""

import re
from functools import cache
from typing import TYPE_CHECKING

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
    markdown.validateLink = _is_safe  # type: ignore[method-assign]
    return markdown


def read(text: str, *, html: bool = False) -> "list[Token] | None":
    """Return the tokens of a text; None if it is too long, or nested so deeply that parts would be lost."""
    if len(text) > LONGEST:
        return None
    tokens = reader(html=html).parse(text)
    return None if any(token.level >= _DEEPEST - 1 for token in tokens) else tokens


def _is_safe(url: str) -> bool:
    return _SAFE_LINK.match(url) is not None
