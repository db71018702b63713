"""The files that steps changed, with their edits and their counts of added and removed lines.

A fold over any number of steps.  The limits below bound its memory: files and edits beyond them are only counted.
"""

from collections.abc import Iterable

from msgspec import Struct

from agentdash.sessions.model.session import Step, StepKind
from agentdash.sessions.rules.step_outcome import FilePart, parts_of
from agentdash.sessions.service.changes.model import Edit, FileChanges
from agentdash.sessions.text.relative_paths import Place
from agentdash.sessions.text.unified_diff import beginning

MOST_FILES = 10_000
MOST_EDITS = 1_000
"""The most edits of one file."""

TEXT_CHARACTERS = 32 << 20
"""The most characters of diffs, for all edits together."""


class Collected(Struct, frozen=True, kw_only=True):
    """The files that steps changed, in the order in which they were first touched."""

    files: tuple[FileChanges, ...] = ()
    more: int = 0
    """The number of edits of further files."""


def collect(steps: Iterable[Step], cwd: str) -> Collected:
    """Fold the file changes of steps into files.

    Args:
        steps: each in its last form, in the order of turn and index.
        cwd: the folder against which relative paths are resolved.
    """
    files: dict[str, _File] = {}
    room, more = TEXT_CHARACTERS, 0
    for step in steps:
        for part in parts_of(step, cwd) if step.kind is StepKind.FILE_CHANGE else ():
            edit, place = _edit(step, part, room), part.place.absolute
            room -= len(edit.diff or "")
            if place not in files and len(files) < MOST_FILES:
                files[place] = _File(part.place)
            if place in files:
                files[place].add(edit)
            else:
                more += 1
    return Collected(files=tuple(file.value() for file in files.values()), more=more)


def _edit(step: Step, part: FilePart, room: int) -> Edit:
    change = part.change
    # The counts are those of the whole, if only a part of the diff is kept.
    diff = None if change.lines is None else beginning(change.diff or "", *change.lines, cut=change.cut)
    fits = diff is not None and len(diff.text) <= room
    return Edit(
        turn=step.turn,
        index=step.index,
        kind=change.kind if change.kind in ("add", "delete") else "update",
        status=step.status,
        at=step.ended_at if step.ended_at is not None else step.at,
        diff=diff.text if diff is not None and fits and not (diff.cut and not diff.text) else None,
        added=diff.added if diff else None,
        removed=diff.removed if diff else None,
        cut=diff is not None and (diff.cut or not fits),
        moved_to=change.moved_to,
        moved_from=part.moved_from,
    )


class _File:
    """The edits of one file so far."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self._edits: list[Edit] = []
        self._more = 0
        self._kinds: tuple[str, str] | None = None
        """The kinds of the first and the last edit that changed the file."""
        self._touched = self._known = self._added = self._removed = 0

    def add(self, edit: Edit) -> None:
        if len(self._edits) < MOST_EDITS:
            self._edits.append(edit)
        else:
            self._more += 1
        if not edit.counts:
            return
        self._touched += 1
        self._kinds = (self._kinds[0] if self._kinds else edit.kind, edit.kind)
        if edit.added is not None and edit.removed is not None:
            self._known += 1
            self._added += edit.added
            self._removed += edit.removed

    def value(self) -> FileChanges:
        first, last = self._kinds or (None, None)
        return FileChanges(
            path=self._place.shown,
            absolute=self._place.absolute,
            kind=last if last in ("delete", None) else "add" if first == "add" else "update",
            touched=self._touched,
            added=self._added if self._known else None,
            removed=self._removed if self._known else None,
            partial=0 < self._known < self._touched,
            edits=tuple(self._edits),
            more_edits=self._more,
        )
