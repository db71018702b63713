"""Source text has colours as far as a lexer goes, and all of its characters whatever the lexer does."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentdash.sessions.text.sanitize import cell_width
from agentdash.widgets.document.lines import PIECE, Lines
from agentdash.widgets.document.plain import pretty_json
from agentdash.widgets.document.syntax import COLOURED, Code, CodeBlock, language_of

PYTHON = 'import os\n\n@wraps\ndef f(x):  # why\n    """Says\n    it."""\n    return "a" + str(1.5) or None\n'


def coloured(text, language):
    code = Code(text, language)
    return [code[item] for item in range(len(code))]


def roles_of(text, language):
    return {part.strip(): role for line in coloured(text, language) for part, role in line}


def shown(block, width):
    rows = [row for item in range(len(block)) for row in block.rows(item, width)]
    return ["".join(part for part, _ in row).rstrip() for row in rows]


def test_python_has_its_colours():
    found = roles_of(PYTHON, "python")
    expected = {"import": "keyword", "@wraps": "name", "f": "name", "# why": "comment", '"""Says': "string",
                'it."""': "string", "1.5": "number", "None": "number", "str": "name"}  # fmt: skip
    assert {word: found[word] for word in expected} == expected


@pytest.mark.parametrize(
    ("path", "language", "text", "word", "role"),
    [
        ("/code/a.py", "py", "class A: pass", "class", "keyword"),
        ("Makefile", "make", "all: b\n", "all", "name"),
        ("deep/x.YML", "yaml", "a: 'b'\n", "'b'", "string"),
        ("x.rs", "rs", "fn main() {}", "fn", "keyword"),
        ("x.json", "json", '{"a": true}', '"a"', "name"),
        ("x.sh", "sh", "echo 'a'", "'a'", "string"),
    ],
)
def test_a_files_language_is_known_by_its_name(path, language, text, word, role):
    assert language_of(path) == language
    assert roles_of(text, language_of(path))[word] == role


def test_a_file_without_an_ending_has_no_language():
    assert language_of("/etc/hosts") is None
    assert roles_of("import os", language_of("notes.unknown-suffix")) == {"import os": "source"}


def test_what_lies_behind_the_limit_is_shown_without_colours():
    line = "x = 'string'"
    code = Code("\n".join([line] * (COLOURED // len(line))), "python")
    assert ("'string'", "string") in code[0]
    assert code[len(code) - 1] == [(line, "source")]


def test_colours_end_at_a_line_that_is_long_and_where_a_lexer_takes_too_long(monkeypatch):
    text = "import a\n" + "x" * (PIECE + 1) + "\nimport b"
    assert [line[0][1] for line in coloured(text, "python")] == ["keyword", "source", "source", "source"]
    monkeypatch.setattr("agentdash.widgets.document.lexing.SECONDS", 0.0)
    assert coloured("import a\nimport b", "python") == [[("import a", "source")], [("import b", "source")]]


def test_only_what_was_looked_at_is_lexed(monkeypatch):
    class Lexer:
        made = 0

        def get_tokens_unprocessed(self, text):
            for at, char in enumerate(text):
                self.made += 1
                yield at, ("Token",), char

    lexer = Lexer()
    monkeypatch.setattr("agentdash.widgets.document.lexing.lexer", lambda language: lexer)
    monkeypatch.setattr("agentdash.widgets.document.lexing._role", lambda kind: "string")
    code = Code("abc\n" * 1_000, "any")
    assert lexer.made == 0
    assert code[1] == [("abc", "string")]
    assert lexer.made <= 10


def test_a_lexer_that_stumbles_or_repeats_itself_loses_nothing(monkeypatch):
    class Lexer:
        def get_tokens_unprocessed(self, text):
            yield 2, "Token", "c"
            yield 0, "Token", "ab"
            yield 2, "Token", "cd"
            raise ValueError("stumbled")

    monkeypatch.setattr("agentdash.widgets.document.lexing.lexer", lambda language: Lexer())
    monkeypatch.setattr("agentdash.widgets.document.lexing._role", lambda kind: "string")
    assert coloured("abcdef\nghi", "any") == [
        [("ab", "source"), ("cd", "string"), ("ef", "source")],
        [("ghi", "source")],
    ]


@given(
    st.lists(st.sampled_from(["'", '"', "\\", "{", "}", "#", "\n", "\r", "def ", "é字", "<!--", "/*", "\x1b[1m"])),
    st.sampled_from(["python", "bash", "json", "html", "c", "js", "yaml", "markdown", "php", "perl", "ruby", "diff"]),
    st.integers(20, 100),
)
def test_no_language_loses_a_character_or_makes_a_row_too_wide(parts, language, width):
    text = "".join(parts)
    assert ["".join(part for part, _ in line) for line in coloured(text, language)] == list(Lines(text))
    lines = shown(CodeBlock(Code(text, language), numbered=True), width)
    assert all(cell_width(line) <= width for line in lines)


def test_a_long_line_keeps_its_colour_from_piece_to_piece():
    text = '"' + "a" * (2 * PIECE) + '"'
    assert coloured(text, "json") == [
        [(text[:PIECE], "string")],
        [(text[PIECE : 2 * PIECE], "string")],
        [(text[2 * PIECE :], "string")],
    ]


def test_code_wraps_below_its_own_indentation():
    block = CodeBlock(Code("    call(one, two, three)\nend", None))
    assert shown(block, 20) == ["     call(one, two,", "       three)", " end"]


def test_lines_have_numbers_where_there_is_room():
    block = CodeBlock(Code("a\n" * 9 + "b " * 40, None), numbered=True)
    wide = shown(block, 60)
    assert wide[0] == " 1  a"
    assert wide[9].startswith("10  b b")
    assert wide[10].startswith("      b b")
    assert shown(block, 59)[0] == " a"


def test_json_is_laid_out_as_it_was_written():
    assert pretty_json('{"b":1.50,"a":[true,{}],"c":"\\u00e9"}') == (
        '{\n  "b": 1.50,\n  "a": [\n    true,\n    {}\n  ],\n  "c": "\\u00e9"\n}'
    )


def test_what_is_no_json_or_would_become_huge_is_left_alone():
    for text in [
        "", "plain", '"text"', "12", "{", '{"a":1}\n{"b":2}', "[" * 5_000, "[" * 65 + "]" * 65, '["\ud800"]',
        "[" * 60 + "1," * 50_000 + "1" + "]" * 60, "[" + "1," * 500_000 + "1]",
    ]:  # fmt: skip
        assert pretty_json(text) is None, text[:20]


VALUES = st.recursive(
    st.none() | st.booleans() | st.text(), lambda kin: st.lists(kin) | st.dictionaries(st.text(), kin)
)


@given(VALUES)
def test_laid_out_json_says_the_same(value):
    try:
        text = msgspec.json.encode(value).decode()
    except UnicodeEncodeError:
        return
    laid_out = pretty_json(text)
    assert laid_out is None if not isinstance(value, dict | list) else msgspec.json.decode(laid_out) == value
