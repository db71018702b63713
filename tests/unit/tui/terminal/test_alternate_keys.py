"""The place of a key on the keyboard, as terminals with kitty's protocol report it."""

from textual import events

from agentdash.tui.terminal.escape_keys import EscapeParser, place_of


def pressed(sequence):
    keys = [key for key in EscapeParser().feed(sequence) if isinstance(key, events.Key)]
    return [(key.key, key.character, place_of(key)) for key in keys]


def test_a_key_has_its_letter_and_its_place():
    for sequence, key in [
        ("\x1b[1095::120;;1095u", ("ч", "ч", "x")),
        ("\x1b[1095:1063:120;2;1063u", ("Ч", "Ч", "X")),
        ("\x1b[1095::120;65;1063u", ("Ч", "Ч", "X")),
        ("\x1b[1095:1063:120;66;1095u", ("ч", "ч", "x")),
        ("\x1b[1078::59;;1078u", ("ж", "ж", ";")),
        ("\x1b[1078:1046:59;2;1046u", ("Ж", "Ж", ":")),
        ("\x1b[1495::106;;1495u", ("ח", "ח", "j")),
        ("\x1b[1095::120;5u", ("ctrl+ч", None, "x")),
        ("\x1b[97:65;2;65u", ("A", "A", "")),
        ("\x1b[97u", ("a", "a", "")),
        ("\x1b[1095;;1095u", ("ч", "ч", "")),
        ("\x1b[1095::1095;;1095u", ("ч", "ч", "")),
        ("\x1b[13;2u", ("shift+enter", None, "")),
    ]:
        assert pressed(sequence) == [key], sequence


def test_a_number_that_is_no_character_is_read_as_the_keys_that_it_has():
    parser = EscapeParser()
    assert list(parser.feed("\x1b[9999999u")) == []
    parser._timeout_time = 0.0
    assert [key.key for key in parser.tick() if isinstance(key, events.Key)][-8:] == [*"9999999u"]
