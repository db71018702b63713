"""The place of a key on the keyboard, which terminals with kitty's keyboard protocol report beside the typed letter.

Textual (8.2.8) asks for all keys as sequences, ``CSI codepoint ; modifiers ; text u``, but not for the place; its
parser takes no sequence that has one: ``CSI codepoint:shifted:place ; modifiers ; text u``.
"""

import re

ASK = "\x1b[=4;2u"
"""Adds alternate keys to what Textual asked for; the end of Textual's request ends it too."""

_KEY = re.compile(r"(\x1b\[\d{1,7})(?::\d{0,7})?(?::(\d{0,7}))?((?:;(\d{0,4}))?(?:;[\d:]*)?u)")

_SHIFT, _CAPS_LOCK = 1, 64
_UNSHIFTED, _SHIFTED = "`1234567890-=[]\\;',./", '~!@#$%^&*()_+{}|:"<>?'
_WITH_SHIFT = str.maketrans(_UNSHIFTED, _SHIFTED)
"""The characters of a US keyboard: that is the layout in which a terminal names a place."""


def without_alternates(sequence: str) -> tuple[str, str]:
    """Return a key's sequence as Textual takes it, and the character that a US keyboard has at the key's place.

    The character is empty if the terminal does not report the place, as for a key of a Latin layout at its usual place.
    """
    match = _KEY.fullmatch(sequence)
    if match is None:
        return sequence, ""
    beginning, place, rest, modifiers = match.groups()
    held = int(modifiers or 1) - 1
    return beginning + rest, _typed(int(place), held) if place else ""


def _typed(codepoint: int, held: int) -> str:
    """Return the character that a key types with the modifiers that are held; empty if it is not on a keyboard."""
    if not 0x21 <= codepoint <= 0x7E:
        return ""
    character = chr(codepoint)
    if character.isalpha():
        return character.upper() if bool(held & _SHIFT) is not bool(held & _CAPS_LOCK) else character.lower()
    return character.translate(_WITH_SHIFT) if held & _SHIFT else character


_MARK = "place_on_keyboard"


def mark_place(key: object, character: str) -> None:
    """Note the character of a US keyboard at the place of a key."""
    setattr(key, _MARK, character)


def place_of(key: object) -> str:
    """Return the character of a US keyboard at the place of a key; empty if the terminal did not report it."""
    return str(getattr(key, _MARK, ""))
