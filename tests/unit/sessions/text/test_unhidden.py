"""A reader sees every part of a hostile text, or a sign in its place."""

import pytest
from hostile_text import REMOVED, nasty
from hypothesis import given

from agentdash.sessions.text.sanitize import clean
from agentdash.sessions.text.unhidden import opening, unhidden, unhidden_line


def test_what_a_reader_would_not_see_is_a_sign():
    for text, shown in [
        ("make test" + " " * 6_000 + "; touch x", "make test⟨6,000 blanks⟩; touch x"),
        ("make" + "\t" * 300 + "; touch x", "make⟨300 tabs⟩; touch x"),
        ("make" + "\t " * 300 + "; touch x", "make⟨600 blanks⟩; touch x"),
        ("make\u200b \u200b test", "make⟨3 hidden characters⟩ test"),
        ("make" + "\n" * 28 + "touch x", "make\n⟨27 empty lines⟩\ntouch x"),
        ("make\n" + " \t\u200b\n" * 27 + "touch x", "make\n⟨27 empty lines⟩\ntouch x"),
        ("\n" * 9 + "touch x", "⟨9 empty lines⟩\ntouch x"),
        ("make\xa0test", "make⟨NBSP⟩test"),
        ("make" + "\u3000" * 90 + "x", "make⟨90 blanks⟩x"),
        ("make\u2800\u3164x", "make⟨2 blanks⟩x"),
        ("make test\r; touch x", "make test⟨CR⟩; touch x"),
        ("make\x1b]0;touch x\x07", "make⟨ESC⟩]0;touch x⟨U+0007⟩"),
        ("make\x1b[8m touch x", "make⟨ESC⟩[8m touch x"),
        ("make \u202etset", "make ⟨U+202E⟩tset"),
        ("make\u202etset", "make⟨U+202E⟩tset"),
        ("ma\u200bke", "ma⟨U+200B⟩ke"),
        ("ma\u200dke", "ma⟨U+200D⟩ke"),
        ("ma\u2028ke", "ma⟨U+2028⟩ke"),
        ("ma" + "\u0336" * 40 + "ke", "ma⟨40 combining marks⟩ke"),
        ("ma" + "\U000e0041" * 5 + "ke", "ma⟨5 hidden characters⟩ke"),
    ]:
        assert unhidden(text) == shown, text
        assert unhidden_line(text) == " ".join(shown.split()), text


def test_ordinary_text_stays():
    for text in [
        "make test\n\n\nmake lint", "a\r\nb".replace("\r", ""), "def f():\n" + " " * 36 + "return 1",
        "@@ -1 +1 @@\n-" + " " * 32 + "a\n+" + " " * 36 + "b", "name" + " " * 16 + "# why", "\t\tgo()",
        "résumé", "e\u0301te\u0301", "👩\u200d💻 ❤\ufe0f 1\ufe0f\u20e3",
        "\u0645\u06cc\u200c\u062e\u0648", "修正", "a   \nb",
    ]:  # fmt: skip
        assert unhidden(text) == text, text


@given(nasty)
def test_nothing_is_left_for_the_cleaning_to_drop(text):
    shown = unhidden(text)
    assert clean(shown) == shown or "\ufffd" in clean(shown)
    assert not (REMOVED - {"\ud800"}) & set(shown)
    assert unhidden(shown) == shown


@pytest.mark.parametrize(
    "text", [" " * 400_000, "\n \n" * 200_000, ("\u0336" * 9 + "a") * 40_000, "\t\u200b" * 200_000]
)
def test_a_long_hostile_text_is_read_once(text):
    assert "⟨" in unhidden(text)


def test_the_first_line_says_that_more_follow():
    assert opening("\nmake\nrm -rf x") == "make …"
    assert opening("make\n") == "make"
