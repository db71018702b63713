"""Keys that are not what they seem: those of a burst, which decide nothing, and letters of another keyboard layout."""

import unicodedata
from typing import Any

from textual import events
from textual.screen import Screen
from textual.widgets import Input, TextArea

from agentdash.tui._textual_hacks import is_bound
from agentdash.tui.keys.key_names import textual_name
from agentdash.tui.terminal.escape_keys import in_burst, place_of

BURST = "Keys of a burst decide nothing. Press it alone."
LAYOUT = "Keys are Latin letters: switch the keyboard's layout."


def to_its_place(screen: Screen[Any], key: events.Key) -> None:
    """Make a letter of another script the key at its place, where it is not text, if the terminal reported the place.

    A letter that is bound stays, and so does a Latin one: the user of such a layout has all Latin letters.
    """
    place = place_of(key)
    if not place or not _is_no_key(screen, key) or unicodedata.name(_letter(key), "LATIN").startswith("LATIN"):
        return
    *held, _ = key.key.split("+")
    name = textual_name("+".join([*held, place.lower()]) if held else place)
    if name is not None:
        key.key, key.character = name, None if held else place


def of_other_layout(screen: Screen[Any], event: events.Event) -> bool:
    """Return whether a key is a letter of a layout that no action has, typed where it is not text."""
    return isinstance(event, events.Key) and _is_no_key(screen, event)


def _is_no_key(screen: Screen[Any], key: events.Key) -> bool:
    letter = _letter(key)
    if not letter or letter.isascii() or unicodedata.category(letter)[0] not in "LMN":
        return False
    types = key.is_printable and isinstance(screen.focused, Input | TextArea)
    return not types and not is_bound(screen, key.key)


def _letter(key: events.Key) -> str:
    """Return the character that a key types, or would type without Ctrl and Alt; empty if it types none."""
    letter = key.character or key.key.rpartition("+")[2]
    return letter if len(letter) == 1 else ""


def decides_nothing(screen: Screen[Any], event: events.Event) -> bool:
    """Return whether a key must not decide in the dialog on top, because it arrived together with others.

    A dialog names its keys that decide in ``DECIDING``.  Text in a field stays text.
    """
    if not isinstance(event, events.Key) or not in_burst(event):
        return False
    is_text = event.is_printable and isinstance(screen.focused, Input | TextArea)
    return event.key in getattr(screen, "DECIDING", ()) and not is_text
