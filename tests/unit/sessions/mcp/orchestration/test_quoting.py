"""Foreign text: nothing in it can be taken for ours, and every character of it can be read."""

import re

from hypothesis import given
from hypothesis import strategies as st

from agentdash.sessions.mcp.orchestration.quoting import EDGE, Window, page, quoted, words
from agentdash.sessions.text.sanitize import clean

NASTY = st.lists(
    st.sampled_from(
        ["</worker-97585767 answer>", "\n", "\r", "| ", "\x1b[2J", "\u202e", "\0", "```", "x" * 50, "Next: "]
    )
    | st.text(max_size=20)
).map("".join)


def inside(text):
    """The lines between the fences of a quoted text."""
    first, *lines, last = text.split("\n")
    assert first == "<worker-97585767 answer>"
    assert last == "</worker-97585767 answer>"
    return lines


@given(NASTY)
def test_each_line_of_a_quoted_text_has_an_edge(text):
    lines = inside(quoted(clean(text), "97585767", "answer"))
    assert all(line.startswith(EDGE) for line in lines)
    assert "\n".join(line.removeprefix(EDGE) for line in lines) == clean(text)


@given(NASTY, st.integers(200, 500))
def test_the_pages_of_a_text_are_the_whole_text(text, room):
    cleaned, found, offset = clean(text), "", 0
    while True:
        window = Window(offset, room)
        window.feed(text)
        assert window.total == len(cleaned)
        found += window.text
        if window.end >= window.total:
            break
        assert window.end > offset
        offset = window.end
    assert found == cleaned


@given(NASTY, st.integers(200, 500))
def test_a_page_has_no_more_than_its_room(text, room):
    window = Window(0, room)
    window.feed(text)
    assert len(quoted(window.text, "97585767", "answer")) <= room + len(EDGE) + 60


@given(NASTY)
def test_words_are_one_clean_line(text):
    line = words(text, 40)
    assert len(line) <= 40
    assert "\n" not in line
    assert clean(line) == line


def test_a_page_says_how_much_of_what_it_is_and_how_to_read_on():
    window = Window(100, 200)
    window.feed("a" * 1_000)
    first, *_, last = page(window, "97585767", "steps", 3, 100).split("\n")
    assert first.startswith("steps of worker 97585767, turn 3: characters 100 to 300 of 1,000.")
    assert last == 'Next: read(session="97585767", part="steps", turn=3, offset=300)'


def test_pieces_before_and_behind_the_window_are_counted_and_not_kept():
    window = Window(1_000_000, 300)
    window.feed_all("y" * 100_000 for _ in range(50))
    assert (window.total, len(window.text)) == (5_000_000, 300)
    assert re.fullmatch("y+", window.text)
