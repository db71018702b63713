"""The pieces of parsed Markdown, which are drawn one by one, each behind its margin."""

from msgspec import Struct

from ..drawing.spans import Row, Span
from .flow import LEAST_ROOM, filled, fitted, flow, lines_of, row_width
from .inline import inline_spans
from .syntax import Code
from .table import Table


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
