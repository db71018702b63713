"""Keys that must do nothing: those of a burst that would decide, and letters that no action has."""

from typing import Any

from textual import events
from textual.screen import Screen
from textual.widgets import Input, TextArea

from .._textual_hacks import is_bound
from ..terminal.bursts import in_burst

BURST = "Keys of a burst decide nothing. Press it alone."


LAYOUT = "Keys are Latin letters: switch the keyboard's layout."


def of_other_layout(screen: Screen[Any], event: events.Event) -> bool:
    """Return whether a key is a letter of a layout that no action has, typed where it is not text."""
    if not isinstance(event, events.Key) or event.character is None or event.character.isascii():
        return False
    types = isinstance(screen.focused, Input | TextArea)
    return event.character.isalpha() and not types and not is_bound(screen, event.key)


def decides_nothing(screen: Screen[Any], event: events.Event) -> bool:
    """Return whether a key must not decide in the dialog on top, because it arrived together with others.

    A dialog names its keys that decide in ``DECIDING``.  Text in a field stays text.
    """
    if not isinstance(event, events.Key) or not in_burst(event):
        return False
    is_text = event.is_printable and isinstance(screen.focused, Input | TextArea)
    return event.key in getattr(screen, "DECIDING", ()) and not is_text
