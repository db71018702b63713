"""Source text as coloured lines: pygments classifies the words, the theme chooses their colours.

A lexer only reports where a colour begins; the characters come from the text.  Lexing goes only as far as lines are
requested.  Many lexers take quadratic time for a hostile text or a long line, so lexing stops there, and the rest is
shown without colours.
"""

from collections.abc import Iterator

from agentdash.widgets.document.flow import NUMBERED, filled, flow, row_width
from agentdash.widgets.document.lines import Lines
from agentdash.widgets.document.model import Block
from agentdash.widgets.drawing.spans import Row, Span

COLOURED = 100_000
"""Most characters of a text that are lexed; the rest is shown without colours."""

_LONG_LINES = frozenset({"json"})
"""Languages whose lexers take no longer for long lines."""

_BY_ENDING = {"yml": "yaml", "h": "c", "hpp": "cpp", "kt": "kotlin", "mjs": "js", "htm": "html", "svg": "xml"}
"""File endings that are not a name of their language; most are."""

_BY_NAME = {"makefile": "make", "dockerfile": "docker", ".bashrc": "bash"}


def language_of(path: str) -> str | None:
    """The language of a file, from its name; None if the name does not show it."""
    name = path.rpartition("/")[2].lower()
    ending = name.rpartition(".")[2]
    return _BY_NAME.get(name) or (_BY_ENDING.get(ending, ending) if "." in name else None)


class Code:
    """The items of a text with their colours; an unknown language leaves them in one colour."""

    def __init__(self, text: str | Lines, language: str | None) -> None:
        self.lines = Lines(text) if isinstance(text, str) else text
        self._language = language
        self._done: list[list[Span]] = []
        self._rest: Iterator[list[Span]] | None = None

    def __len__(self) -> int:
        """The number of items."""
        return len(self.lines)

    def __getitem__(self, item: int) -> list[Span]:
        """The spans of one item; lexes the items before it first, if they are not lexed yet."""
        if self._rest is None:
            self._rest = _coloured(self.lines, self._language)
        while len(self._done) <= item and (spans := next(self._rest, None)) is not None:
            self._done.append(spans)
        return self._done[item] if item < len(self._done) else [(self.lines[item], "source")]

    def rows(self, item: int, width: int, margin: Row = (), rest: Row | None = None) -> list[Row]:
        """One item on the background of code, wrapped below its own indentation."""
        spans = self[item]
        text = "".join(part for part, _ in spans)
        indent = " " * min(len(text) - len(text.lstrip(" ")) + 2, max(1, (width - row_width(margin)) // 3))
        first = (*margin, (" ", "source"))
        others = (*(margin if rest is None else rest), (" " + indent, "source"))
        rows = flow(spans, width, first, others)
        return [filled(row, width, "source") for row in rows]


class CodeBlock(Block):
    """Source text on its own background; ``numbered`` adds line numbers if there is room for them."""

    def __init__(self, code: Code, caption: Row = (), *, numbered: bool = False) -> None:
        self._code = code
        self._digits = len(str(code.lines.count)) if numbered else 0
        self.caption = caption

    def __len__(self) -> int:
        """The number of lines, and of pieces of very long ones."""
        return len(self._code)

    def rows(self, item: int, width: int) -> list[Row]:
        """The rows of one line, behind its number if lines are numbered."""
        if not self._digits or width < NUMBERED:
            return self._code.rows(item, width)
        number = "" if self._code.lines.joins(item) else str(self._code.lines.number(item))
        margin = ((number.rjust(self._digits) + " ", "dim"),)
        return self._code.rows(item, width, margin, ((" " * (self._digits + 1), ""),))


def _coloured(lines: Lines, language: str | None) -> Iterator[list[Span]]:
    """The items at the beginning of a text, up to the limits of a lexer."""
    from agentdash.widgets.document import lexing  # only a text with a language needs pygments

    lexer = lexing.lexer(language or "") if language else None
    if lexer is None:
        return
    texts: list[str] = []
    size = 0
    for item in range(len(lines)):
        text = lines[item]
        goes_on = item + 1 < len(lines) and lines.joins(item + 1)
        size += len(text) + 1
        if size > COLOURED or (goes_on and language not in _LONG_LINES):
            break
        texts.append(text if goes_on else text + "\n")
    yield from _split(texts, lexing.runs(lexer, "".join(texts)))


def _split(texts: list[str], runs: Iterator[tuple[int, str]]) -> Iterator[list[Span]]:
    """The runs of one colour, split by item, without the newlines."""
    start, end, role = 0, 0, "source"
    for text in texts:
        spans: list[Span] = []
        at = 0
        while at < len(text):
            while end <= start + at:
                end, role = next(runs)
            stop = min(end - start, len(text))
            before = spans.pop()[0] if spans and spans[-1][1] == role else ""
            part, at = before + text[at:stop].removesuffix("\n"), stop
            spans += [(part, role)] if part else []
        start += len(text)
        yield spans
