"""The steps and changes of a worker as lines of text for its lead."""

import json
from collections.abc import Iterable, Iterator
from typing import Any

from ..changes.from_steps import collect
from ..model import Step, StepKind, StepStatus
from ..text.sanitize import clean
from ..text.units import line_change

_OUTPUT, _ARGUMENTS, _TEXT = 400, 200, 1_500
"""Characters of a step's texts, unless all are requested."""

_NAMES = {
    StepKind.REASONING: "thinking",
    StepKind.MESSAGE: "response",
    StepKind.ERROR: "error",
    StepKind.NOTICE: "notice",
    StepKind.PROMPT: "prompt",
    StepKind.PLAN: "plan",
    StepKind.WEB_SEARCH: "search",
    StepKind.SUBAGENT: "helper",
}


def step_texts(steps: Iterable[Step], *, full: bool) -> Iterator[str]:
    """Yield each step as text: ``[command] $ make`` with its output and its exit code if that is not 0."""
    for step in steps:
        text = _text(step, full=full)
        if text:
            yield clean(f"{step.index}. {text}").rstrip() + "\n"


def _text(step: Step, *, full: bool) -> str:
    match step.kind:
        case StepKind.USAGE | StepKind.START:
            return ""
        case StepKind.COMMAND:
            return f"[command] $ {_short(step.command or step.text, _TEXT, full)}{_ending(step)}{_output(step, full)}"
        case StepKind.FILE_CHANGE:
            return f"[edit] {_files(step, full)}{_ending(step)}"
        case StepKind.TOOL_CALL:
            name = ".".join(part for part in (step.server, step.tool) if part)
            given = _short(_arguments(step, full), _ARGUMENTS, full)
            return f"[tool] {name}({given}){_ending(step)}{_output(step, full)}"
        case StepKind.PLAN:
            items = "; ".join(f"{item.status}: {item.text}" for item in step.items)
            return f"[plan] {_short(items, _TEXT, full)}"
    line = f"[{_NAMES.get(step.kind, str(step.kind))}] {_short(step.text, _TEXT, full)}"
    return f"{line}{_ending(step)}{_output(step, full)}" if step.text.strip() or step.output else ""


def _ending(step: Step) -> str:
    if step.status is StepStatus.DECLINED:
        return " -> declined: it was not done"
    if step.status is StepStatus.RUNNING:
        return " -> running"
    if step.exit_code:
        return f" -> exit {step.exit_code}"
    return " -> failed" if step.status is StepStatus.FAILED else ""


def _output(step: Step, full: bool) -> str:
    text = _short((step.output or "").strip("\n"), _OUTPUT, full)
    return "".join(f"\n    {line}" for line in text.split("\n")) if text else ""


def _files(step: Step, full: bool) -> str:
    named = []
    for change in step.changes[: None if full else 20]:
        lines = f" ({line_change(*change.lines)})" if change.lines else ""
        diff = f"\n{change.diff}" if full and change.diff else ""
        named.append(f"{change.kind} {change.path}{lines}{diff}")
    return "; ".join(named) or step.text


def _arguments(step: Step, full: bool) -> str:
    if step.arguments is None or isinstance(step.arguments, str):
        return step.arguments or step.text
    return _json(step.arguments, indent=2 if full else None)


def _json(value: Any, indent: int | None) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, default=str, indent=indent)
    except (ValueError, RecursionError):
        return "…"


def _short(text: str, most: int, full: bool) -> str:
    if full or len(text) <= most:
        return text
    return f"{text[:most].rstrip()} … {len(text) - most:,} more characters (full=true)"


def change_lines(steps: Iterable[Step], cwd: str, *, full: bool) -> Iterator[str]:
    """Yield the changed files of the steps, each edit that failed too, with diffs if all is requested."""
    found = collect(steps, cwd)
    for file in found.files:
        counted = line_change(file.added, file.removed) if file.added is not None and file.removed is not None else ""
        edits = f"{file.touched} of {len(file.edits) + file.more_edits} edits took effect"
        yield f"{file.kind or 'unchanged'} {file.path} {counted} ({edits})\n"
        if full:
            yield from (f"{edit.diff.rstrip()}\n" for edit in file.edits if edit.diff and edit.counts)
    if found.more:
        yield f"and {found.more} edits of further files\n"
