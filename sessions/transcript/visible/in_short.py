"""A step of an agent in one short line, and how it ended, in words for another agent.  Pure."""

import json
from typing import Any

from ...conversation.interrupted import CALLS, FOR_THE_MODEL, closed, is_interrupted
from ...model import Change, Step, StepKind, StepStatus
from ...text.sanitize import one_line, shorten

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
    if step.kind is StepKind.COMMAND:
        return f"$ {_line(step.command or step.text, COMMAND)}"
    if step.kind is StepKind.FILE_CHANGE:
        return _files(step)
    name = ".".join(_line(part, ARGUMENTS) for part in (step.server, step.tool) if part) or step.kind
    given = _line(step.text if step.arguments is None else arguments_text(step.arguments), ARGUMENTS)
    return f"{name}({given})"


def _files(step: Step) -> str:
    named = [_file(change) for change in step.changes[:_FILES]]
    more = len(step.changes) - len(named)
    return "; ".join([*named, *([f"{more} more files"] if more else [])]) or f"files: {_line(step.text, COMMAND)}"


def _file(change: Change) -> str:
    moved = f" to {_line(change.moved_to, PATH)}" if change.moved_to else ""
    lines = f" (+{change.lines[0]} -{change.lines[1]})" if change.lines else ""
    return f"{_line(change.kind, PATH) or 'change'} {_line(change.path, PATH)}{moved}{lines}"


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


def arguments_text(arguments: Any, indent: int | None = None) -> str:
    """Return the arguments of a call as JSON, or as they are if they are a text; "" if there are none."""
    if arguments is None or isinstance(arguments, str):
        return arguments or ""
    try:
        return json.dumps(arguments, ensure_ascii=False, default=str, indent=indent)
    except (ValueError, RecursionError):
        return "…"


def _line(text: str, length: int) -> str:
    return shorten(one_line(text[:_READ]), length)
