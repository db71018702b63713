"""A huge text is an index; every line of it is clean, and none is lost."""

from hypothesis import given
from hypothesis import strategies as st

from agentdash.sessions.text.sanitize import cell_width, clean
from agentdash.widgets.document.flow import dotted, flow, lines_of
from agentdash.widgets.document.lines import PIECE, Lines
from agentdash.widgets.document.plain import PlainText, facts

SGR = st.sampled_from(["\x1b[31m", "\x1b[0m", "\x1b[2K", "\x1b[38;5;12m"])
SOME_TEXT = st.text(alphabet="abc [] 字é\t👍", max_size=40)
OUTPUT = st.lists(st.one_of(SOME_TEXT, SGR, st.sampled_from(["\n", "\r\n", "\r", "\u2028"])), max_size=60).map("".join)


def shown(rows):
    return ["".join(part for part, _ in row) for row in rows]


def all_rows(block, width):
    return [row for item in range(len(block)) for row in block.rows(item, width)]


def solid(text):
    return "".join(text.split())


def test_lines_are_counted_as_a_person_counts_them():
    assert list(Lines("one\ntwo\n\n")) == ["one", "two"]
    assert list(Lines("\n\none")) == ["", "", "one"]
    assert list(Lines("a\r\nb")) == ["a", "b"]
    assert len(Lines("")) == len(Lines("\n\r\n")) == Lines("").count == 0


def test_what_a_progress_bar_overwrote_is_a_line_of_its_own():
    assert list(Lines("10%\r50%\r100%\ndone\u2028really")) == ["10%", "50%", "100%", "done", "really"]
    assert list(Lines("-a\rb\n+c", newlines_only=True)) == ["-a b", "+c"]


def test_a_very_long_line_is_many_items_of_one_line():
    text = "x" * (2 * PIECE + 5) + "\nend"
    lines = Lines(text)
    assert list(map(len, lines)) == [PIECE, PIECE, 5, 3]
    assert [lines.joins(item) for item in range(4)] == [False, True, True, False]
    assert [lines.number(item) for item in range(4)] == [1, 1, 1, 2]
    assert lines.count == 2


def test_a_long_line_is_not_cut_inside_a_colour():
    for before in range(PIECE - 8, PIECE + 1):
        text = "x" * before + "\x1b[38;5;12m" + "y" * 50
        assert "".join(Lines(text)) == "x" * before + "y" * 50


def test_a_line_without_end_of_its_sequence_is_still_cut():
    text = "\x1b]0;" + "t" * (3 * PIECE)
    assert max(map(len, Lines(text))) <= PIECE
    assert "".join(Lines(text)).count("t") == 3 * PIECE


def test_nothing_of_a_text_is_cleaned_before_it_is_looked_at(monkeypatch):
    cleaned = []
    monkeypatch.setattr("agentdash.widgets.document.lines.clean", lambda text: cleaned.append(text) or text)
    block = PlainText("\n".join(f"line {n}" for n in range(100_000)))
    assert len(block) == 100_000
    assert cleaned == []
    assert shown(block.rows(99_999, 80)) == ["line 99999"]
    assert cleaned == ["line 99999"]


@given(OUTPUT, st.integers(20, 200))
def test_no_visible_character_of_an_output_is_lost(text, width):
    rows = shown(all_rows(PlainText(text), width))
    assert solid("".join(rows)) == solid(clean(text))
    assert all(cell_width(row) <= width for row in rows)


@given(st.text(alphabet="a\x1b[31mé字", min_size=PIECE, max_size=2 * PIECE + 10))
def test_no_visible_character_of_a_long_line_is_lost(text):
    assert solid("".join(Lines(text))) == solid(clean(text))


@given(st.lists(st.tuples(SOME_TEXT, st.sampled_from(["text", "dim", "code"])), max_size=8), st.integers(20, 60))
def test_coloured_text_wraps_like_text_of_one_colour(spans, width):
    (line,) = lines_of((text.replace("\t", " "), role) for text, role in spans)
    margin = (("> ", "rule"),)
    rows = flow(line, width, margin)
    whole = "".join(text for text, _ in line)
    assert shown(rows) == ["> " + row for row in shown(flow([(whole, "text")], width - 2))]
    coloured = [(char, role) for row in rows for text, role in row[1:] for char in text if not char.isspace()]
    assert coloured == [(char, role) for text, role in line for char in text if not char.isspace()]


def test_a_margin_leaves_the_text_some_room():
    rows = flow([("some words", "text")], 20, ((" " * 30, "dim"),))
    assert all(cell_width(row) <= 20 for row in shown(rows))
    assert solid("".join(shown(rows))) == "somewords"


def test_facts_with_dots_go_on_in_the_next_row():
    told = [("message", "strong"), ("turn 2", "dim"), ("step 14", "dim"), ("a" * 30, "dim")]
    assert shown(dotted(told, 24)) == ["message · turn 2", "step 14", "a" * 24, "a" * 6]


def test_facts_stand_in_two_columns_and_numbers_at_the_right():
    block = facts([("input", ("13,200", "text")), ("out", ("9", "text"))], right=True)
    assert shown(all_rows(block, 40)) == ["input  13,200", "out         9"]
    block = facts([("model", ("one two three four five six", "text"))])
    assert shown(all_rows(block, 20)) == ["model  one two three", "       four five six"]
