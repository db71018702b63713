"""The pieces of parsed Markdown, which are drawn one by one, each behind its margin: paragraphs, code, tables.

Emphasis, code and links become coloured spans.  A table has columns at full width, narrowed if they must be, or is a
list if they cannot fit.
"""

from collections.abc import Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING

from msgspec import Struct

from agentdash.sessions.text.sanitize import one_line
from agentdash.widgets.document.flow import LEAST_ROOM, filled, fitted, flow, lines_of, row_width
from agentdash.widgets.document.syntax import Code
from agentdash.widgets.drawing.spans import Row, Span

if TYPE_CHECKING:
    from markdown_it.token import Token


PARSED = 8_000
"""Longest paragraph, in characters, that is parsed for marks; a longer one is shown as it was written."""


def inline_spans(text: str, role: str = "text") -> list[Span]:
    """The spans of a paragraph; each line break of its source is a newline."""
    if len(text) > PARSED:
        return [(text, role)]
    # Imported when the first message is drawn, so that the dashboard starts sooner.
    from agentdash.widgets.document.parser import parser

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


LEAST = 6
"""Fewest cells of a column; if there are fewer, each row becomes a list."""

_BETWEEN: Span = (" │ ", "line")
_CROSSING = "─┼─"

Cell = list[Span]


class Table(Struct, frozen=True):
    """The cells of a table as they were written, and the alignment of its columns."""

    head: tuple[str, ...]
    body: tuple[tuple[str, ...], ...]
    right: tuple[bool, ...]
    """True for each column that is aligned to the right."""

    def rows(self, width: int) -> list[Row]:
        """The rows of the table, none wider than ``width`` cells."""
        head = [inline_spans(cell, "strong") for cell in self.head]
        body = [[inline_spans(cell) for cell in row] for row in self.body]
        widths = _widths([head, *body], width - len(_BETWEEN[0]) * (len(head) - 1))
        if widths is None:
            return _records(self.head, body, width)
        line: Row = ((_CROSSING.join("─" * width for width in widths), "line"),)
        drawn = [self._drawn(row, widths) for row in body]
        rows = [*self._drawn(head, widths), line]
        apart = any(len(lines) > 1 for lines in drawn)
        for number, lines in enumerate(drawn):
            rows += [line, *lines] if apart and number else lines
        return rows

    def _drawn(self, cells: Sequence[Cell], widths: Sequence[int]) -> list[Row]:
        """One row of the table: as many screen rows as its highest cell needs."""
        columns = [flow(cell, width) for cell, width in zip(cells, widths, strict=True)]
        return [self._joined(lines, widths) for lines in zip_longest(*columns, fillvalue=())]

    def _joined(self, lines: Sequence[Row], widths: Sequence[int]) -> Row:
        row: list[Span] = []
        for line, width, right in zip(lines, widths, self.right, strict=True):
            blank: Span = (" " * (width - row_width(line)), "")
            row += [*([_BETWEEN] if row else []), *([blank, *line] if right else [*line, blank])]
        return tuple(row)


def _widths(rows: Sequence[Sequence[Cell]], room: int) -> list[int] | None:
    """The cells of each column: its widest text, or one smaller width for the widest; None if that is too narrow."""
    wanted = [max(1, *map(row_width, column)) for column in zip(*rows, strict=True)]
    most = room
    for number, width in enumerate(sorted(wanted)):
        most = room // (len(wanted) - number)
        if width > most:
            break
        room -= width
        most = width
    return [min(width, most) for width in wanted] if most >= min(LEAST, max(wanted)) else None


def _records(head: Sequence[str], body: Sequence[Sequence[Cell]], width: int) -> list[Row]:
    """Each row as a list of names and values, for a narrow pane."""
    names = ["".join(text for text, _ in inline_spans(name)) for name in head]
    rows: list[Row] = []
    for cells in body:
        rows += [()] if rows else []
        for name, cell in zip(names, cells, strict=True):
            rows += flow([(f"{name}: ", "dim"), *cell], width, (), (("  ", ""),))
    return rows or flow([(", ".join(names), "strong")], width)


class Margin(Struct, frozen=True):
    """The beginning of a piece's rows: the marks of the lists and quotes around it."""

    first: Row = ()
    rest: Row = ()

    def after(self) -> "Margin":
        """The margin of the next piece, once the mark has been shown."""
        return Margin(self.rest, self.rest)

    def inside(self, mark: Span, below: Span) -> "Margin":
        """The margin with one more mark."""
        return Margin((*self.first, mark), (*self.rest, below))

    def fit(self, width: int) -> "Margin":
        """The margin, cut so that the text keeps some room."""
        return Margin(fitted(self.first, width - LEAST_ROOM), fitted(self.rest, width - LEAST_ROOM))


class Piece(Struct, frozen=True):
    """Only a margin: the blank row between two paragraphs."""

    margin: Margin

    def rows(self, width: int) -> list[Row]:
        """At least one row, none wider than ``width`` cells."""
        return [self.margin.fit(width).first]


class Paragraph(Piece, frozen=True):
    """Text with inline marks.  It keeps the line breaks of its source, because people who write prompts mean them."""

    text: str
    role: str = "text"

    def rows(self, width: int) -> list[Row]:
        """The lines, wrapped below the end of the margin."""
        rows: list[Row] = []
        for line in lines_of(inline_spans(self.text, self.role)):
            rows += flow(line, width, self.margin.rest if rows else self.margin.first, self.margin.rest)
        return rows


class CodeLine(Piece, frozen=True):
    """One line of a fence."""

    code: Code
    item: int

    def rows(self, width: int) -> list[Row]:
        """The line on the background of code."""
        return self.code.rows(self.item, width, self.margin.first, self.margin.rest)


class Label(Piece, frozen=True):
    """The info string of a fence, usually its language."""

    text: str

    def rows(self, width: int) -> list[Row]:
        """The label, above its code, in the colour of a comment."""
        first, rest = ((*row, (" ", "comment")) for row in (self.margin.first, self.margin.rest))
        return [filled(row, width, "comment") for row in flow([(self.text, "comment")], width, first, rest)]


class Rule(Piece, frozen=True):
    """A horizontal rule."""

    def rows(self, width: int) -> list[Row]:
        """One row that fills the width."""
        margin = self.margin.fit(width).first
        return [(*margin, ("─" * (width - row_width(margin)), "line"))]


class Grid(Piece, frozen=True):
    """A table."""

    table: Table

    def rows(self, width: int) -> list[Row]:
        """The table, in the width that the margin leaves."""
        margin = self.margin.fit(width)
        rows = self.table.rows(width - max(row_width(margin.first), row_width(margin.rest)))
        return [(*(margin.rest if number else margin.first), *row) for number, row in enumerate(rows)]
