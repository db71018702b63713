"""Source text as coloured lines: pygments classifies the words, the theme chooses their colours.

A lexer only reports where a colour begins; the characters come from the text.  Lexing goes only as far as lines are
requested.  Many lexers take quadratic time for a hostile text or a long line, so lexing stops there, and the rest is
shown without colours.
"""

from collections.abc import Iterator
from functools import cache
from time import perf_counter
from typing import Any

from pygments.lexers import get_all_lexers, get_lexer_by_name
from pygments.token import Comment, Generic, Keyword, Literal, Name, Number, Operator, String, Token

from ..drawing.spans import Row, Span
from .flow import NUMBERED, filled, flow, row_width
from .lines import Lines
from .model import Block

COLOURED = 100_000
"""Most characters of a text that are lexed; the rest is shown without colours."""

SECONDS = 0.5
"""Most seconds that a lexer may take for one text in all."""

_LANGUAGES = frozenset(
    {
        "bash", "c", "console", "cpp", "csharp", "css", "dart", "diff", "docker", "elixir", "go", "graphql", "haskell",
        "html", "ini", "java", "js", "json", "jsx", "kotlin", "less", "lua", "make", "markdown", "nginx", "perl", "php",
        "powershell", "protobuf", "python", "r", "ruby", "rust", "scala", "scss", "sql", "swift", "text", "toml", "ts",
        "tsx", "vue", "xml", "yaml",
    }
)  # fmt: skip
"""Languages whose lexers were measured to give a token within a tenth of a second, for any text."""

_LONG_LINES = frozenset({"json"})
"""Languages whose lexers take no longer for long lines."""

_ROLES = {
    Token: "source",
    Keyword: "keyword",
    Keyword.Constant: "number",
    Operator.Word: "keyword",
    Literal: "number",
    Number: "number",
    String: "string",
    Comment: "comment",
    Comment.Preproc: "keyword",
    Name.Attribute: "name",
    Name.Builtin: "name",
    Name.Class: "name",
    Name.Decorator: "name",
    Name.Function: "name",
    Name.Namespace: "name",
    Name.Tag: "name",
    Name.Variable: "name",
    Generic.Deleted: "removed",
    Generic.Inserted: "added",
    Generic.Heading: "name",
    Generic.Subheading: "hunk",
}

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
    lexer = _lexer(language or "")
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
    yield from _split(texts, _runs(lexer, "".join(texts)))


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


def _runs(lexer: Any, text: str) -> Iterator[tuple[int, str]]:
    """The end and the role of each run of one colour, up to the end of the text; text without a token is ``source``."""
    tokens = iter(lexer.get_tokens_unprocessed(text))
    at, spent = 0, 0.0
    while spent < SECONDS:
        began = perf_counter()
        try:
            index, kind, value = next(tokens, _END)
        except Exception:  # noqa: BLE001 - whatever a lexer stumbles over, the text can still be shown
            break
        spent += perf_counter() - began
        if kind is None:
            break
        if index > at:
            yield index, "source"
        if index + len(value) > at:
            at = index + len(value)
            yield at, _role(kind)
    yield len(text), "source"


_END = (0, None, "")


@cache
def _role(kind: Any) -> str:
    while kind not in _ROLES:
        kind = kind.parent
    return _ROLES[kind]


def _lexer(language: str) -> Any:
    """A new lexer, because some keep their position; only lexers that come with pygments are used."""
    return get_lexer_by_name(language.lower()) if language.lower() in _known() else None


@cache
def _known() -> frozenset[str]:
    """All short names of the languages in ``_LANGUAGES``."""
    every = (aliases for _, aliases, _, _ in get_all_lexers(plugins=False))
    return frozenset(alias for aliases in every if _LANGUAGES.intersection(aliases) for alias in aliases)
