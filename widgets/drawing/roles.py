"""The roles of texts, and the looks that a theme gives each of them.

A widget names the meaning of a text (``failure``, ``dim``); the theme chooses its style.  Roles are resolved from the
variables of the theme, not from nodes of a style sheet: Textual would restyle each node at every focus change, once
per widget."""

from typing import NamedTuple

from agentdash.sessions.model.session import StepStatus
from agentdash.sessions.text.unified_diff import ADDED, HUNK, REMOVED

MUTED = "$muted"
"""The colour of less important text, for texts that are styled piece by piece."""

MARGIN = 1
"""Blank cells at the left and at the right edge of each screen."""

VARIABLES = {
    "margin": str(MARGIN),
    "muted": "#808080", "muted-style": "none", "focused-style": "bold", "rule": "#808080", "cursor-blurred": "#404040",
    "cursor-blurred-style": "none",
    "code": "#9a7b3c", "code-ground": "#80808020", "keyword": "#a06cc8", "string": "#4d8f57", "number": "#b5713a",
    "name": "#4d84c4", "hunk": "#3f8f99", "changed-style": "bold underline",
    "added": "#4d8f57", "added-ground": "#00800018", "added-word-ground": "#00800018",
    "removed": "#c8605a", "removed-ground": "#80000018", "removed-word-ground": "#80000018",
}  # fmt: skip
"""Variables that a theme may set beyond Textual's own, with defaults that suit dark and light themes."""

WITHOUT_COLOURS = {"focused-style": "bold reverse", "cursor-blurred-style": "underline"}
"""The variables that differ on a screen without colours: the title of the focused pane is reversed."""


class Look(NamedTuple):
    """Names of theme variables; an empty one keeps the style of the widget."""

    color: str = ""
    ground: str = ""
    flags: str = ""
    """Bold, italic and the like, or the variable that names them."""


_MUTED = Look("muted", flags="muted-style")

ROLES = {
    "text": Look("foreground"),
    "dim": _MUTED,
    "running": Look("text-primary"),
    "attention": Look("text-warning", flags="bold"),
    "failure": Look("text-error"),
    "good": Look("text-success"),
    "prompt": Look("text-primary", flags="bold"),
    "command": Look("foreground", flags="bold"),
    "output": _MUTED,
    "rule": _MUTED,
    "heading": _MUTED,
    "focused": Look("text-primary", flags="focused-style"),
    "title": Look("text-primary", flags="bold"),
    "strong": Look("foreground", flags="bold"),
    "emphasis": Look("foreground", flags="italic"),
    "link": Look("text-primary", flags="underline"),
    "code": Look("code", "code-ground"),
    "source": Look("foreground", "code-ground"),
    "keyword": Look("keyword", "code-ground"),
    "string": Look("string", "code-ground"),
    "comment": Look("muted", "code-ground", "muted-style"),
    "number": Look("number", "code-ground"),
    "name": Look("name", "code-ground"),
    "added": Look("added", "added-ground"),
    "added-word": Look("added", "added-word-ground", "changed-style"),
    "removed": Look("removed", "removed-ground"),
    "removed-word": Look("removed", "removed-word-ground", "changed-style"),
    "hunk": Look("hunk"),
    "series-0": Look("text-primary"),
    "series-1": Look("number"),
    "series-2": Look("string"),
    "series-3": Look("keyword"),
    "series-4": Look("hunk"),
    "series-5": _MUTED,
    "line": Look("rule"),
    "match": Look("text-warning", flags="reverse bold"),
    "cursor": Look("block-cursor-foreground", "block-cursor-background"),
    "cursor-blurred": Look(ground="cursor-blurred", flags="cursor-blurred-style"),
}
"""Every role, and the theme variables that it uses."""


ENDING_ROLES = {
    StepStatus.OK: "dim",
    StepStatus.FAILED: "failure",
    StepStatus.DECLINED: "attention",
    StepStatus.INTERRUPTED: "dim",
    StepStatus.RUNNING: "running",
    StepStatus.WAITING: "attention",
}
"""The role of each step ending."""


def error_role(fatal: bool | None) -> str:
    """Return the role of an error: a failure, unless the turn went on after it."""
    return "attention" if fatal is False else "failure"


DIFF_ROLES = {ADDED: "added", REMOVED: "removed", HUNK: "hunk"}
"""The role of each kind of diff line."""
