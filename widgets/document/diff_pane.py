"""A pane with the diffs of one file: it is searched, and a place of it can be quoted."""

from typing import ClassVar

from msgspec import Struct
from textual.binding import Binding, BindingType

from agentdash.widgets.document.diff import Diff
from agentdash.widgets.document.document_pane import DocumentPane
from agentdash.widgets.document.model import Document
from agentdash.widgets.drawing.spans import Row, marked

MOST_QUOTED = 8
"""The most lines that are quoted."""

QUOTED_CHARACTERS = 500
"""The most characters of one of them."""


class Quote(Struct, frozen=True):
    """A place of a file, and its lines with their signs."""

    line: int
    """Its number in the new file, or in the old one if it was removed; 0 if it is not known."""
    lines: tuple[str, ...] = ()


class DiffPane(DocumentPane):
    """Shows the diffs of one file; each match of a search is marked."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("l,right", "another(1)", "next file", show=False, id="diffs.next"),
        Binding("h,left", "another(-1)", "previous file", show=False, id="diffs.previous"),
        Binding("J", "another(1)", show=False, id="files.next"),
        Binding("K", "another(-1)", show=False, id="files.previous"),
    ]

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._shown: Document | None = None
        self.needle = ""
        """The text of the search; empty for none."""
        self.matches: list[int] = []
        """The items that contain it."""
        self.at = -1
        """The match that the user was shown last, as its number; -1 for none."""

    def show_file(self, document: Document) -> None:
        """Show another file; a search goes on in it."""
        self._shown = document
        self.show(document)
        self._find()

    def search(self, needle: str) -> None:
        """Mark each match of a text, and go to the first at or below the top; a lower-case text ignores case."""
        self.needle = needle
        self._find()
        below = (number for number, item in enumerate(self.matches) if item >= self.top[0])
        self.forget_all()
        self._go(next(below, 0))

    def end_search(self) -> None:
        """Show no matches."""
        self.needle, self.matches, self.at = "", [], -1
        self.forget_all()
        self.place(self.top)

    def go_to_match(self, direction: int) -> None:
        """Go to the next match, or to the previous one; after the last comes the first."""
        self._go(self.at + direction)

    def rows(self, item: int, width: int) -> list[Row]:
        """The rows of an item, with the matches marked."""
        rows = super().rows(item, width)
        return [_marked(row, self.needle) for row in rows] if self.needle else rows

    def quote(self) -> Quote | None:
        """The match that the user was shown if it is on the screen, else the first change there; None without one."""
        document, shown = self._shown, self.shown()
        if document is None:
            return None
        match = self.matches[self.at] if 0 <= self.at < len(self.matches) else -1
        if match in shown and isinstance(document.place(match)[0], Diff):
            return _quote(document, [match])
        first = next((item for item in range(max(1, self.top[0]), len(document)) if _changed(document, item)), None)
        if first is None:
            return None
        last = first
        while last + 1 < len(document) and last - first < MOST_QUOTED - 1 and _changed(document, last + 1):
            last += 1
        return _quote(document, list(range(first, last + 1)))

    def _find(self) -> None:
        needle, document, self.at = self.needle, self._shown, -1
        texts = (document.text(item) for item in range(len(document))) if document is not None and needle else ()
        found = (text.lower() for text in texts) if needle.islower() else texts
        self.matches = [item for item, text in enumerate(found) if needle in text]

    def _go(self, number: int) -> None:
        if not self.matches:
            self.place(self.top)
            return
        self.at = number % len(self.matches)
        self.place(self.top)
        self.reveal(self.matches[self.at])


def _marked(row: Row, needle: str) -> Row:
    """Mark the matches, but not those in line numbers."""
    parts = ((span,) if span[1] == "dim" else marked((span,), needle) for span in row)
    return tuple(span for part in parts for span in part)


def _changed(document: Document, item: int) -> bool:
    block, line = document.place(item)
    return isinstance(block, Diff) and line >= 0 and block.is_changed(line)


def _quote(document: Document, items: list[int]) -> Quote:
    places = [document.place(item) for item in items]
    numbers = [block.number(line) for block, line in places if isinstance(block, Diff)]
    texts = [document.text(item)[:QUOTED_CHARACTERS] for item in items]
    added = [number for number, text in zip(numbers, texts, strict=True) if text.startswith("+")]
    return Quote((added or numbers)[0], tuple(texts))
