"""The document of one step: a title and blocks of lines, all made on demand."""

from abc import ABC, abstractmethod
from bisect import bisect_right
from collections.abc import Sequence
from functools import cached_property
from itertools import accumulate

from agentdash.widgets.document.flow import dotted, flow, row_width
from agentdash.widgets.drawing import glyphs
from agentdash.widgets.drawing.spans import Row

NAME = 4_000
"""Most cells of a name, a path or a task: longer than any path can be.  The raw line shows the rest."""


class Block(ABC):
    """A part of a step with one kind of layout: its message, its output, the diff of one file."""

    caption: Row = ()
    """The line above it; empty if it needs none."""

    @abstractmethod
    def __len__(self) -> int:
        """The number of items: usually one for each line of the agent's text."""

    @abstractmethod
    def rows(self, item: int, width: int) -> list[Row]:
        """The rows of an item, at least one, none wider than ``width`` cells."""

    def text(self, item: int) -> str:
        """The text of an item, to be searched."""
        return " ".join("".join(text for text, _ in row) for row in self.rows(item, NAME))


class Document:
    """The content of a step's pane, numbered by items: first the title, then each block with its own head."""

    def __init__(self, title: Row, blocks: Sequence[Block]) -> None:
        self.title = title
        """Facts, one span each: kind, turn, step, ending, duration and start time."""
        self.blocks = tuple(blocks)
        self._rule = glyphs.RULE

    def __len__(self) -> int:
        """The number of items."""
        return self._starts[-1]

    @cached_property
    def starts(self) -> tuple[int, ...]:
        """The item at which each block begins, for jumps from block to block."""
        return self._starts[:-1]

    @cached_property
    def _starts(self) -> tuple[int, ...]:
        return tuple(accumulate((1 + len(block) for block in self.blocks), initial=1))

    def rows(self, item: int, width: int) -> list[Row]:
        """The rows of an item, at least one, none wider than ``width`` cells.

        Raises:
            IndexError: there is no such item.
        """
        if not 0 <= item < len(self):
            raise IndexError(item)
        if item == 0:
            return dotted(self.title, width)
        block, item = self.place(item)
        return self._head(block, width) if item < 0 else block.rows(item, width)

    def place(self, item: int) -> tuple[Block, int]:
        """The block of an item that is not the title, and its number there; -1 for the block's head."""
        number = bisect_right(self._starts, item) - 1
        return self.blocks[number], item - self._starts[number] - 1

    def text(self, item: int) -> str:
        """The text of an item without margins, to be searched."""
        if item == 0:
            return " ".join(text for text, _ in self.title)
        block, item = self.place(item)
        return "".join(text for text, _ in block.caption) if item < 0 else block.text(item)

    def _head(self, block: Block, width: int) -> list[Row]:
        """A blank row, then the caption on a rule."""
        if not block.caption:
            return [()]
        margin = ((self._rule * 2 + " ", "line"),)
        *rows, last = flow(block.caption, width - 1, margin)
        rest = self._rule * (width - row_width(last) - 1)
        return [(), *rows, (*last, (" " + rest, "line"))]
