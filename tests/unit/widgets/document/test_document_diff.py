"""A diff shows what came and went, on which lines, and loses nothing of it."""

from hypothesis import given
from hypothesis import strategies as st

from agentdash.sessions.text.sanitize import cell_width, clean
from agentdash.sessions.text.unified_diff import created_text
from agentdash.widgets.document.diff import Diff, Scan, differing
from agentdash.widgets.document.lines import Lines

DIFF = """\
diff --git a/a.py b/a.py
--- a/a.py
+++ b/a.py
@@ -9,3 +9,4 @@ def f():
 kept
-old words here
+new words here
+more
 end
@@ -40 +41 @@
--- x
+++ y
\\ No newline at end of file
"""


def rows(text, width=80):
    block = Diff(text)
    return [row for item in range(len(block)) for row in block.rows(item, width)]


def shown(text, width=80):
    return ["".join(part for part, _ in row).rstrip() for row in rows(text, width)]


def roles(row):
    return [role for _, role in row if role]


def test_lines_have_the_numbers_of_both_files():
    assert shown(DIFF) == [
        "diff --git a/a.py b/a.py",
        "--- a/a.py",
        "+++ b/a.py",
        "@@ -9,3 +9,4 @@ def f():",
        " 9  9   kept",
        "10    - old words here",
        "   10 + new words here",
        "   11 + more",
        "11 12   end",
        "@@ -40 +41 @@",
        "40    - -- x",
        "   41 + ++ y",
        "\\ No newline at end of file",
    ]


def test_a_narrow_pane_has_no_numbers():
    assert shown(DIFF, 59)[4:7] == ["  kept", "- old words here", "+ new words here"]


def test_each_line_has_the_colour_of_what_it_is():
    found = rows(DIFF)
    assert roles(found[0]) == roles(found[2]) == roles(found[12]) == ["dim"]
    assert roles(found[3]) == ["hunk"]
    assert set(roles(found[4])) == {"dim", "text"}
    assert set(roles(found[7])) == {"dim", "added"}
    assert set(roles(found[10])) == {"dim", "removed"}


def test_the_words_that_differ_are_marked_in_both_lines():
    found = rows("-old words here\n+new words here\n same\n+alone")
    assert found[0][:3] == (("- ", "removed"), ("old", "removed-word"), (" words here", "removed"))
    assert found[1][:3] == (("+ ", "added"), ("new", "added-word"), (" words here", "added"))
    assert set(roles(found[3])) == {"added"}


def test_lines_that_have_little_in_common_are_not_compared():
    assert differing("return now()", "return then()") == (7, 10)
    assert differing("same", "same") == (4, 4)
    assert differing("x = 1", "import os, sys") == (0, 0)


def test_a_change_reaches_to_the_edge():
    for line, role in (("+a", "added"), ("-a", "removed")):
        (row,) = rows(line, 30)
        assert sum(cell_width(part) for part, _ in row) == 30
        assert set(roles(row)) == {role}


def test_a_diff_without_the_head_of_a_hunk_has_no_numbers():
    text = "--- a\n+++ b\n+one\n-two\n three\nfour\n\n+five"
    assert shown(text) == ["--- a", "+++ b", "+ one", "- two", "  three", "  four", "", "+ five"]


def test_long_lines_wrap_below_their_text():
    text = "@@ -1 +1 @@\n+" + "words " * 20
    first, second, *_ = shown(text, 60)[1:]
    assert first.startswith("  1 + words words")
    assert second.startswith("      words words")


def test_pieces_of_a_long_line_are_of_one_kind_and_have_one_number():
    scan = Scan(Lines("@@ -1,2 +1,2 @@\n+" + "x" * 5_000 + "\n b"))
    assert scan.kinds == "@+++ "
    assert list(scan.new) == [0, 1, 0, 0, 2]


def test_a_carriage_return_begins_no_line_of_a_diff():
    assert shown("@@ -1,2 +1,2 @@\r\n a\rb\r\n+c\r\n") == ["@@ -1,2 +1,2 @@", "1 1   a b", "  2 + c"]


def test_a_file_made_from_nothing_is_its_text():
    assert created_text("@@ -0,0 +1,2 @@\n+one\n+two") == "one\ntwo"
    assert created_text("--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+one\n\\ No newline at end of file\n") == "one"
    assert created_text("+one\n two") is None
    assert created_text("@@ -0,0 +0,0 @@") is None


LINE = st.tuples(
    st.sampled_from(["+", "-", " ", "", "@@ -3,2 +3,1 @@", "\\", "--- "]), st.text("ab c字é\t\x1b[1m", max_size=80)
)


@given(st.lists(LINE, max_size=12), st.integers(20, 200))
def test_no_character_of_a_diff_is_lost(lines, width):
    text = "\n".join(sign + rest for sign, rest in lines)
    found = shown(text, width)
    assert all(cell_width(line) <= width for line in found)
    numbers = str.maketrans("", "", "0123456789")
    told, source = ("".join("".join(one).split()).translate(numbers) for one in (found, clean(text)))
    assert told == source
