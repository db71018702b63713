"""Keys of a burst that would decide: they must do nothing."""

from typing import Any

from textual import events
from textual.screen import Screen
from textual.widgets import Input, TextArea

from agentdash.tui.terminal.bursts import in_burst

BURST = "Keys of a burst decide nothing. Press it alone."


def decides_nothing(screen: Screen[Any], event: events.Event) -> bool:
    """Return whether a key must not decide in the dialog on top, because it arrived together with others.

    A dialog names its keys that decide in ``DECIDING``.  Text in a field stays text.
    """
    if not isinstance(event, events.Key) or not in_burst(event):
        return False
    is_text = event.is_printable and isinstance(screen.focused, Input | TextArea)
    return event.key in getattr(screen, "DECIDING", ()) and not is_text
