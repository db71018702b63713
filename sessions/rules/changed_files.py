"""The files of a step's changes: the one answer for changes, digests, exports and leads."""

from collections.abc import Iterator

from msgspec import Struct, structs

from ..model import Change, Step, StepKind
from ..text.relative_paths import Place, place_of
from .step_outcome import took_effect


class FilePart(Struct, frozen=True, kw_only=True):
    """The part of a step's changes that concerns one file."""

    place: Place
    change: Change
    moved_from: str | None = None


def changed_files(step: Step, cwd: str) -> Iterator[tuple[Place, tuple[int, int] | None]]:
    """Yield the files that a step changed, with their added and removed lines; None if their diff is not known.

    A step without an effect changed none.
    """
    if step.kind is StepKind.FILE_CHANGE and took_effect(step.status):
        for part in parts_of(step, cwd):
            yield part.place, part.change.lines


def parts_of(step: Step, cwd: str) -> Iterator[FilePart]:
    """Yield the parts of a step's changes; a move has one at the old path, and one with the lines at the new path."""
    for change in step.changes:
        if change.path:
            place = place_of(change.path, cwd)
            if change.moved_to is None:
                yield FilePart(place=place, change=change)
            else:
                yield from _moved(change, place, place_of(change.moved_to, cwd))


def _moved(change: Change, old: Place, new: Place) -> Iterator[FilePart]:
    unchanged = None if change.lines is None else 0
    left = Change(path=change.path, kind="delete", added=unchanged, removed=unchanged, moved_to=new.shown)
    yield FilePart(place=old, change=left)
    yield FilePart(place=new, change=structs.replace(change, kind="add", moved_to=None), moved_from=old.shown)
