"""Every text of the program and its documents keeps the rules of CONTRIBUTING that a pattern can check."""

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from typing import NamedTuple

import pytest
from places import ROOT

STRING, DOCSTRING, COMMENT, DOCUMENT = "string", "docstring", "comment", "document"


class Rule(NamedTuple):
    """A pattern that no text of some kinds has."""

    name: str
    pattern: re.Pattern[str]
    kinds: frozenset[str]


class Text(NamedTuple):
    """A text of a file, with the number of its first line."""

    kind: str
    line: int
    text: str


def rule(name: str, pattern: str, *kinds: str) -> Rule:
    return Rule(name, re.compile(pattern, re.IGNORECASE), frozenset(kinds))


RULES = [
    rule("name the actor", r"\b(some|no|any)body\b|\bwhoever\b", STRING, DOCSTRING, COMMENT, DOCUMENT),
    rule("no filler", r"\banew\b|\bonce\s+more\b|\bat\s+last\b|\bany\s+more\b", DOCSTRING, DOCUMENT),
    rule("name the thing", r"\A\s*(what|whether|where|how|which|who)\b", DOCSTRING),
    rule("'is not a', not 'is no'", r"(?<!\bthere )\bis\s+no\s+(?!longer\b)\w+", DOCSTRING, DOCUMENT),
    rule("give the number", r"\bso\s+(many|much|long)\b", DOCSTRING, DOCUMENT),
]

DOCUMENTS = [path.relative_to(ROOT).as_posix() for path in sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])]
HAS_EXAMPLES = "CONTRIBUTING.md"
"""Its table of rules quotes what they forbid."""


def texts_of_python(source: str) -> Iterator[Text]:
    tree = ast.parse(source)
    # A string that is a statement of its own describes a module, a class, a function or an attribute.
    alone = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield Text(DOCSTRING if id(node) in alone else STRING, node.lineno, node.value)
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield Text(COMMENT, token.start[0], token.string)


def texts_of_document(text: str, *, has_examples: bool = False) -> Iterator[Text]:
    lines = ["" if has_examples and line.startswith("|") else line for line in text.splitlines()]
    yield Text(DOCUMENT, 1, "\n".join(lines))


def hits(texts: Iterator[Text]) -> list[str]:
    """Line, words and rule of each hit, in the order of the lines."""
    found = [
        (text.line + text.text.count("\n", 0, match.start()), " ".join(match[0].split()), rule.name)
        for text in texts
        for rule in RULES
        if text.kind in rule.kinds
        for match in rule.pattern.finditer(text.text)
    ]
    return [f"{line}: {words} ({name})" for line, words, name in sorted(found)]


@pytest.mark.parametrize("folder", ["sessions", "widgets", "tui"])
def test_python_keeps_the_rules(folder):
    paths = sorted((ROOT / folder).rglob("*.py"))
    assert paths
    broken = [
        f"{path.relative_to(ROOT)}:{hit}"
        for path in paths
        for hit in hits(texts_of_python(path.read_text(encoding="utf-8")))
    ]
    assert not broken, "\n".join(broken)


@pytest.mark.parametrize("name", DOCUMENTS)
def test_documents_keep_the_rules(name):
    text = (ROOT / name).read_text(encoding="utf-8")
    broken = [f"{name}:{hit}" for hit in hits(texts_of_document(text, has_examples=name == HAS_EXAMPLES))]
    assert not broken, "\n".join(broken)


def test_a_rule_finds_its_pattern_in_python():
    for source, found in [
        ('x = "nobody has it"', ["1: nobody (name the actor)"]),
        ("# whoever asks\nx = 1  # Somebody", ["1: whoever (name the actor)", "2: Somebody (name the actor)"]),
        ('x = f"{y} is what anybody sees"', ["1: anybody (name the actor)"]),
        ('"""Made.\n\nWritten anew."""', ["3: anew (no filler)"]),
        ('x = 1\n"""It is tried once\nmore."""', ["2: once more (no filler)"]),
        ('"""It ends at last."""', ["1: at last (no filler)"]),
        ('"""It does not run any more."""', ["1: any more (no filler)"]),
        ('def f():\n    """Whether it runs."""', ["2: Whether (name the thing)"]),
        ('class A:\n    """\n    What a file holds."""', ["2: What (name the thing)"]),
        ('"""Where."""', ["1: Where (name the thing)"]),
        ('"""How."""', ["1: How (name the thing)"]),
        ('"""Which."""', ["1: Which (name the thing)"]),
        ('"""Who."""', ["1: Who (name the thing)"]),
        ('"""The text is no number."""', ["1: is no number ('is not a', not 'is no')"]),
        ('"""Seen so many times."""', ["1: so many (give the number)"]),
        ('"""It waits so long."""', ["1: so long (give the number)"]),
        ('"""It costs so much."""', ["1: so much (give the number)"]),
    ]:
        assert hits(texts_of_python(source)) == found, source


@pytest.mark.parametrize(
    "source",
    [
        '"""Read it again.  There is no file, and it is no longer here.  What it says is data."""',
        'x = "What is it?"  # once more',
        "somebody = 1",
        '"""The whatever, the howling, and the whole body."""',
    ],
)
def test_other_python_keeps_the_rules(source):
    assert hits(texts_of_python(source)) == []


def test_a_document_is_searched_except_for_its_examples():
    text = "# Title\n\nNobody reads it\nany more.\n\n| not | whoever |\n"
    seen = ["3: Nobody (name the actor)", "4: any more (no filler)"]
    assert hits(texts_of_document(text, has_examples=True)) == seen
    assert hits(texts_of_document(text)) == [*seen, "6: whoever (name the actor)"]
