"""The result of a step: whether it took effect, and the files of its changes.

The one answer for digests, changes, exports, the viewer, the loops and leads."""

from collections.abc import Iterator

from msgspec import Struct, structs

from agentdash.sessions.model.session import Change, Step, StepKind, StepStatus
from agentdash.sessions.text.relative_paths import Place, place_of


def took_effect(status: StepStatus | None) -> bool:
    """Return whether an edit with this ending changed its file: not if it failed, was refused, interrupted or runs."""
    return status in (None, StepStatus.OK)


def failed(step: Step) -> bool:
    """Return whether a step failed, by its status; by its exit code only if the agent reports no status.

    A refused or interrupted step has neither failed nor succeeded.
    """
    return step.status is StepStatus.FAILED or (step.status is None and bool(step.exit_code))


STOPPED_BY_PROGRAM = ("The user doesn't want to ", "[Request interrupted by user")
"""The beginnings of the words that claude puts in the place of the result of a call that was interrupted."""


def told_by_program(step: Step) -> bool:
    """Return whether the output of a call is not the call's own: the agent's program says that it did not end."""
    if step.status is StepStatus.INTERRUPTED:
        return (step.output or "").startswith(STOPPED_BY_PROGRAM)
    return step.status is StepStatus.DECLINED


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
                continue
            new, unchanged = place_of(change.moved_to, cwd), None if change.lines is None else 0
            left = Change(path=change.path, kind="delete", added=unchanged, removed=unchanged, moved_to=new.shown)
            yield FilePart(place=place, change=left)
            moved = structs.replace(change, kind="add", moved_to=None)
            yield FilePart(place=new, change=moved, moved_from=place.shown)
