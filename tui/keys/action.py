"""An action of a key, the places where it acts, and the menus that have most actions."""

from enum import StrEnum

from msgspec import Struct


class Place(StrEnum):
    """The part of the screen that receives the keys."""

    TABLE = "table"
    STEPS = "steps"
    STEP = "step"
    """One step in its pane."""
    FILES = "files"
    """The list of files that a session changed."""
    DIFFS = "diffs"
    """The diffs beside the list of changed files."""
    PROMPT = "prompt"
    USAGE = "usage"
    """The screen of usage."""


EVERYWHERE = frozenset({Place.TABLE, Place.STEPS, Place.STEP, Place.PROMPT})
"""The screens of sessions.  In a prompt, characters are text, and only other keys act."""
READING = frozenset({Place.STEPS, Place.STEP})
CHANGES = frozenset({Place.FILES, Place.DIFFS})
OTHER_SCREENS = CHANGES | {Place.USAGE}
"""Screens without a session's prompt."""


class Action(Struct, frozen=True, kw_only=True):
    """An action of a key."""

    id: str
    """Its name in ``[keys]`` and on the command line."""
    keys: str
    """Default keys by their Textual names, separated by commas; the first one is shown in the footer.

    The key of a menu is its letter in :data:`MENUS`, a blank and the key in it: ``g u``.  After a bar come the keys
    that act and are shown nowhere, because they are those of an earlier release: ``g u|dollar_sign``.
    """
    label: str = ""
    """One or two words for the footer and the palette."""
    help: str
    weight: int = 1
    """Priority in a footer that is too short; an action of weight 0 is never in it."""
    where: frozenset[Place] = EVERYWHERE
    """Parts of the screen in which it acts."""
    does: str = ""
    """Textual's name of the action, if it is not the id."""
    on_target: bool = False
    """True if it needs only the sessions that it acts on: see ``TARGET_ACTIONS``."""
    changes: bool = False
    """True if it changes a session, which a read-only dashboard refuses."""
    writes: bool = False
    """True if it writes a file, or opens a program that can write; a read-only dashboard refuses it too."""
    fixed: bool = False
    """True if the settings cannot change its keys."""

    @property
    def named(self) -> tuple[str, ...]:
        """The default keys that are shown."""
        return tuple(filter(None, self.keys.partition("|")[0].split(",")))

    @property
    def acting(self) -> tuple[str, ...]:
        """All default keys, also those that are not shown."""
        return tuple(filter(None, self.keys.replace("|", ",").split(",")))

    @property
    def run(self) -> str:
        """Textual's name of the action."""
        return f"on_target('{self.id}')" if self.on_target else self.does or self.id


MENUS = {"g": ("go", "go to"), "z": ("view", "view"), "m": ("session", "this session")}
"""Name and title of each menu by the letter with which its keys begin, in ``[keys]`` as in the registry.

The letter is the default key of the action ``menu.<name>``, which the settings can change like any other.
"""


def menu_id(letter: str) -> str:
    """Return the id of the action that opens a menu."""
    return f"menu.{MENUS[letter][0]}"
