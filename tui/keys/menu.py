"""A menu of keys: after the key that opens it, the next key is one of the menu."""

from typing import Any

from textual import events
from textual.screen import Screen

from agentdash.tui._textual_hacks import is_bound
from agentdash.tui.keys.action import MENUS
from agentdash.tui.keys.key_names import shown


class Menu:
    """Knows which menu is open, and makes the next key one of it."""

    def __init__(self) -> None:
        self._letter = ""
        self._screen: Screen[Any] | None = None

    def open(self, screen: Screen[Any], letter: str) -> None:
        """Let the next key on this screen be one of a menu."""
        self._screen, self._letter = screen, letter

    def close(self) -> None:
        """Let the next key be a key of its own."""
        self._screen, self._letter = None, ""

    def take(self, screen: Screen[Any], event: events.Event) -> None:
        """Make a key one of the menu that is open, which then closes; a key with Ctrl or Alt stays what it is."""
        letter = self._letter if screen is self._screen else ""
        self.close()
        if letter and isinstance(event, events.Key) and "+" not in event.key:
            event.key, event.character = f"{letter} {event.key}", None


def is_unknown(screen: Screen[Any], event: events.Event) -> bool:
    """Return whether a key is one that its menu has not."""
    return isinstance(event, events.Key) and " " in event.key and not is_bound(screen, event.key)


def nothing(key: str) -> str:
    """Return why a key of a menu does nothing."""
    letter, _, inner = key.partition(" ")
    title = MENUS[letter][1]
    return f"Menu closed: {title}." if inner == "escape" else f"{letter} {shown(inner)}: nothing in the menu: {title}."
