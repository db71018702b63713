"""The Markdown parser, configured to lose no word of an untrusted text."""

from functools import cache

from markdown_it import MarkdownIt


class Parser(MarkdownIt):
    """CommonMark with tables.

    HTML and entities are text.  Definitions of link targets stay in place.  Addresses are only shown, so they stay as
    they were written.  The inside of a paragraph is parsed on demand.
    """

    def __init__(self) -> None:
        super().__init__("commonmark", {"html": False})
        self.enable("table").disable(["reference", "entity", "inline", "text_join"])

    def normalizeLink(self, url: str) -> str:  # noqa: N802 - the library's own name
        """Return the address unchanged."""
        return url

    def normalizeLinkText(self, link: str) -> str:  # noqa: N802 - the library's own name
        """Return the address unchanged."""
        return link


@cache
def parser() -> Parser:
    """The shared parser; it keeps no state between two texts."""
    return Parser()
