"""Names of keys: as users write them, as Textual knows them, and as the screen shows them."""

import unicodedata

LIST_LETTERS = frozenset("jkq")
"""Letters that move in a list of choices or leave it, so that no choice has them."""

_NAMED = {
    "space": "Space", "enter": "Enter", "tab": "Tab", "backspace": "Backspace", "delete": "Del", "insert": "Ins",
    "home": "Home", "end": "End", "pageup": "PgUp", "pagedown": "PgDn", "up": "Up", "down": "Down", "left": "Left",
    "right": "Right", "escape": "Esc", **{f"f{number}": f"F{number}" for number in range(1, 25)},
}  # fmt: skip
_SPELLINGS = {
    "esc": "escape", "return": "enter", "pgup": "pageup", "pgdn": "pagedown", "del": "delete", "ins": "insert",
    "control": "ctrl", "option": "alt",
}  # fmt: skip
_SHORTER = {
    "solidus": "slash", "reverse_solidus": "backslash", "commercial_at": "at", "hyphen_minus": "minus",
    "plus_sign": "plus", "low_line": "underscore",
}  # fmt: skip
"""Textual (8.2) has shorter names for these characters than Unicode."""
_MODIFIERS = frozenset({"alt", "ctrl", "shift"})
_SAME = {"ctrl+i": "tab", "ctrl+m": "enter", "ctrl+left_square_bracket": "escape"}
"""Keys that a terminal sends as a different key."""


def _character_name(character: str) -> str:
    if character.isalnum():
        return character
    name = unicodedata.name(character, "").lower().replace("-", "_").replace(" ", "_")
    return _SHORTER.get(name, name)


def _character(name: str) -> str:
    """Return the character that has this name, or the name if there is none."""
    try:
        return name if len(name) == 1 else unicodedata.lookup(name.replace("_", " "))
    except KeyError:
        return name


_CHARACTERS = {_character_name(character): character for character in map(chr, range(0x21, 0x7F))}


def textual_name(spelling: str) -> str | None:
    """Return Textual's name of a key that a user wrote: ``X``, ``?``, ``ctrl+x``, ``PgDn``, ``question_mark``.

    None if there is no such key.
    """
    if len(spelling) == 1:
        return ("space" if spelling == " " else _character_name(spelling) or None) if spelling.isprintable() else None
    *modifiers, key = spelling.split("+")
    held = sorted(_SPELLINGS.get(modifier.lower(), modifier.lower()) for modifier in modifiers)
    base = _base(key)
    if base is None or not set(held) <= _MODIFIERS or len(set(held)) < len(held):
        return None
    if held == ["shift"] and types(base):
        return base.upper() if base.isalpha() and len(base) == 1 else None  # a terminal reports "?" without Shift
    name = "+".join([*held, base.lower() if "ctrl" in held else base])
    return _SAME.get(name, name)


def _base(key: str) -> str | None:
    if len(key) == 1:
        return _character_name(key) or None
    lower = _SPELLINGS.get(key.lower(), key.lower())
    return lower if lower in _NAMED or lower in _CHARACTERS else None


def shown(key: str) -> str:
    """Return a Textual key as users write it: ``?``, ``PgDn``, ``Ctrl+X``."""
    *held, base = key.split("+")
    name = _NAMED.get(base) or _CHARACTERS.get(base) or _character(base)
    name = name.upper() if "ctrl" in held and len(name) == 1 else name
    return "+".join([*(modifier.capitalize() for modifier in held), name])


def types(key: str) -> bool:
    """Return whether the key types a character into a text."""
    return key == "space" or ("+" not in key and key not in _NAMED)
