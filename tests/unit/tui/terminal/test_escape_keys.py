"""Esc and a key in one packet, and everything else that begins with the same character."""

from textual import events

from agentdash.tui.terminal.escape_keys import EscapedKey, EscapeParser


def keys(*packets, silence=True, bound=()):
    """The keys that packets of characters mean; ``silence`` follows the last one, and these keys are ``bound``."""
    parser = EscapeParser()
    found = [message for packet in packets for message in parser.feed(packet)]
    if silence and parser._timeout_time is not None:
        parser._timeout_time = 0.0
        found += parser.tick()
    told = []
    for message in found:
        pressed = message.meant(bound.__contains__) if isinstance(message, EscapedKey) else [message]
        told += [one.key if isinstance(one, events.Key) else one for one in pressed]
    return told


def test_an_esc_and_a_key_are_two_keys():
    for packets, expected in [
        (["\x1b"], ["escape"]),
        (["\x1bj"], ["escape", "j"]),
        (["\x1bjj"], ["escape", "j", "j"]),
        (["\x1b", "j"], ["escape", "j"]),
        (["\x1b\x1bj"], ["escape", "escape", "j"]),
        (["\x1bj\x1bk"], ["escape", "j", "escape", "k"]),
        (["\x1bj\x1b"], ["escape", "j", "escape"]),
        (["\x1bX"], ["escape", "X"]),
        (["\x1b/x"], ["escape", "slash", "x"]),
        (["\x1b:q\r"], ["escape", "colon", "q", "enter"]),
        (["\x1b\r"], ["escape", "enter"]),
        (["\x1b\x03"], ["escape", "ctrl+c"]),
        (["\x1b1"], ["escape", "1"]),
        (["\x1bf"], ["escape", "f"]),
        (["\x1b["], ["escape", "left_square_bracket"]),
        (["\x1bO"], ["escape", "O"]),
        (["\x1b[z"], ["escape", "left_square_bracket", "z"]),
        (["\x1b[\x1bj"], ["escape", "left_square_bracket", "escape", "j"]),
        (["\x1bé"], ["escape", "é"]),
        (["\x1b" + "a" * 60], ["escape", *"a" * 60]),
        (["\x1b[" + "9" * 60], ["escape", "left_square_bracket", *"9" * 60]),
    ]:
        assert keys(*packets) == expected, packets


def test_a_bound_alt_key_stays_one():
    for packet, bound, expected in [
        ("\x1bj", {"alt+j"}, ["alt+j"]),
        ("\x1bJ", {"alt+J"}, ["alt+J"]),
        ("\x1bJ", {"alt+shift+j"}, ["alt+shift+j"]),
        ("\x1b/", {"alt+slash"}, ["alt+slash"]),
        ("\x1b1", {"alt+1"}, ["alt+1"]),
        ("\x1b\r", {"alt+enter"}, ["alt+enter"]),
        ("\x1bf", {"ctrl+right"}, ["ctrl+right"]),
        ("\x1bf", {"alt+f", "ctrl+right"}, ["alt+f"]),
        ("\x1b\x7f", {"ctrl+w"}, ["ctrl+w"]),
        ("\x1b\t", {"shift+tab"}, ["shift+tab"]),
        ("\x1bk", {"alt+j"}, ["escape", "k"]),
    ]:
        assert keys(packet, bound=bound) == expected, packet


def test_sequences_of_keys_are_unaffected():
    for packets, expected in [
        (["\x1b[A"], ["up"]),
        (["\x1b", "[A"], ["up"]),
        (["\x1b[", "A"], ["up"]),
        (["\x1bOP\x1bOA"], ["f1", "up"]),
        (["\x1b[1;5C"], ["ctrl+right"]),
        (["\x1b[15~"], ["f5"]),
        (["\x1b[Z"], ["shift+tab"]),
        (["\x1b\x1b[A"], ["escape", "up"]),
        (["j\x1b[Bk"], ["j", "down", "k"]),
        (["\x1b[27u"], ["escape"]),
        (["\x1b[106;3u"], ["alt+j"]),
    ]:
        assert keys(*packets) == expected, packets


def test_mouse_focus_and_paste_are_unaffected():
    down, focus, paste, key = keys("\x1b[<0;3;4M", "\x1b[I", "\x1b[200~fix\nit\x1b[201~", "x")
    assert (type(down), down.x, down.y) == (events.MouseDown, 2, 3)
    assert isinstance(focus, events.AppFocus)
    assert (type(paste), paste.text, key) == (events.Paste, "fix\nit", "x")


def test_an_esc_within_a_paste_is_no_key():
    assert "escape" not in keys("\x1b[200~a\x1bjb\x1b[201~")
    assert keys("\x1b[200~a\x1bjb\x1b[201~", "\x1bj")[-2:] == ["escape", "j"]


def test_a_key_behind_an_esc_is_not_waited_for():
    assert keys("\x1bj", silence=False) == ["escape", "j"]
