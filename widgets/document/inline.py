"""The inside of a paragraph: Markdown emphasis, code and links as coloured spans."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...sessions.text.sanitize import one_line
from ..drawing.spans import Span

if TYPE_CHECKING:
    from markdown_it.token import Token

PARSED = 8_000
"""Longest paragraph, in characters, that is parsed for marks; a longer one is shown as it was written."""


def inline_spans(text: str, role: str = "text") -> list[Span]:
    """The spans of a paragraph; each line break of its source is a newline."""
    if len(text) > PARSED:
        return [(text, role)]
    # Imported when the first message is drawn, so that the dashboard starts sooner.
    from .parser import parser

    tokens: list[Token] = []
    parser().inline.parse(text, parser(), {}, tokens)
    return _spans(tokens, role)


def _spans(tokens: "Sequence[Token]", role: str) -> list[Span]:
    """The innermost mark gives the colour.  An escape is shown as it was written: it may belong to a path."""
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


def _inside(outer: str, token: "Token") -> str:
    if _kept(token) or outer in ("title", "link", "strong"):
        return outer
    return "strong" if token.type == "strong_open" else "emphasis"


def _kept(token: "Token") -> str:
    """The markup if it has underscores: they are text, as ``__init__`` is a name more often than an emphasis."""
    return token.markup if "_" in token.markup else ""


def _target(token: "Token", name: str, shown: Sequence[Span]) -> list[Span]:
    """The target of a link, if the link's text differs from it; never a hyperlink of the terminal."""
    url, title = one_line(str(token.attrs.get(name, ""))), one_line(str(token.attrs.get("title", "")))
    address = " ".join(filter(None, (url, f'"{title}"' if title else "")))
    text = "".join(part for part, _ in shown)
    return [] if address in ("", text, f"mailto:{text}") else [(f" ({address})", "dim")]
