"""Lexing by pygments: where each colour of a source text begins and ends."""

from collections.abc import Iterator
from functools import cache
from time import perf_counter
from typing import Any

from pygments.lexers import get_all_lexers, get_lexer_by_name
from pygments.token import Comment, Generic, Keyword, Literal, Name, Number, Operator, String, Token

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


def runs(lexer: Any, text: str) -> Iterator[tuple[int, str]]:
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


def lexer(language: str) -> Any:
    """A new lexer, because some keep their position; only lexers that come with pygments are used."""
    return get_lexer_by_name(language.lower()) if language.lower() in _known() else None


@cache
def _known() -> frozenset[str]:
    """All short names of the languages in ``_LANGUAGES``."""
    every = (aliases for _, aliases, _, _ in get_all_lexers(plugins=False))
    return frozenset(alias for aliases in every if _LANGUAGES.intersection(aliases) for alias in aliases)
