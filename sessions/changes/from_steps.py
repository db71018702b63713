"""Steps to files: who was touched, how often, and how many lines came and went.

A fold over any number of steps.  Its memory is bounded by the limits below: what goes beyond them is counted.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping

from msgspec import Struct

from ..model import Change, Step, StepKind, StepStatus
from .diffs import Diff, diff_of
from .model import Edit, FileChanges
from .places import Place, place_of
from .recorded import RecordedChange

MOST_FILES = 10_000
MOST_EDITS = 1_000
"""Of one file."""

MOST_OPEN = 10_000
"""Steps that may be under way at once."""

TEXT_CHARACTERS = 32 << 20
"""Diff text of all edits together."""

FindRecorded = Callable[[Step], Mapping[str, RecordedChange]]
"""What the agent's own transcript holds about a step, by path."""

_Slot = tuple[int, int, int]
"""Turn, step, and place within the step."""


class Collected(Struct, frozen=True, kw_only=True):
    """The files of some steps, in the order in which they were first touched."""

    files: tuple[FileChanges, ...] = ()
    more: int = 0
    """Edits of further files."""


def collect(steps: Iterable[Step], cwd: str, recorded: FindRecorded | None = None) -> Collected:
    """Fold the file changes of steps into files.

    Args:
        steps: in their order; a step that replaces an earlier one by turn and index may come later.
        cwd: the folder to which relative paths are relative.
        recorded: where the diffs are that the steps lack.
    """
    collector = _Collector(cwd, recorded or _nothing)
    for step in steps:
        if step.kind is StepKind.FILE_CHANGE:
            collector.add(step)
    return collector.collected()


def _nothing(_: Step) -> Mapping[str, RecordedChange]:
    return {}


class _Collector:
    def __init__(self, cwd: str, recorded: FindRecorded) -> None:
        self._cwd = cwd
        self._recorded = recorded
        self._files: dict[str, _File] = {}
        self._open: dict[tuple[int, int], list[tuple[_File, _Slot]]] = {}
        self._room = TEXT_CHARACTERS
        self._more = 0

    def add(self, step: Step) -> None:
        """Take one step into account; what it said while it ran is taken back."""
        for earlier, slot in self._open.pop((step.turn, step.index), ()):
            earlier.forget(slot)
        kept = []
        for number, (place, edit) in enumerate(self._edits(step)):
            slot = (step.turn, step.index, number)
            file = self._file(place)
            if file is None:
                self._more += step.status is not StepStatus.RUNNING
            elif file.add(slot, edit):
                kept.append((file, slot))
        if step.status is StepStatus.RUNNING and len(self._open) < MOST_OPEN:
            self._open[step.turn, step.index] = kept

    def collected(self) -> Collected:
        files = tuple(file.value() for file in self._files.values() if not file.empty)
        return Collected(files=files, more=self._more)

    def _file(self, place: Place) -> "_File | None":
        file = self._files.get(place.absolute)
        if file is None and len(self._files) < MOST_FILES:
            file = self._files[place.absolute] = _File(place)
        return file

    def _edits(self, step: Step) -> Iterator[tuple[Place, Edit]]:
        found = self._recorded(step)
        for change in step.changes:
            if change.path:
                yield from self._edits_of(step, change, found.get(change.path))

    def _edits_of(self, step: Step, change: Change, found: RecordedChange | None) -> Iterator[tuple[Place, Edit]]:
        place = place_of(change.path, self._cwd)
        diff = diff_of(change.diff) or (found.diff if found else None)
        if found is None or found.moved_to is None:
            yield place, self._edit(step, change.kind, diff)
            return
        target = place_of(found.moved_to, self._cwd)
        yield place, self._edit(step, "delete", _UNCHANGED, moved_to=target.shown)
        yield target, self._edit(step, "add", diff, moved_from=place.shown)

    def _edit(
        self, step: Step, kind: str, diff: Diff | None, *, moved_to: str | None = None, moved_from: str | None = None
    ) -> Edit:
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
            moved_to=moved_to,
            moved_from=moved_from,
        )


_UNCHANGED = Diff("", 0, 0)
"""A file that was moved away lost no lines: they are counted where it is now."""


class _File:
    """One file, as far as it is known; an edit that is under way can be taken back, one that has ended cannot."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self._edits: dict[_Slot, Edit] = {}
        self._more = 0
        self._kinds: list[tuple[_Slot, str]] = []
        """The first and the last of those that changed it."""
        self._touched = 0
        self._known = 0
        self._added = 0
        self._removed = 0

    @property
    def empty(self) -> bool:
        return not self._edits and not self._more

    def add(self, slot: _Slot, edit: Edit) -> bool:
        """Whether it is kept and not only counted."""
        if slot in self._edits:
            return False
        if edit.counts:
            self._count(slot, edit)
        if len(self._edits) < MOST_EDITS:
            self._edits[slot] = edit
            return True
        self._more += edit.status is not StepStatus.RUNNING
        return False

    def forget(self, slot: _Slot) -> None:
        self._edits.pop(slot, None)

    def _count(self, slot: _Slot, edit: Edit) -> None:
        self._touched += 1
        self._kinds = [min([*self._kinds, (slot, edit.kind)]), max([*self._kinds, (slot, edit.kind)])]
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
            edits=tuple(self._edits[slot] for slot in sorted(self._edits)),
            more_edits=self._more,
        )

    def _kind(self) -> str | None:
        if not self._kinds:
            return None
        (_, first), (_, last) = self._kinds
        return "delete" if last == "delete" else "add" if first == "add" else "update"
