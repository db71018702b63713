"""A step as styled lines: pure, so that the look of every kind of step can be tested without a screen.

All text comes from an agent: it is cleaned here, and it is never markup.  What is long is folded, its beginning and
its end shown and the rest counted.
"""

import json
from collections.abc import Callable, Iterable
from typing import Any

from msgspec import Struct

from ..sessions.model import Change, Step, StepKind, StepStatus
from ..sessions.text import cell_width, clean, cut, one_line, shorten
from . import words
from .signs import UNICODE, Signs
from .wrap import wrap

OUTPUT_HEAD, OUTPUT_TAIL = 3, 3
"""Lines of output that are shown from its beginning and its end."""

FOLD = {StepKind.MESSAGE: 400, StepKind.PROMPT: 12, StepKind.REASONING: 12}
"""Lines that a text may have; other kinds get ``DEFAULT_FOLD``."""

DEFAULT_FOLD = 8
LINE_LIMIT = 2_000
"""Characters of one line; a minified file is not worth a thousand rows."""

EDGE = 4_000
"""Characters of an output that are looked at from each end, so that a huge one costs no more."""

Span = tuple[str, str]
"""Text and the role of its colour."""

Row = tuple[Span, ...]


class Line(Struct, frozen=True):
    """One line before it is wrapped; ``tail`` stands at the right end of its first row."""

    text: str
    role: str = "text"
    tail: str = ""
    tail_role: str = "dim"
    mark: str = ""
    mark_role: str = ""


def step_rows(step: Step, width: int, *, heading: bool = False, signs: Signs = UNICODE) -> list[Row]:
    """The step wrapped to ``width`` cells; ``heading`` puts the name of its turn above it."""
    indent = "    " if step.parent else ""
    rows: list[Row] = [turn_heading(step.turn, width, signs)] if heading else []
    for line in step_lines(step, signs):
        rows.extend(_rows(line, indent, width))
    return rows


def step_lines(step: Step, signs: Signs = UNICODE) -> list[Line]:
    """The lines of a step, the first one marked with the character of its kind."""
    first, *rest = _RENDERERS.get(step.kind, _text)(step, signs)
    mark = first.mark or signs.kinds[step.kind]
    first = Line(first.text, first.role, first.tail, first.tail_role, mark, first.mark_role or first.role)
    return [first, *rest]


def turn_heading(turn: int, width: int, signs: Signs = UNICODE) -> Row:
    """The rule above the first step of a turn."""
    label = f"{signs.rule * 2} turn {turn} "
    return ((label + signs.rule * max(0, width - len(label)), "rule"),)


def _rows(line: Line, indent: str, width: int) -> Iterable[Row]:
    """The first row carries mark and tail; all hang below the text, not below the mark."""
    margin = indent + " " * (max(1, cell_width(line.mark)) + 1)
    room = width - len(margin)
    # A tail on a narrow row would leave the text no room: it gets a row of its own.
    beside = bool(line.tail) and cell_width(line.tail) + 16 <= room
    text_room = room - cell_width(line.tail) - 2 if beside else room
    for number, text in enumerate(wrap(line.text, text_room)):
        head = (f"{indent}{line.mark} " if line.mark else margin, line.mark_role) if number == 0 else (margin, "")
        spans: Row = (head, (text, line.role))
        if beside and number == 0:
            gap = " " * (room - cell_width(text) - cell_width(line.tail))
            spans = (*spans, (gap, ""), (line.tail, line.tail_role))
        yield spans
    if line.tail and not beside:
        yield (margin, ""), (cut(line.tail, room), line.tail_role)


def _text(step: Step, _: Signs) -> list[Line]:
    role = _TEXT_ROLES.get(step.kind, "text")
    return [Line(text, role) for text in _folded(step.text, FOLD.get(step.kind, DEFAULT_FOLD))]


_TEXT_ROLES = {
    StepKind.PROMPT: "prompt",
    StepKind.REASONING: "dim",
    StepKind.ERROR: "failure",
    StepKind.NOTICE: "dim",
}


def _start(step: Step, _: Signs) -> list[Line]:
    told = " ".join(filter(None, (step.model, step.agent_session))) or step.text
    return [Line(one_line(told, 400), "dim")]


def _command(step: Step, signs: Signs) -> list[Line]:
    first, *rest = _folded(step.command or step.text, DEFAULT_FOLD)
    note = f"exit {step.exit_code}" if step.exit_code else ""
    tail, role = _ending(step, note, signs)
    return [Line(first, "command", tail, role), *(Line(text, "command") for text in rest), *_output(step)]


def _tool(step: Step, signs: Signs) -> list[Line]:
    name = one_line(".".join(filter(None, (step.server, step.tool))), 80)
    arguments = "" if step.arguments is None else shorten(one_line(_as_text(step.arguments)), 200)
    call = f"{name}({arguments})" if name else arguments or shorten(one_line(step.text), 200)
    tail, role = _ending(step, "", signs)
    return [Line(call, "text", tail, role), *_output(step)]


def _changes(step: Step, signs: Signs) -> list[Line]:
    tail, role = _ending(step, "", signs)
    if not step.changes:
        return [Line(shorten(one_line(step.text), 400), "text", tail, role)]
    first, *rest = [f"{words.place(one_line(change.path))}{_extent(change)}" for change in step.changes[:DEFAULT_FOLD]]
    lines = [Line(first, "text", tail, role), *(Line(text) for text in rest)]
    more = len(step.changes) - DEFAULT_FOLD
    if more > 0:
        lines.append(Line(f"… {words.count(more, 'file')} more", "dim"))
    return [*lines, *_output(step)] if step.status in (StepStatus.FAILED, StepStatus.DECLINED) else lines


def _extent(change: Change) -> str:
    kind = "" if change.kind == "update" else f"  {one_line(change.kind)}"
    return kind + line_counts(change.diff)


def line_counts(diff: str | None) -> str:
    """How many lines came and went, where the agent gives a diff: ``  +4 -1``."""
    if not diff:
        return ""
    lines = diff.split("\n")
    plus = sum(line.startswith("+") and not line.startswith("+++ ") for line in lines)
    minus = sum(line.startswith("-") and not line.startswith("--- ") for line in lines)
    return f"  +{plus} -{minus}"


def _plan(step: Step, signs: Signs) -> list[Line]:
    if not step.items:
        return _text(step, signs)
    lines = []
    for item in step.items:
        mark = signs.plan.get(item.status, signs.plan["pending"])
        role = "dim" if item.status == "completed" else "text"
        lines.append(Line(one_line(item.text, 400), role, mark=mark, mark_role=role))
    return lines


def _usage(step: Step, _: Signs) -> list[Line]:
    usage = step.usage
    parts = []
    if usage is not None and usage.known:
        cached = f" ({words.tokens(usage.cached_input_tokens)} cached)" if usage.cached_input_tokens else ""
        parts = [f"{words.tokens(usage.input_tokens)} in{cached}", f"{words.tokens(usage.output_tokens)} out"]
    if step.cost_usd is not None:
        parts.append(words.money(step.cost_usd))
    return [Line(" · ".join(parts) or shorten(one_line(step.text), 200) or "usage unknown", "dim")]


def _unknown(step: Step, _: Signs) -> list[Line]:
    event = f"{one_line(step.event)}  " if step.event else ""
    return [Line(event + shorten(one_line(step.text[:EDGE]), 400), "attention")]


def _output(step: Step) -> list[Line]:
    """The first and the last lines of what a command printed."""
    text = step.output or ""
    if not text.strip():
        return []
    total = text.rstrip("\n").count("\n") + 1
    if total <= OUTPUT_HEAD + OUTPUT_TAIL + 1 and len(text) <= 2 * EDGE:
        return [Line(line, "output") for line in _split(text)]
    head, tail = _split(text[:EDGE])[:OUTPUT_HEAD], _split(text[-EDGE:])[-OUTPUT_TAIL:]
    more = max(0, total - len(head) - len(tail))
    middle = [Line(f"… {words.count(more, 'line')} more", "dim")] if more else []
    return [*(Line(line, "output") for line in head), *middle, *(Line(line, "output") for line in tail)]


def _folded(text: str, limit: int) -> list[str]:
    """At most ``limit`` lines, and how many more there are."""
    lines = _split(text)
    if len(lines) <= limit + 1:
        return lines or [""]
    return [*lines[:limit], f"… {len(lines) - limit} lines more"]


def _split(text: str) -> list[str]:
    lines = clean(text).strip("\n").expandtabs(4).split("\n")
    return [shorten(line.rstrip(), LINE_LIMIT) for line in lines]


def _ending(step: Step, note: str, signs: Signs) -> tuple[str, str]:
    """How and how fast a step ended, and the role of that."""
    known = step.at is not None and step.ended_at is not None
    took = words.duration(step.ended_at - step.at) if known else ""  # type: ignore[operator]
    if step.status is None:
        return "  ".join(filter(None, (note, took))), "dim"
    ending = " ".join(filter(None, (signs.endings[step.status], note)))
    return "  ".join(filter(None, (ending, took))), ENDING_ROLES[step.status]


ENDING_ROLES = {
    StepStatus.OK: "dim",
    StepStatus.FAILED: "failure",
    StepStatus.DECLINED: "attention",
    StepStatus.INTERRUPTED: "dim",
    StepStatus.RUNNING: "running",
}
"""The meaning of how a step ended."""


def _as_text(arguments: Any) -> str:
    if isinstance(arguments, str):
        return arguments
    if isinstance(arguments, dict) and len(arguments) == 1:
        value = next(iter(arguments.values()))
        if isinstance(value, str):
            return json.dumps(value, ensure_ascii=False)
    return json.dumps(arguments, ensure_ascii=False, default=str)


_RENDERERS: dict[StepKind, Callable[[Step, Signs], list[Line]]] = {
    StepKind.START: _start,
    StepKind.COMMAND: _command,
    StepKind.TOOL_CALL: _tool,
    StepKind.WEB_SEARCH: _tool,
    StepKind.SUBAGENT: _tool,
    StepKind.FILE_CHANGE: _changes,
    StepKind.PLAN: _plan,
    StepKind.USAGE: _usage,
    StepKind.UNKNOWN: _unknown,
}
