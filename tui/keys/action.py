"""An action of a key, and the parts of the screen in which it acts.

An action is run by the method ``action_<id>`` of its screen or pane, unless its entry names another one (``does``) or
it needs only the chosen sessions (``on_target``: ``services/actions/session_actions.py``).
"""

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
    """Default keys by their Textual names, separated by commas; the first one is shown."""
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
    def run(self) -> str:
        """Textual's name of the action."""
        return f"on_target('{self.id}')" if self.on_target else self.does or self.id
