"""How people write keys, how Textual does, and how they are shown."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual.binding import Binding

from agentdash.tui.keys.key_names import shown, textual_name, types


@pytest.mark.parametrize(
    ("spelling", "name", "written"),
    [
        ("x", "x", "x"),
        ("X", "X", "X"),
        ("shift+x", "X", "X"),
        ("?", "question_mark", "?"),
        ("question_mark", "question_mark", "?"),
        ("|", "vertical_line", "|"),
        (",", "comma", ","),
        ("+", "plus", "+"),
        (" ", "space", "Space"),
        ("Space", "space", "Space"),
        ("PgDn", "pagedown", "PgDn"),
        ("esc", "escape", "Esc"),
        ("F5", "f5", "F5"),
        ("Ctrl+X", "ctrl+x", "Ctrl+X"),
        ("shift+ctrl+left", "ctrl+shift+left", "Ctrl+Shift+Left"),
        ("alt+x", "alt+x", "Alt+x"),
        ("ctrl+i", "tab", "Tab"),
        ("ctrl+m", "enter", "Enter"),
        ("ä", "ä", "ä"),
    ],
)
def test_a_key_has_a_name_and_is_shown(spelling, name, written):
    assert textual_name(spelling) == name
    assert shown(name) == written


@pytest.mark.parametrize(
    "spelling", ["", "foo", "f25", "ctrl+", "ctrl++", "hyper+x", "ctrl+ctrl+x", "shift+?", "\t", "xy"]
)
def test_what_is_no_key_has_no_name(spelling):
    assert textual_name(spelling) is None


@pytest.mark.parametrize("character", [chr(number) for number in range(0x21, 0x7F) if chr(number) != ","])
def test_characters_have_the_names_that_textual_gives_them(character):
    assert textual_name(character) == next(iter(Binding.make_bindings([Binding(character, "x")]))).key
    assert types(textual_name(character))


def test_other_keys_type_nothing():
    assert not any(map(types, ("ctrl+x", "f2", "enter", "up", "alt+x")))


@given(st.text(max_size=12))
def test_no_spelling_is_too_odd(spelling):
    name = textual_name(spelling)
    assert name is None or shown(name)
