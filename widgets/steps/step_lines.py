"""A step as styled lines: pure, so that the look of every kind of step can be tested without a screen.

All text comes from an agent: it is cleaned here, and it is never markup.  What is long is folded, its beginning and
its end shown and the rest counted.
"""

import json
from collections.abc import Callable, Iterable
from typing import Any

from msgspec import Struct, structs

from ...sessions.model import Change, Step, StepKind, StepStatus, Usage
from ...sessions.text import units
from ...sessions.text.sanitize import cell_width, clean, cut, cut_left, one_line, shorten
from ...sessions.text.unified_diff import FILE, classified
from ...sessions.text.units import line_change
from ..document.markdown import Markdown
from ..drawing.glyphs import UNICODE, Signs
from ..drawing.short_forms import below
from ..drawing.spans import Row
from ..drawing.step_roles import DIFF_ROLES, ENDING_ROLES
from ..drawing.wrap import wrap

BRIEF, USUAL, WHOLE = range(3)
"""How much of a step is shown: one line, its beginning and end, everything."""

OUTPUT_HEAD, OUTPUT_TAIL = 3, 3
"""Lines of output that are shown from its beginning and its end."""

FOLD = {StepKind.MESSAGE: 400, StepKind.PROMPT: 12, StepKind.REASONING: 12, StepKind.PLAN: 50}
"""Lines that a text may have; other kinds get ``DEFAULT_FOLD``."""

DEFAULT_FOLD = 8
MOST_LINES = 2_000
"""Lines of one text that a list shows even where everything is wanted; a pane of its own shows the others."""

LINE_LIMIT = 2_000
"""Characters of one line; a minified file is not worth a thousand rows."""

EDGE = 4_000
"""Characters of an output that are looked at from each end, so that a huge one costs no more."""

NAME = 400
"""Cells of a path, a conversation or a task; longer ones only want to fill the screen."""

SET_OUT = 8_000
"""Characters of a message that is set out as Markdown; a longer one is shown as it was written."""


class Manner(Struct, frozen=True):
    """How steps are shown."""

    signs: Signs = UNICODE
    level: int = USUAL
    now: int | None = None
    """UTC ms, for the age of what runs."""
    cwd: str | None = None
    """Paths below it are shown from there on."""


class Line(Struct, frozen=True):
    """One line before it is wrapped; ``tail`` stands at the right end of its first row."""

    text: str
    role: str = "text"
    tail: str = ""
    tail_role: str = "dim"
    mark: str = ""
    mark_role: str = ""


def step_rows(step: Step, width: int, manner: Manner = Manner()) -> list[Row]:  # noqa: B008 - it is frozen
    """The step wrapped to ``width`` cells, or its one line cut to them."""
    indent = f"  {manner.signs.nested} " if step.parent else ""
    if manner.level != BRIEF and step.kind in _PROSE and len(step.text) <= SET_OUT:
        return _prose(step, indent, width, manner)
    lines = step_lines(step, manner)
    if manner.level == BRIEF:
        return [_brief(_in_short(step, lines), indent, width)]
    rows: list[Row] = []
    for line in lines:
        rows.extend(_rows(line, indent, width))
    return rows


_PROSE = {StepKind.MESSAGE: "text", StepKind.REASONING: "dim"}
"""Kinds whose texts are Markdown, and the role of their words."""


def _prose(step: Step, indent: str, width: int, manner: Manner) -> list[Row]:
    """A text set out, below its mark; folded after as many rows as the kind may have lines."""
    role = _PROSE[step.kind]
    mark = f"{indent}{manner.signs.kinds[step.kind]} "
    margin = indent + " " * (cell_width(mark) - cell_width(indent))
    block = Markdown(step.text, signs=manner.signs)
    room = _room(step.kind, manner)
    rows: list[Row] = []
    for item in range(len(block)):
        rows += [_in_role(row, role) for row in block.rows(item, width - cell_width(mark))]
        if len(rows) > room + 1:
            more = cut(f"… more of {units.count(len(step.text), 'character')}", width - cell_width(mark))
            rows = [*rows[:room], ((more, "dim"),)]
            break
    return [((mark if number == 0 else margin, role), *row) for number, row in enumerate(rows or [()])]


def _in_role(row: Row, role: str) -> Row:
    return tuple((text, role if own == "text" else own) for text, own in row) if role != "text" else row


def step_lines(step: Step, manner: Manner = Manner()) -> list[Line]:  # noqa: B008 - it is frozen
    """The lines of a step, the first one marked with the character of its kind."""
    first, *rest = _RENDERERS.get(step.kind, _text)(step, manner)
    mark = first.mark or manner.signs.kinds[step.kind]
    first = Line(first.text, first.role, first.tail, first.tail_role, mark, first.mark_role or first.role)
    return [first, *rest]


def rule(label: str, width: int, signs: Signs = UNICODE, *, note: str = "", role: str = "rule") -> Row:
    """A line across, with words near its beginning and a note at its end."""
    left = cut(f"{signs.rule * 2} {label} ", width)
    right = f" {note} {signs.rule * 2}" if note and cell_width(left) + cell_width(note) + 6 <= width else ""
    return ((left + signs.rule * max(0, width - cell_width(left) - cell_width(right)) + right, role),)


def _in_short(step: Step, lines: list[Line]) -> Line:
    """The line that stands for a step: the first one, or what a list of things comes to."""
    if step.kind is StepKind.PLAN and step.items:
        done = sum(item.status == "completed" for item in step.items)
        return structs.replace(lines[0], text=f"{done} of {units.count(len(step.items), 'task')} done")
    if len(step.changes) > 1:
        return structs.replace(lines[0], text=f"{lines[0].text}  and {units.count(len(step.changes) - 1, 'file')} more")
    return lines[0]


def _brief(line: Line, indent: str, width: int) -> Row:
    """A line, cut; how it ended stays as long as there is room for some words."""
    head = f"{indent}{line.mark} "
    tail = f"  {line.tail}" if line.tail else ""
    room = width - cell_width(head) - cell_width(tail)
    if room < _BRIEF_ROOM:
        tail, room = "", width - cell_width(head)
    text = cut(" ".join(line.text.split()), room)
    gap = " " * (room - cell_width(text)) if tail else ""
    return (head, line.mark_role), (text, line.role), (gap, ""), (tail, line.tail_role)


_BRIEF_ROOM = 16
"""Cells that the words of a step keep before how it ended is left out."""


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


def _text(step: Step, manner: Manner) -> list[Line]:
    role = _TEXT_ROLES.get(step.kind, "text")
    return [Line(text, role) for text in _folded(step.text, _room(step.kind, manner))]


def _room(kind: StepKind, manner: Manner) -> int:
    """How many lines a text may have."""
    return MOST_LINES if manner.level == WHOLE else FOLD.get(kind, DEFAULT_FOLD)


_TEXT_ROLES = {
    StepKind.PROMPT: "prompt",
    StepKind.REASONING: "dim",
    StepKind.NOTICE: "dim",
}


def _error(step: Step, manner: Manner) -> list[Line]:
    """What failed for good is told apart from what went on."""
    role, tail = ("attention", "not fatal") if step.fatal is False else ("failure", "fatal" if step.fatal else "")
    first, *rest = _folded(step.text, _room(step.kind, manner))
    lines = [Line(first, role, tail, role), *(Line(text, role) for text in rest)]
    return [*lines, *_start_failure(step, manner)] if step.command is not None else lines


def _start_failure(step: Step, manner: Manner) -> list[Line]:
    """What was run, what it said before it ended, and what can be done about it."""
    said = [Line(line, "output") for line in _folded(step.output, MOST_LINES)] if step.output else []
    command = Line(one_line(step.command or "", LINE_LIMIT), "command", mark=manner.signs.kinds[StepKind.COMMAND])
    return [command, *said, Line("R sends the prompt again   S shows all of stderr   = explains", "dim")]


def _start(step: Step, _: Manner) -> list[Line]:
    told = " ".join(filter(None, (step.model, step.agent_session))) or step.text
    return [Line(one_line(told, NAME), "dim")]


def _command(step: Step, manner: Manner) -> list[Line]:
    first, *rest = _folded(step.command or step.text, _room(step.kind, manner))
    note = f"exit {step.exit_code}" if step.exit_code else ""
    tail, role = _ending(step, note, manner)
    return [Line(first, "command", tail, role), *(Line(text, "command") for text in rest), *_output(step, manner)]


def _tool(step: Step, manner: Manner) -> list[Line]:
    name = one_line(".".join(name[:EDGE] for name in (step.server, step.tool) if name), 80)
    arguments = "" if step.arguments is None else shorten(one_line(_as_text(step.arguments)), 200)
    call = f"{name}({arguments})" if name else arguments or shorten(one_line(step.text), 200)
    tail, role = _ending(step, "", manner)
    return [Line(call, "text", tail, role), *_output(step, manner)]


def _changes(step: Step, manner: Manner) -> list[Line]:
    tail, role = _ending(step, "", manner)
    if not step.changes:
        return [Line(shorten(one_line(step.text), 400), "text", tail, role)]
    room = MOST_LINES if manner.level == WHOLE else DEFAULT_FOLD
    lines: list[Line] = []
    for change in step.changes[:room]:
        path = cut_left(below(one_line(change.path), manner.cwd), NAME)
        lines.append(Line(f"{path}{_extent(change)}"))
        lines += _diff(change.diff, room if len(step.changes) == 1 or manner.level == WHOLE else 0)
    first, *rest = lines
    more = len(step.changes) - room
    if more > 0:
        rest.append(Line(f"… {units.count(more, 'file')} more", "dim"))
    failed = step.status in (StepStatus.FAILED, StepStatus.DECLINED)
    return [Line(first.text, "text", tail, role), *rest, *(_output(step, manner) if failed else [])]


def _diff(diff: str | None, room: int) -> list[Line]:
    """The first lines of a diff, each with the colour of what it says."""
    if not diff or not room:
        return []
    shown: list[Line] = []
    more = diff.rstrip("\n").count("\n") + 1
    for kind, line in classified(diff):
        if len(shown) == room:
            break  # what is folded away is only counted
        more -= 1
        if kind != FILE:
            shown.append(Line(_clean_line(line), DIFF_ROLES.get(kind, "output")))
    return [*shown, Line(f"… {units.count(more, 'line')} more", "dim")] if more > 0 else shown


def _extent(change: Change) -> str:
    """The kind of a change, unless it is the usual one, the new path, and the lines that came and went."""
    kind = "" if change.kind == "update" else f"  {one_line(change.kind, 20)}"
    moved = f"  moved to {cut_left(one_line(change.moved_to), NAME)}" if change.moved_to else ""
    return kind + moved + (f"  {line_change(*change.lines)}" if change.lines else "")


def _plan(step: Step, manner: Manner) -> list[Line]:
    if not step.items:
        return _text(step, manner)
    plan, room = manner.signs.plan, _room(StepKind.PLAN, manner)
    lines = []
    for item in step.items[:room]:
        mark = plan.get(item.status, plan["pending"])
        role = "dim" if item.status == "completed" else "text"
        lines.append(Line(one_line(item.text, NAME), role, mark=mark, mark_role=role))
    more = len(step.items) - room
    return [*lines, Line(f"… {units.count(more, 'task')} more", "dim")] if more > 0 else lines


def _usage(step: Step, _: Manner) -> list[Line]:
    return [Line(usage_words(step), "dim")]


def usage_words(step: Step) -> str:
    """Tokens and cost, with whose they are: ``1.2k in (200 cached) · 30 out · thread: 4.8k in · 92 out``.

    The first counts are those of the turn.  A count of the whole conversation is called ``thread``; it is left out if
    the turn is all of it.
    """
    total, own = step.usage, step.turn_usage if step.whole_thread else step.usage
    parts = [_tokens(own)] if own is not None and own.known else []
    if total is not None and total.known and total != own:
        parts.append(f"thread: {_tokens(total)}")
    if step.cost_usd is not None:
        parts.append(units.money(step.cost_usd))
    said = "" if step.whole_thread else shorten(one_line(step.text[:EDGE]), 200)
    return " · ".join(parts) or said or "no usage reported"


def _tokens(usage: Usage) -> str:
    """The known counts; what is a part of one stands behind it."""
    counts = (
        ("in", usage.input_tokens, "cached", usage.cached_input_tokens),
        ("out", usage.output_tokens, "reasoning", usage.reasoning_output_tokens),
    )
    parts = []
    for name, number, part, of_it in counts:
        inner = f" ({units.tokens(of_it)} {part})" if of_it else ""
        if number is not None or inner:
            parts.append(f"{units.tokens(number)} {name}{inner}")
    return " · ".join(parts) or f"{units.tokens(usage.total_tokens)} in all"


def _unknown(step: Step, _: Manner) -> list[Line]:
    event = f"{one_line(step.event[:EDGE], 80)}  " if step.event else ""
    return [Line(event + shorten(one_line(step.text[:EDGE]), 400), "attention")]


def _output(step: Step, manner: Manner) -> list[Line]:
    """The first and the last lines of what a command printed, or all of them."""
    text = step.output or ""
    if not text.strip():
        return []
    if manner.level == WHOLE:
        return [Line(line, "output") for line in _folded(text, MOST_LINES)]
    total = text.rstrip("\n").count("\n") + 1
    if total <= OUTPUT_HEAD + OUTPUT_TAIL + 1 and len(text) <= 2 * EDGE:
        return [Line(line, "output") for line in _split(text)]
    head, tail = _split(text[:EDGE])[:OUTPUT_HEAD], _split(text[-EDGE:])[-OUTPUT_TAIL:]
    more = max(0, total - len(head) - len(tail))
    middle = [Line(f"… {units.count(more, 'line')} more", "dim")] if more else []
    return [*(Line(line, "output") for line in head), *middle, *(Line(line, "output") for line in tail)]


def _folded(text: str, limit: int) -> list[str]:
    """At most ``limit`` lines, and how many more there are."""
    lines = _split(text)
    if len(lines) <= limit + 1:
        return lines or [""]
    return [*lines[:limit], f"… {units.count(len(lines) - limit, 'line')} more"]


def _split(text: str) -> list[str]:
    lines = clean(text).strip("\n").expandtabs(4).split("\n")
    return [shorten(line.rstrip(), LINE_LIMIT) for line in lines]


def _clean_line(text: str) -> str:
    return shorten(clean(text[: 2 * LINE_LIMIT]).expandtabs(4).rstrip().replace("\n", " "), LINE_LIMIT)


def _ending(step: Step, note: str, manner: Manner) -> tuple[str, str]:
    """How and how fast a step ended, and the role of that; of what runs, for how long."""
    took = ""
    if step.at is not None and step.ended_at is not None:
        took = units.duration(step.ended_at - step.at)
    elif step.at is not None and step.status is StepStatus.RUNNING and manner.now is not None:
        took = units.age(manner.now - step.at)
    if step.status is None:
        return "  ".join(filter(None, (note, took))), "dim"
    ending = " ".join(filter(None, (manner.signs.endings[step.status], note)))
    return "  ".join(filter(None, (ending, took))), ENDING_ROLES[step.status]


def _as_text(arguments: Any) -> str:
    if isinstance(arguments, str):
        return arguments
    if isinstance(arguments, dict) and len(arguments) == 1:
        value = next(iter(arguments.values()))
        if isinstance(value, str):
            return json.dumps(value, ensure_ascii=False)
    return json.dumps(arguments, ensure_ascii=False, default=str)


_RENDERERS: dict[StepKind, Callable[[Step, Manner], list[Line]]] = {
    StepKind.START: _start,
    StepKind.COMMAND: _command,
    StepKind.TOOL_CALL: _tool,
    StepKind.WEB_SEARCH: _tool,
    StepKind.SUBAGENT: _tool,
    StepKind.FILE_CHANGE: _changes,
    StepKind.PLAN: _plan,
    StepKind.ERROR: _error,
    StepKind.USAGE: _usage,
    StepKind.UNKNOWN: _unknown,
}
