"""Cleaning of bytes that come in pieces: cut anywhere, the text is that of the whole."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentdash.sessions.rules.json_schema import dump
from agentdash.sessions.text import sanitize
from agentdash.sessions.text.sanitize import StreamCleaner, clean, clean_but_colours

PIECES = [
    b"\x1b", b"[", b"31m", b"]0;", b"title", b"\x07", b"\x1b\\", b"\x1bP", b"\xc2\x9b", b"\xc2", b"\x9d",
    b"\xe2\x80\xae", b"\xe2", b"\x80", b"\xf0\x9f\x98\x80", b"\xf0\x9f", b"\r", b"\n", b"\r\n", b"plain", b" ",
    b"\xff", b"\x00", "ü".encode(),
]  # fmt: skip
nasty = st.lists(st.sampled_from(PIECES), max_size=20).map(b"".join)


def in_pieces(data, cuts):
    """What comes out of data that is cut at these places."""
    cleaner, at = StreamCleaner(), 0
    out = []
    for cut in sorted(cuts):
        out.append(cleaner.feed(data[at:cut]))
        at = max(at, cut)
    return "".join([*out, cleaner.feed(data[at:]), cleaner.finish()])


@given(nasty, st.lists(st.integers(0, 120), max_size=8))
def test_text_cleaned_in_pieces_cut_anywhere_is_the_cleaned_whole(data, cuts):
    assert in_pieces(data, cuts) == clean(data.decode("utf-8", "replace"))


def test_text_that_comes_a_byte_at_a_time_is_cleaned_too():
    data = "a\x1b]0;PWNED\x07b\x1b[31mc\u202ed\x9b1me\r\nf".encode()
    assert in_pieces(data, range(len(data))) == "abcde\nf"


def test_text_that_no_sequence_can_change_is_given_at_once():
    cleaner = StreamCleaner()
    assert cleaner.feed(b"no newline yet") == "no newline yet"
    assert cleaner.feed("ü".encode()[:1]) == ""
    assert cleaner.feed("ü".encode()[1:] + b"\x1b[3") == "ü"
    assert cleaner.feed(b"1mred\nmore") == "red\nmore"


def test_a_sequence_that_never_ends_is_not_held_for_ever_and_does_no_harm(monkeypatch):
    monkeypatch.setattr(sanitize, "HELD_CHARACTERS", 100)
    cleaner = StreamCleaner()
    out = cleaner.feed(b"\x1b]52;c;") + "".join(cleaner.feed(b"x" * 50) for _ in range(10))
    assert len(out) > 400
    assert cleaner.feed(b"\x07") + cleaner.finish() == ""
    assert "\x1b" not in out


def test_colours_of_ours_stay_and_other_sequences_do_not():
    ours = "\x1b[33m\x1b[1mwaiting\x1b[0m"
    assert clean_but_colours(ours) == ours
    assert clean_but_colours("\x1b[38;5;213mx\x1b[2J\x07\u202e") == "x"


@pytest.mark.parametrize("text", ["\u202e", "\x7f", "\x85", "\x9b", "\u2028", "\ufeff", "\U000e0041", "\u2066"])
def test_json_holds_no_character_that_a_terminal_should_not_get(text):
    printed = dump({f"key {text}": f"ü {text}"})
    assert text.encode() not in printed
    assert "ü".encode() in printed
    assert json.loads(printed) == {f"key {text}": f"ü {text}"}
