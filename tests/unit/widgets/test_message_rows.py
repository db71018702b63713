"""The rows of a message at a width."""

from hypothesis import given
from hypothesis import strategies as st

from agentdash.sessions.text.sanitize import cell_width, cut_middle
from agentdash.widgets.drawing.text_lines import Kind, message_rows


@given(st.text(), st.sampled_from(Kind), st.integers(8, 200))
def test_no_row_is_wider_than_the_screen(text, kind, width):
    rows = message_rows(text, kind, width)
    assert 1 <= len(rows) <= (2 if kind is Kind.ERROR and width < 70 else 1)
    assert all(cell_width(row) <= width for row in rows)


def test_a_message_that_is_cut_ends_so():
    words = "No session of the group takes prompts; a plain command cannot be continued."
    assert message_rows(words, Kind.INFORMATION, 40) == ["No session of the group takes prompts; …"]
    assert message_rows(f"{words} {words}", Kind.ERROR, 80)[0].startswith("✗ No session of the group")


def test_a_narrow_screen_has_a_second_row_for_a_long_error_only():
    words = "the key of this project was revoked by its owner"
    assert message_rows(words, Kind.ERROR, 30) == ["✗ the key of this project was", "revoked by its owner"]
    assert len(message_rows(words, Kind.WARNING, 30)) == 1


@given(st.text(), st.integers(0, 60))
def test_a_text_cut_in_its_middle_keeps_both_ends(text, width):
    short = cut_middle(text, width)
    assert cell_width(short) <= width or short == text
    if width > 6 and short != text and text.isascii():
        assert text.startswith(short.partition("…")[0])
        assert text.endswith(short.rpartition("…")[2])
