"""Markdown as rows: the text of a model, laid out for cells.

markdown-it parses and this package draws.  So a long message is made piece by piece, every text is wrapped by the same
rules, and every colour is a role of the theme.
"""

from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING

from agentdash.sessions.text.sanitize import cell_width, clean, one_line
from agentdash.widgets.document.lines import TAB
from agentdash.widgets.document.model import Block
from agentdash.widgets.document.pieces import CodeLine, Grid, Label, Margin, Paragraph, Piece, Rule, Table
from agentdash.widgets.document.plain import PlainText
from agentdash.widgets.document.syntax import Code
from agentdash.widgets.drawing import glyphs
from agentdash.widgets.drawing.spans import Row

if TYPE_CHECKING:
    from markdown_it.tree import SyntaxTreeNode as Node

PARSED = 64_000
"""Longest text, in characters, that is parsed as Markdown: takes about a tenth of a second."""

CELLS = 2_000
"""Most cells of a table that is laid out as a grid."""


class Markdown(Block):
    """The pieces of a text, parsed on demand.

    A text is shown as it was written if it is too long, or if parsing would lose words (cells without a column, lists
    that are nested too deeply).
    """

    def __init__(self, text: str, caption: Row = ()) -> None:
        self._text = text
        self.caption = caption

    def __len__(self) -> int:
        """The number of pieces."""
        return len(self._plain or self._pieces)

    def rows(self, item: int, width: int) -> list[Row]:
        """The rows of one piece."""
        return self._plain.rows(item, width) if self._plain else self._pieces[item].rows(width)

    @cached_property
    def _plain(self) -> PlainText | None:
        return None if self._pieces else PlainText(self._text)

    @cached_property
    def _pieces(self) -> list[Piece]:
        """Empty if the text is not shown as Markdown."""
        if len(self._text) > PARSED:
            return []
        text = clean(self._text).expandtabs(TAB)
        # Imported when the first message is drawn, so that the dashboard starts sooner.
        from markdown_it.tree import SyntaxTreeNode

        from agentdash.widgets.document.parser import parser

        tokens = parser().parse(text)
        kept = chain.from_iterable((token.content, token.info) for token in tokens)
        if sum(map(_letters, kept)) < _letters(text):
            return []
        return list(_Walk(text).blocks(SyntaxTreeNode(tokens).children, Margin()))


def _letters(text: str) -> int:
    return sum(map(str.isalpha, text))


class _Walk:
    """Walks the tree of a text, which is at most twenty levels deep."""

    def __init__(self, text: str) -> None:
        self._source = text.split("\n")

    def blocks(self, nodes: "Sequence[Node]", margin: Margin, *, tight: bool = False) -> Iterator[Piece]:
        """Sibling nodes, with a blank row between them unless they are in a tight list."""
        for number, node in enumerate(nodes):
            if number and not tight:
                yield Piece(margin)
            yield from self._block(node, margin)
            margin = margin.after()

    def _block(self, node: "Node", margin: Margin) -> Iterator[Piece]:
        match node.type:
            case "bullet_list" | "ordered_list":
                yield from self._list(node, margin)
            case "blockquote":
                yield from self.blocks(node.children, margin.inside(_QUOTE, _QUOTE))
            case "fence" | "code_block":
                yield from _fence(node, margin)
            case "table":
                yield from self._table(node, margin)
            case "hr":
                yield Rule(margin)
            case "heading":
                mark = ("#" * int(node.tag[1:]) + " ", "dim")
                below = (" " * len(mark[0]), "")
                yield Paragraph(margin.inside(mark, below), _inner(node), "title")
            case _:
                yield Paragraph(margin, _inner(node))

    def _list(self, node: "Node", margin: Margin) -> Iterator[Piece]:
        """A list is tight if no blank line separates its items."""
        tight = all(child.hidden for item in node.children for child in item.children if child.type == "paragraph")
        marks = [f"{item.info}{item.markup}" if node.type == "ordered_list" else "•" for item in node.children]
        width = max(map(cell_width, marks))
        for number, (item, mark) in enumerate(zip(node.children, marks, strict=True)):
            if number and not tight:
                yield Piece(margin)
            yield from self._item(item, mark.rjust(width), margin, tight=tight)
            margin = margin.after()

    def _item(self, item: "Node", mark: str, margin: Margin, *, tight: bool) -> Iterator[Piece]:
        """An item; a task has its box as its mark."""
        children = item.children
        text = _inner(children[0]) if children and children[0].type == "paragraph" else ""
        state = _TASKS.get(text[:4].lower())
        mark = mark if state is None else glyphs.PLAN[state]
        inside = margin.inside((mark + " ", "dim"), (" " * (cell_width(mark) + 1), ""))
        if state is None and children:
            return self.blocks(children, inside, tight=tight)
        return chain([Paragraph(inside, text[4:])], self.blocks(children[1:], inside.after(), tight=tight))

    def _table(self, node: "Node", margin: Margin) -> Iterator[Piece]:
        """A grid, or the source of a huge table."""
        head, *body = (tuple(map(_inner, row.children)) for part in node.children for row in part.children)
        if len(head) * (1 + len(body)) > CELLS:
            start, end = node.map or (0, 0)
            return _source(Code("\n".join(self._source[start:end]), None), margin)
        cells = node.children[0].children[0].children
        right = tuple(cell.attrs.get("style") == "text-align:right" for cell in cells)
        return iter([Grid(margin, Table(head, tuple(body), right))])


def _fence(node: "Node", margin: Margin) -> Iterator[Piece]:
    """The info string of a fence (usually its language), and its lines."""
    label = one_line(node.info)
    code = Code(node.content, label.partition(" ")[0] or None)
    if not label:
        return _source(code, margin)
    return chain([Label(margin, label)], _source(code, margin.after()))


def _source(code: Code, margin: Margin) -> Iterator[Piece]:
    """The lines of code; a blank one if there are none."""
    if not len(code):
        yield Piece(margin)
    for item in range(len(code)):
        yield CodeLine(margin, code, item)
        margin = margin.after()


def _inner(node: "Node") -> str:
    """The text of a paragraph, a heading or a cell, as it was written."""
    return "\n".join(child.content for child in node.children if child.type == "inline")


_QUOTE = ("▎ ", "line")
_TASKS = {"[ ] ": "pending", "[x] ": "completed"}
