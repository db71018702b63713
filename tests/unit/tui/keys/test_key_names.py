"""How people write keys, how Textual does, and how they are shown."""

from hypothesis import given
from hypothesis import strategies as st
from textual.binding import Binding

from agentdash.tui.keys.key_names import shown, textual_name, types


def test_a_key_has_a_name_and_is_shown():
    for spelling, name, written in [
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
    ]:
        assert textual_name(spelling) == name, spelling
        assert shown(name) == written, spelling


def test_what_is_no_key_has_no_name():
    for spelling in ["", "foo", "f25", "ctrl+", "ctrl++", "hyper+x", "ctrl+ctrl+x", "shift+?", "\t", "xy"]:
        assert textual_name(spelling) is None, spelling


def test_characters_have_the_names_that_textual_gives_them():
    for character in [chr(number) for number in range(0x21, 0x7F) if chr(number) != ","]:
        assert textual_name(character) == next(iter(Binding.make_bindings([Binding(character, "x")]))).key, character
        assert types(textual_name(character)), character


def test_other_keys_type_nothing():
    assert not any(map(types, ("ctrl+x", "f2", "enter", "up", "alt+x")))


@given(st.text(max_size=12))
def test_no_spelling_is_too_odd(spelling):
    name = textual_name(spelling)
    assert name is None or shown(name)
