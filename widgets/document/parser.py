"""The Markdown parser, made to lose no word of a foreign text."""

from functools import cache

from markdown_it import MarkdownIt


class Parser(MarkdownIt):
    """CommonMark with tables.

    HTML and entities are text.  Definitions of link targets stay where they stand.  Addresses are only shown, and so
    stay as they were written.  What stands inside a paragraph is parsed when somebody looks at it.
    """

    def __init__(self) -> None:
        super().__init__("commonmark", {"html": False})
        self.enable("table").disable(["reference", "entity", "inline", "text_join"])

    def normalizeLink(self, url: str) -> str:  # noqa: N802 - the library's own name
        """The address itself."""
        return url

    def normalizeLinkText(self, link: str) -> str:  # noqa: N802 - the library's own name
        """The address itself."""
        return link


@cache
def parser() -> Parser:
    """The one parser; it keeps nothing between two texts."""
    return Parser()
