"""Markdown looks like what it means, and no word of it is lost, hidden or obeyed."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from agentdash.sessions.text.sanitize import cell_width, clean
from agentdash.widgets.document.markdown import CELLS, PARSED, Markdown
from agentdash.widgets.document.pieces import Table, inline_spans

FENCE = "`" * 3


def rows(text, width=60):
    block = Markdown(text)
    return [row for item in range(len(block)) for row in block.rows(item, width)]


def shown(text, width=60):
    return ["".join(part for part, _ in row).rstrip() for row in rows(text, width)]


def role_of(word, text):
    """The role in which a word is shown."""
    return next(role for row in rows(text) for part, role in row if word in part)


def letters(text):
    return "".join(filter(str.isalpha, text))


def test_headings_keep_their_level_in_sight():
    assert shown("# One\ntext\n### Three") == ["# One", "", "text", "", "### Three"]
    assert shown("One\n===\ntext") == ["# One", "", "text"]
    assert role_of("One", "# One") == "title"


def test_lists_hang_nest_and_keep_their_numbers():
    text = "3. three\n4. four\n   - *nested* words that wrap\n   - more\n\n* a\n\n* b"
    assert shown(text, 24) == [
        "3. three",
        "4. four",
        "   • nested words that",
        "     wrap",
        "   • more",
        "",
        "• a",
        "",
        "• b",
    ]


def test_numbers_of_two_widths_stand_below_each_other():
    assert shown("9. nine\n10. ten") == [" 9. nine", "10. ten"]


def test_tasks_have_boxes():
    assert shown("- [x] done\n- [ ] open\n- [maybe] text") == ["☑ done", "☐ open", "• [maybe] text"]


@pytest.mark.parametrize(
    ("text", "word", "role"),
    [
        ("a **bold** b", "bold", "strong"),
        ("a *slanted* b", "slanted", "emphasis"),
        ("a ***both*** b", "both", "strong"),
        ("a `code` b", "code", "code"),
        ("a [link](https://example.org) b", "link", "link"),
        ("a [link](https://example.org) b", "example.org", "dim"),
        ("# a `code` b", "code", "code"),
        ("# a **b**", "b", "title"),
    ],
)
def test_marks_become_roles(text, word, role):
    assert role_of(word, text) == role


def test_links_show_where_they_lead_once():
    assert shown("see [docs](https://example.org/a)") == ["see docs (https://example.org/a)"]
    assert shown('[d](https://example.org "the docs")') == ['d (https://example.org "the docs")']
    assert shown("[https://example.org](https://example.org), <https://example.org>") == [
        "https://example.org, https://example.org"
    ]
    assert shown("<ann@example.org>") == ["ann@example.org"]
    assert shown("![a picture](shot.png)") == ["a picture (shot.png)"]
    assert shown("[x](javascript:alert)") == ["[x](javascript:alert)"]


def test_an_address_cannot_hide_what_it_is():
    assert shown("[x](https://example.org/&#8238;gpj)") == ["x (https://example.org/gpj)"]
    assert shown("[a](https://xn--e1afmkfd.example)") == ["a (https://xn--e1afmkfd.example)"]


def test_what_is_no_markdown_stays_as_it_was_written():
    for text in ("<b>html</b> <script>", "a &amp; b &#27;[31m", r"C:\.cfg \d+\.x \*", "__init__.py and _x_", "~~no~~"):
        assert shown(text) == [text]
    assert shown("[name]: https://example.org 'told'") == ["[name]: https://example.org 'told'"]
    assert shown("one\ntwo\\\nthree") == ["one", "two", "three"]


def test_quotes_have_a_bar_on_every_row():
    assert shown("> one two three four five\n>\n> > deep", 18) == ["▎ one two three", "▎ four five", "▎", "▎ ▎ deep"]


def test_code_has_its_language_above_it_and_its_colours():
    text = f"- list\n\n  {FENCE}python\n  def f():  # why\n      return 'x'\n  {FENCE}"
    assert shown(text) == ["• list", "", "   python", "   def f():  # why", "       return 'x'"]
    assert role_of("def", text) == "keyword"
    assert role_of("# why", text) == "comment"
    assert role_of("'x'", text) == "string"
    assert role_of("words", f"{FENCE}nobodys-language\nwords\n{FENCE}") == "source"
    assert shown(f"{FENCE}\n\n{FENCE}\n\n    indented\n    code") == ["", "", " indented", " code"]


def test_code_stands_on_a_ground_that_reaches_the_edge():
    first, *_ = rows(f"{FENCE}\nx = 1\n{FENCE}", 30)
    assert sum(cell_width(part) for part, _ in first) == 30
    assert {role for _, role in first} == {"source"}


def test_a_table_is_as_wide_as_it_needs():
    text = "| name | count |\n|---|--:|\n| *one* | 1 |\n| two | 20 |"
    assert shown(text) == ["name │ count", "─────┼──────", "one  │     1", "two  │    20"]
    assert role_of("name", text) == "strong"


def test_a_wide_table_wraps_its_widest_column():
    text = "| name | what |\n|---|---|\n| a | words that need some more room |\n| b | c |"
    assert shown(text, 24) == [
        "name │ what",
        "─────┼──────────────────",
        "a    │ words that need",
        "     │ some more room",
        "─────┼──────────────────",
        "b    │ c",
    ]


def test_a_table_that_fits_nowhere_becomes_lists():
    head, dashes, body = ("|".join(cells) for cells in (["alpha"] * 8, ["---"] * 8, ["some words"] * 8))
    assert shown(f"{head}\n{dashes}\n{body}", 24)[:2] == ["alpha: some words", "alpha: some words"]
    assert Table(("a", "b"), (), (False, False)).rows(7)


def test_what_would_be_left_out_makes_the_text_plain():
    excess = "| a |\n|---|\n| b | lost |"
    assert shown(excess) == excess.split("\n")
    deep = "> " * 30 + "deep"
    assert shown(deep, 100) == [deep]


def test_a_huge_text_is_shown_as_it_was_written():
    text = "# title\n" + "word " * (PARSED // 5)
    assert shown(text, 80)[0] == "# title"
    assert role_of("# title", text) == "text"
    assert inline_spans("*a* " * 5_000) == [("*a* " * 5_000, "text")]


def test_a_huge_table_is_shown_as_its_source():
    line = "|" + "a|" * 50
    text = "\n".join([line, "|" + "-|" * 50] + [line] * (CELLS // 50))
    assert shown(text, 150)[0] == " " + line


def test_an_empty_text_has_no_rows():
    assert shown("") == shown("\n\n") == []


MARKS = st.sampled_from(
    ["# ", "- ", "1. ", "> ", "* ", "**", "*", "`", FENCE, "[", "](", ")", "|", "|\n|---|---|\n|", "\n", "\n\n", "    ",
     "<b>", "&lt;", "\\", "\t", "---\n", "_", "!", "\x1b[31m", "\u202e", "<https://a.b>", "é字", "👩‍💻"]
)  # fmt: skip
WORDS = st.sampled_from(["one ", "two", "three words here ", "x" * 30])
SOURCE = st.lists(st.one_of(MARKS, WORDS), max_size=40).map("".join)


@given(SOURCE, st.integers(20, 200))
@example("[a](b 'c') `d` <e> **f**", 20)
@example("| a | b |\n|---|---|\n| c |", 20)
@example("- > - > - > - > 1. a\n", 20)
def test_every_letter_is_shown_and_every_row_fits(source, width):
    lines = shown(source, width)
    assert all(cell_width(line) <= width for line in lines)
    assert all(char.isprintable() or char == "\u200d" for line in lines for char in line)
    # A link's text that is its address is shown once, and a row of a table may become several.
    if "|" not in source and "<https" not in source and "](" not in source:
        assert letters("".join(lines)) == letters(clean(source).replace("[x] ", ""))
