"""Foreign text never controls the terminal, and is cut by cells, not by characters."""

import unicodedata

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len, get_character_cell_size

from agentdash.sessions.text.sanitize import cell_width, clean, cut, cut_left, one_line, pad, shorten
from agentdash.widgets.drawing.spans import painted
from hostile.checks import JOINERS, VISIBLE

ANY = st.text(st.characters(exclude_categories=()))


@given(ANY)
def test_clean_leaves_no_control_character(text: str) -> None:
    left = clean(text)
    assert not [c for c in left if unicodedata.category(c) in ("Cc", "Cs") and c not in "\n\t"]
    assert not [c for c in left if unicodedata.bidirectional(c) in ("LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI")]


def test_every_character_without_a_shape_is_removed_but_the_joiners() -> None:
    hidden = [chr(n) for n in range(0x110000) if unicodedata.category(chr(n)) in ("Cc", "Cf", "Cs")]
    kept = {char for char in hidden if clean(f"a{char}b") == f"a{char}b"}
    assert kept - VISIBLE == {"\n", "\t", *JOINERS}
    assert kept >= VISIBLE


@given(ANY)
def test_clean_is_idempotent_and_encodable(text: str) -> None:
    once = clean(text)
    assert clean(once) == once
    once.encode("utf-8")


def test_no_character_takes_more_cells_on_the_screen_than_were_counted() -> None:
    kept = (char for n in range(0x30000) if (char := painted(clean(chr(n)))))
    assert [char for char in kept if get_character_cell_size(char) > cell_width(char)] == []


@given(ANY)
def test_no_text_takes_more_cells_on_the_screen_than_were_counted(text: str) -> None:
    shown = painted(one_line(text))
    assert cell_len(shown) <= cell_width(shown) == cell_width(one_line(text))


@given(ANY, st.integers(0, 40))
def test_cut_text_fits(text: str, width: int) -> None:
    assert cell_width(one_line(text, width)) <= width
    assert cell_width(cut_left(one_line(text), width)) <= width
    assert "\n" not in one_line(text, width)


def test_clean() -> None:
    for dirty, expected in [
        ("[/red] list[int]", "[/red] list[int]"),
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x9b31mred", "red"),
        ("\x1b]0;title\x07after", "after"),
        ("\x1b]52;c;aGk=\x1b\\after", "after"),
        ("\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1bP1$r\x1b\\after", "after"),
        ("\x1b(Bplain\x1bc", "plain"),
        ("unfinished \x1b]0;title\nnext", "unfinished 0;title\nnext"),
        ("10%\r20%\r\n", "10%\n20%\n"),
        ("a\u202eb\u2066c\u200fd", "abcd"),
        ("a\u200bb\ufeffc\u00add", "abcd"),
        ("\U000e0041hidden", "hidden"),
        ("half \ud800", "half \ufffd"),
        ("one\u2028two", "one\ntwo"),
        ("family \U0001f468\u200d\U0001f469", "family \U0001f468\u200d\U0001f469"),
        ("tab\tand\nline", "tab\tand\nline"),
        ("nul\x00bell\x07back\x08", "nulbellback"),
    ]:
        assert clean(dirty) == expected, dirty


def test_control_strings_that_never_end_are_gone_through_once() -> None:
    assert clean("\x90x" * 100_000) == "x" * 100_000


def test_cells_of_wide_and_combining_characters() -> None:
    assert cell_width("日本") == 4
    assert cell_width("e\u0301") == 1
    assert cut("日本語", 5) == "日本…"
    assert cut("日本語", 4) == "日…"
    assert cut_left("/home/me/work", 8) == "…me/work"
    assert pad("日", 4) == "日  "
    assert pad("7", 3, right=True) == "  7"


def test_shortened_text_counts_its_ellipsis() -> None:
    assert shorten("abcdef", 6) == "abcdef"
    assert shorten("abcdefg", 6) == "abcde…"
