"""The inside of a paragraph: Markdown's emphasis, code and links as coloured spans."""

from collections.abc import Sequence
from functools import cache

from markdown_it import MarkdownIt
from markdown_it.token import Token

from ...sessions.text import one_line
from ..rows import Span

PARSED = 8_000
"""Characters of one paragraph that are looked through for marks; a longer one is shown as it was written."""


class Parser(MarkdownIt):
    """CommonMark with tables, made to lose no word of a foreign text.

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


def inline_spans(text: str, role: str = "text") -> list[Span]:
    """The spans of a paragraph, where a newline stands for each line break of its source."""
    if len(text) > PARSED:
        return [(text, role)]
    tokens: list[Token] = []
    parser().inline.parse(text, parser(), {}, tokens)
    return _spans(tokens, role)


def _spans(tokens: Sequence[Token], role: str) -> list[Span]:
    """What stands innermost gives the colour.  An escape is shown as it was written: it may belong to a path."""
    spans: list[Span] = []
    roles = [role]
    link: tuple[Token, int] | None = None
    for token in tokens:
        match token.type:
            case "strong_open" | "em_open":
                roles.append(_inside(roles[-1], token))
                spans.append((_kept(token), roles[-1]))
            case "strong_close" | "em_close":
                spans.append((_kept(token), roles.pop()))
            case "link_open":
                link = token, len(spans)
                roles.append("link")
            case "link_close" if link is not None:
                roles.pop()
                spans += _target(link[0], "href", spans[link[1] :])
            case "image":
                spans.append((token.content, "link"))
                spans += _target(token, "src", spans[-1:])
            case "code_inline":
                spans.append((token.content, "code"))
            case "softbreak" | "hardbreak":
                spans.append(("\n", roles[-1]))
            case _:
                spans.append((token.markup or token.content, roles[-1]))
    return [span for span in spans if span[0]]


def _inside(outer: str, token: Token) -> str:
    if _kept(token) or outer in ("title", "link", "strong"):
        return outer
    return "strong" if token.type == "strong_open" else "emphasis"


def _kept(token: Token) -> str:
    """Underscores are text: ``__init__`` is a name more often than an emphasis."""
    return token.markup if "_" in token.markup else ""


def _target(token: Token, name: str, shown: Sequence[Span]) -> list[Span]:
    """Where a link leads, where its text says something else; it is never a link of the terminal's."""
    url, title = one_line(str(token.attrs.get(name, ""))), one_line(str(token.attrs.get("title", "")))
    told = " ".join(filter(None, (url, f'"{title}"' if title else "")))
    text = "".join(part for part, _ in shown)
    return [] if told in ("", text, f"mailto:{text}") else [(f" ({told})", "dim")]
