"""The menus of keys: after the key that opens one, the next key is one of it; a panel shows them to who waits."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from textual import events
from textual.content import Content
from textual.screen import Screen

from agentdash.sessions.text.sanitize import cell_width
from agentdash.tui._textual_hacks import is_bound
from agentdash.tui.keys.action import MENUS, Action
from agentdash.tui.keys.actions import REGISTRY
from agentdash.tui.keys.key_names import shown
from agentdash.tui.keys.keymap import Keymap

PANEL_SECONDS = 0.3
"""The time after which a menu shows its keys; who types on never sees them."""

_GAP = 2
"""Cells between two columns of the panel."""

_LABELS = {
    "table.first": "top", "steps.first": "top", "step.first": "top", "files.first": "top", "steps.fold": "fold",
    "steps.unread": "first new step", "steps.jump_back": "back from a jump", "steps.go_to": "step by number",
    "answer": "answer", "to_lead": "its lead", "undo": "undo", "steps.undo": "take back",
}  # fmt: skip
"""Labels of the actions that have none in the footer, or another one."""

Entries = Sequence[tuple[str, str]]
"""The keys of a menu without its letter, and their labels."""


class Menu:
    """Knows which menu is open, and makes the next key one of it."""

    def __init__(self) -> None:
        self.letter = ""
        """The letter of the menu that is open; empty if none is."""
        self._screen: Screen[Any] | None = None

    def open(self, screen: Screen[Any], letter: str) -> None:
        """Let the next key on this screen be one of a menu."""
        self._screen, self.letter = screen, letter

    def close(self) -> None:
        """Let the next key be a key of its own."""
        self._screen, self.letter = None, ""

    def is_on(self, screen: Screen[Any]) -> bool:
        """Return whether a menu of this screen is open."""
        return bool(self.letter) and screen is self._screen

    def take(self, screen: Screen[Any], event: events.Event) -> None:
        """Make a key one of the menu that is open, which then closes; a key with Ctrl or Alt stays what it is."""
        if self.is_on(screen) and isinstance(event, events.Key) and "+" not in event.key:
            event.key, event.character = f"{self.letter} {event.key}", None
        self.close()


def is_unknown(screen: Screen[Any], event: events.Event) -> bool:
    """Return whether a key is one that its menu has not."""
    return isinstance(event, events.Key) and " " in event.key and not is_bound(screen, event.key)


def nothing(key: str, keymap: Keymap) -> str:
    """Return why a key of a menu does nothing."""
    _, title = MENUS[key.partition(" ")[0]]
    return f"{keymap.shown(key)}: nothing in the menu {_named(title)}."


def _named(title: str) -> str:
    return f"of {title}" if title.startswith("this") else f'"{title}"'


def entries(screen: Screen[Any], letter: str, can: Callable[[str], bool]) -> Entries:
    """Return the keys of a menu that do something now: at the focus, for the chosen sessions.

    Args:
        can: returns whether an action is possible for the sessions.
    """
    actions = {}
    for key, active in screen.active_bindings.items():
        action = REGISTRY.get(active.binding.id or "")
        if key.startswith(f"{letter} ") and action is not None and active.enabled and can(action.id):
            actions[key] = action
    return _sorted((key, action) for key, action in actions.items())


def keys_of_menu(keymap: Keymap, letter: str, actions: Iterable[Action]) -> Entries:
    """Return the keys that a menu has for some actions."""
    return _sorted((key, one) for one in actions for key in keymap.keys(one) if key.startswith(f"{letter} "))


def _sorted(pairs: Iterable[tuple[str, Action]]) -> Entries:
    """Return the keys in a menu and the labels of their actions, in the order of the alphabet."""
    found = {shown(key.partition(" ")[2]): label(action) for key, action in pairs}
    return sorted(found.items(), key=lambda pair: (pair[0].casefold(), pair[0]))


def label(action: Action) -> str:
    """Return the name of an action in a menu."""
    return _LABELS.get(action.id) or action.label or action.help


def panel(letter: str, pairs: Entries, keymap: Keymap, width: int) -> list[Content]:
    """Return the lines of a panel: its title and its keys."""
    name, title = MENUS[letter]
    head = Content.assemble((f"{keymap.name(f'menu.{name}')}  {title}", "bold $text-accent"), ("   Esc close", "dim"))
    return [head, *in_columns(pairs, width)] if pairs else [head, Content("nothing here")]


def in_columns(pairs: Entries, width: int) -> list[Content]:
    """Return keys and labels in as many columns of equal width as fit, in order from top to bottom."""
    column = max((cell_width(f"{key} {label}") for key, label in pairs), default=0) + _GAP
    columns = max(1, min(len(pairs), (width + _GAP) // column))
    height = -(-len(pairs) // columns)
    return [_line(pairs[row::height], column) for row in range(height)]


def _line(pairs: Entries, column: int) -> Content:
    cells = (
        Content.assemble((key, "bold $foreground"), f" {label}", " " * (column - cell_width(f"{key} {label}")))
        for key, label in pairs
    )
    return Content("").join(cells).rstrip()
