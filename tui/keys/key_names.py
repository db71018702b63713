"""How keys are named: by people, by Textual, and on the screen."""

import unicodedata

LIST_LETTERS = frozenset("jkq")
"""Letters that move in a list of choices or leave it: no choice has one of them."""

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
"""Textual (8.2) calls these characters by a shorter name than Unicode does."""
_MODIFIERS = frozenset({"alt", "ctrl", "shift"})
_SAME = {"ctrl+i": "tab", "ctrl+m": "enter", "ctrl+left_square_bracket": "escape"}
"""What a terminal sends as another key."""


def _character_name(character: str) -> str:
    if character.isalnum():
        return character
    name = unicodedata.name(character, "").lower().replace("-", "_").replace(" ", "_")
    return _SHORTER.get(name, name)


def _character(name: str) -> str:
    """The character of a name, as far as the name tells."""
    try:
        return name if len(name) == 1 else unicodedata.lookup(name.replace("_", " "))
    except KeyError:
        return name


_CHARACTERS = {_character_name(character): character for character in map(chr, range(0x21, 0x7F))}


def textual_name(spelling: str) -> str | None:
    """The name by which Textual knows a key that somebody wrote: ``X``, ``?``, ``ctrl+x``, ``PgDn``, ``question_mark``.

    None where there is no such key.
    """
    if len(spelling) == 1:
        return ("space" if spelling == " " else _character_name(spelling) or None) if spelling.isprintable() else None
    *modifiers, key = spelling.split("+")
    held = sorted(_SPELLINGS.get(modifier.lower(), modifier.lower()) for modifier in modifiers)
    base = _base(key)
    if base is None or not set(held) <= _MODIFIERS or len(set(held)) < len(held):
        return None
    if held == ["shift"] and types(base):
        return base.upper() if base.isalpha() and len(base) == 1 else None  # of "?" a terminal tells no Shift
    name = "+".join([*held, base.lower() if "ctrl" in held else base])
    return _SAME.get(name, name)


def _base(key: str) -> str | None:
    if len(key) == 1:
        return _character_name(key) or None
    lower = _SPELLINGS.get(key.lower(), key.lower())
    return lower if lower in _NAMED or lower in _CHARACTERS else None


def shown(key: str) -> str:
    """A key of Textual's as people write it: ``?``, ``PgDn``, ``Ctrl+X``."""
    *held, base = key.split("+")
    name = _NAMED.get(base) or _CHARACTERS.get(base) or _character(base)
    name = name.upper() if "ctrl" in held and len(name) == 1 else name
    return "+".join([*(modifier.capitalize() for modifier in held), name])


def types(key: str) -> bool:
    """Whether the key writes a character into a text."""
    return key == "space" or ("+" not in key and key not in _NAMED)
