"""A step of an agent in one short line, and how it ended, in words for another agent.  Pure."""

from ...conversation.interrupted import CALLS, FOR_THE_MODEL, closed, is_interrupted
from ...model import Change, Step, StepStatus
from ...text import units
from ...text.json_text import json_text
from ...text.sanitize import one_line, shorten
from .. import blocks
from ..blocks import describe

COMMAND, ARGUMENTS, PATH = 300, 160, 200
"""The most characters of a command, of arguments and of a path."""

_FILES = 20
"""The most files of one step that are named."""

_READ = 4_000
"""Characters of a text that are read: its line is cut anyway."""


def in_short(step: Step) -> str | None:
    """Return what a step did and how it ended, for a turn that has ended; None if it did nothing worth a line."""
    step = closed(step)
    if step.kind not in CALLS:
        return None
    return " -> ".join(filter(None, (_action(step), ending(step))))


def _action(step: Step) -> str:
    match describe(step).body[0]:
        case blocks.Code(text=text):
            return f"$ {_line(text, COMMAND)}"
        case blocks.Files() as files:
            return file_words(files, _FILES, PATH) or f"files: {_line(files.text, COMMAND)}"
        case blocks.Call() as call:
            given = json_text(call.arguments) or call.purpose
            return f"{_line(call.tool, ARGUMENTS) or step.kind}({_line(given, ARGUMENTS)})"
    return ""


def file_words(files: blocks.Files, most: int | None, path: int) -> str:
    """Return the changed files and how they changed: ``update a.py (+2 -1); delete b.py``; "" if none is named.

    Args:
        files: the files.
        most: the most files that are named, the others are counted; None for all.
        path: the most characters of a path.
    """
    more = max(0, len(files.changes) - most) if most is not None else 0
    named = [_file(change, path) for change in files.changes[:most]]
    return "; ".join([*named, *([units.count(more, "more file")] if more else [])])


def _file(change: Change, path: int) -> str:
    moved = f" to {_line(change.moved_to, path)}" if change.moved_to else ""
    lines = f" ({units.line_change(*change.lines)})" if change.lines else ""
    return f"{_line(change.kind, path) or 'change'} {_line(change.path, path)}{moved}{lines}"


def ending(step: Step) -> str:
    """Return how a call ended, in words for an agent: ``exit 1``; "" for a success without an exit code."""
    if is_interrupted(step):
        return FOR_THE_MODEL
    if step.status is StepStatus.DECLINED:
        return "declined: it was not done"
    if step.status is StepStatus.RUNNING:
        return "running"
    if step.exit_code is not None:
        return f"exit {step.exit_code}"
    return "failed" if step.status is StepStatus.FAILED else ""


def _line(text: str, length: int) -> str:
    return shorten(one_line(text[:_READ]), length)
