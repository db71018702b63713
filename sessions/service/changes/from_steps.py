"""The files that steps changed, with their edits and their counts of added and removed lines.

A fold over any number of steps.  The limits below bound its memory: files and edits beyond them are only counted.
"""

from collections.abc import Iterable

from msgspec import Struct

from agentdash.sessions.model.session import Change, Step, StepKind
from agentdash.sessions.rules.step_outcome import FilePart, parts_of
from agentdash.sessions.service.changes.model import Edit, FileChanges
from agentdash.sessions.text.relative_paths import Place
from agentdash.sessions.text.unified_diff import Diff, beginning

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
    collector = _Collector(cwd)
    for step in steps:
        if step.kind is StepKind.FILE_CHANGE:
            collector.add(step)
    return collector.collected()


class _Collector:
    def __init__(self, cwd: str) -> None:
        self._cwd = cwd
        self._files: dict[str, _File] = {}
        self._room = TEXT_CHARACTERS
        self._more = 0

    def add(self, step: Step) -> None:
        """Add the edits of one step."""
        for part in parts_of(step, self._cwd):
            file, edit = self._file(part.place), self._edit(step, part)
            if file is None:
                self._more += 1
            else:
                file.add(edit)

    def collected(self) -> Collected:
        return Collected(files=tuple(file.value() for file in self._files.values()), more=self._more)

    def _file(self, place: Place) -> "_File | None":
        file = self._files.get(place.absolute)
        if file is None and len(self._files) < MOST_FILES:
            file = self._files[place.absolute] = _File(place)
        return file

    def _edit(self, step: Step, part: FilePart) -> Edit:
        kind, diff = part.change.kind, _diff_of(part.change)
        fits = diff is not None and len(diff.text) <= self._room
        text = diff.text if diff is not None and fits and not (diff.cut and not diff.text) else None
        self._room -= len(text or "")
        return Edit(
            turn=step.turn,
            index=step.index,
            kind=kind if kind in ("add", "delete") else "update",
            status=step.status,
            at=step.ended_at if step.ended_at is not None else step.at,
            diff=text,
            added=diff.added if diff else None,
            removed=diff.removed if diff else None,
            cut=diff is not None and (diff.cut or not fits),
            moved_to=part.change.moved_to,
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
        self._touched = 0
        self._known = 0
        self._added = 0
        self._removed = 0

    def add(self, edit: Edit) -> None:
        if edit.counts:
            self._count(edit)
        if len(self._edits) < MOST_EDITS:
            self._edits.append(edit)
        else:
            self._more += 1

    def _count(self, edit: Edit) -> None:
        self._touched += 1
        self._kinds = (self._kinds[0] if self._kinds else edit.kind, edit.kind)
        if edit.added is not None and edit.removed is not None:
            self._known += 1
            self._added += edit.added
            self._removed += edit.removed

    def value(self) -> FileChanges:
        return FileChanges(
            path=self._place.shown,
            absolute=self._place.absolute,
            kind=self._kind(),
            touched=self._touched,
            added=self._added if self._known else None,
            removed=self._removed if self._known else None,
            partial=0 < self._known < self._touched,
            edits=tuple(self._edits),
            more_edits=self._more,
        )

    def _kind(self) -> str | None:
        if self._kinds is None:
            return None
        first, last = self._kinds
        return "delete" if last == "delete" else "add" if first == "add" else "update"


def _diff_of(change: Change) -> Diff | None:
    """Return the diff of a change, with the counts of the whole if only a part is kept; None if it is not known."""
    return None if change.lines is None else beginning(change.diff or "", *change.lines, cut=change.cut)
