"""The changes of permissions and settings from turn to turn, in words: for the viewer and the exports."""

from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct

from agentdash.sessions.model.session import Turn
from agentdash.sessions.model.turn_mode import TurnMode
from agentdash.sessions.text.sanitize import one_line

_EXCERPT = 40
"""Characters shown of instructions."""

BETWEEN = " · "
"""The separator of changes on one line."""


class ModeChange(Struct, frozen=True):
    """One changed setting: ``sandbox: workspace-write (was read-only)``."""

    text: str
    dangerous: bool = False
    """True if the agent's permissions do not limit it in this turn."""


def changes_by_turn(turns: Iterable[Turn]) -> dict[int, tuple[ModeChange, ...]]:
    """Return what changed in each turn, by its number; a turn with the settings of the one before is left out.

    The first turn is compared with the agent's defaults, and so is the turn after one without a record.
    """
    found: dict[int, tuple[ModeChange, ...]] = {}
    before: TurnMode | None = None
    for turn in turns:
        if turn.mode is not None and (changes := tuple(_changes(turn.mode, before))):
            found[turn.n] = changes
        before = turn.mode
    return found


def line_of(changes: Sequence[ModeChange]) -> str:
    """Return the changes of a turn on one line."""
    return BETWEEN.join(change.text for change in changes)


def _changes(mode: TurnMode, before: TurnMode | None) -> Iterator[ModeChange]:
    usual = before or TurnMode(permissions=mode.default, model=mode.model)
    shown = mode.permissions != usual.permissions or (mode.dangerous and before is None)
    if shown and mode.permissions is not None:
        name = one_line((mode.setting or "permissions").replace("_", " "))
        was = usual.permissions if before else None
        yield ModeChange(_changed(name, mode.permissions, was), mode.dangerous)
    if mode.model != usual.model:
        yield ModeChange(_changed("model", mode.model or "default", usual.model or "default"))
    if mode.search != usual.search:
        yield ModeChange(_changed("search", _switch(mode.search), _switch(usual.search) if before else None))
    if mode.allowed_tools != usual.allowed_tools:
        yield ModeChange(_changed("allowed tools", _list(mode.allowed_tools), _list(usual.allowed_tools, before)))
    if mode.args != usual.args:
        yield ModeChange(_changed("arguments", _list(mode.args), _list(usual.args, before)))
    if (mode.instructions or "") != (usual.instructions or ""):
        yield ModeChange(_instructions(mode.instructions or "", usual.instructions or "", first=before is None))


def _changed(name: str, value: str, was: str | None) -> str:
    return one_line(f"{name}: {value} (was {was})" if was else f"{name}: {value}")


def _switch(value: bool | None) -> str:
    return "default" if value is None else "on" if value else "off"


def _list(words: Sequence[str], before: object = True) -> str:
    return (" ".join(words) or "none") if before else ""


def _instructions(text: str, was: str, *, first: bool) -> str:
    if first:
        return f"instructions: {one_line(text, _EXCERPT)}"
    return "instructions changed" if text and was else "instructions added" if text else "instructions removed"
