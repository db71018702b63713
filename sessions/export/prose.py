"""An agent's message as HTML: its only tags and links are those that Markdown makes, and it has no images."""

from html import escape
from typing import TYPE_CHECKING

from ..text.sanitize import clean
from . import quoting

if TYPE_CHECKING:
    from markdown_it.token import Token

_LOWER = 2
"""Levels by which a message's headings are below those of the page."""


def prose(text: str) -> str:
    """Return the rendered message, or its plain text if it cannot be read as Markdown (``quoting.read``)."""
    text = clean(text)
    tokens = quoting.read(text)
    if tokens is None:
        return f'<pre class="plain"><code>{escape(text)}</code></pre>'
    for token in tokens:
        _tame(token)
    markdown = quoting.reader()
    rendered: str = markdown.renderer.render(tokens, markdown.options, {})
    return rendered


def _tame(token: "Token") -> None:
    if token.type in ("heading_open", "heading_close"):
        token.tag = f"h{min(6, int(token.tag[1:]) + _LOWER)}"
    token.info = ""  # the language of code would become a class that nothing uses
    if token.attrs.pop("style", None) == "text-align:right":
        token.attrs["class"] = "right"  # the page allows no style but its own
    for inner in token.children or ():
        # Entities and link texts can contain characters that were cleaned from the source.
        inner.content = clean(inner.content)
        if "title" in inner.attrs:
            inner.attrs["title"] = clean(str(inner.attrs["title"]))
