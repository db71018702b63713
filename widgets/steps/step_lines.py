"""A step as styled lines: pure, so that every kind of step can be tested without a screen.

All text comes from an agent: it is cleaned here, and it is never markup.  Long text is folded: its beginning and end
are shown, and the lines between are counted.
"""

from collections.abc import Callable, Iterable
from typing import Any

from msgspec import Struct, structs

from agentdash.sessions.model.session import Change, Step, StepKind, StepStatus, Usage
from agentdash.sessions.text import units
from agentdash.sessions.text.sanitize import cell_width, clean, cut, cut_left, one_line, shorten
from agentdash.sessions.text.unified_diff import FILE, classified
from agentdash.sessions.text.units import line_change
from agentdash.sessions.transcript import blocks
from agentdash.sessions.transcript.blocks import Origin, Voice
from agentdash.widgets.document.markdown import Markdown
from agentdash.widgets.drawing import glyphs
from agentdash.widgets.drawing.roles import DIFF_ROLES, ENDING_ROLES, error_role
from agentdash.widgets.drawing.short_forms import below
from agentdash.widgets.drawing.spans import Row, wrap

BRIEF, USUAL, WHOLE = range(3)
"""The shown part of a step: one line, its beginning and end, everything."""

OUTPUT_HEAD, OUTPUT_TAIL = 3, 3
"""Lines of output that are shown from its beginning and its end."""

FOLD = {Voice.AGENT: 400, Voice.USER: 12, Voice.THOUGHT: 12}
"""Most lines of a prose text; other texts get ``DEFAULT_FOLD``."""

PLAN_FOLD, DEFAULT_FOLD = 50, 8
MOST_LINES = 2_000
"""Most lines of one text in a list, even if unfolded; the document pane shows the rest."""

LINE_LIMIT = 2_000
"""Most characters of one line; a minified file is not worth a thousand rows."""

EDGE = 4_000
"""Characters of an output that are read from each end, so that a huge one costs no more."""

NAME = 400
"""Most cells of a path, a conversation or a task; a longer one would only fill the screen."""

SET_OUT = 8_000
"""Longest message, in characters, that is shown as Markdown; a longer one is shown as it was written."""


class Manner(Struct, frozen=True):
    """Settings for showing steps."""

    level: int = USUAL
    now: int | None = None
    """UTC ms, for the age of running steps."""
    cwd: str | None = None
    """Paths below it are shown relative to it."""
    plain: bool = False
    """True for the output of a plain command: a log, line by line."""
    start_keys: str = ""
    """The keys that help after a failed start, for a line below its output; empty for no line."""


class Line(Struct, frozen=True):
    """One line before it is wrapped; ``tail`` is at the right end of its first row."""

    text: str
    role: str = "text"
    tail: str = ""
    tail_role: str = "dim"
    mark: str = ""
    mark_role: str = ""
    one_row: bool = False
    """True if it is cut to one row."""


def step_rows(step: Step, width: int, manner: Manner = Manner()) -> list[Row]:  # noqa: B008 - it is frozen
    """The step wrapped to ``width`` cells; at level ``BRIEF``, one line cut to them."""
    if manner.plain and step.kind in _LOGGED:
        return _log_rows(step.text, width, manner)
    indent = f"  {glyphs.NESTED} " if step.parent else ""
    described = blocks.describe(step)
    first = described.body[0]
    if manner.level == BRIEF:
        return [_brief(_in_short(first, _lines(step, described, manner)[0]), indent, width)]
    if type(first) is blocks.Prose and first.voice in _SET_OUT_ROLES and len(first.text) <= SET_OUT:
        return _prose(first, f"{indent}{glyphs.KINDS[step.kind]} ", indent, width, manner)
    rows: list[Row] = []
    for line in _lines(step, described, manner):
        rows.extend(_rows(line, indent, width))
    return rows


_LOGGED = (StepKind.MESSAGE, StepKind.UNKNOWN)
"""The kinds of the lines that a plain command prints."""


def _log_rows(text: str, width: int, manner: Manner) -> list[Row]:
    """A line of a log, without a mark of its own."""
    line = _clean_line(text)
    rows = [cut(line, width)] if manner.level == BRIEF else wrap(line, width)
    return [((row, "text"),) for row in rows]


_SET_OUT_ROLES = {Voice.AGENT: "text", Voice.THOUGHT: "dim"}
"""Voices that are shown as Markdown, and the role of their text."""


def _prose(block: blocks.Prose, mark: str, indent: str, width: int, manner: Manner) -> list[Row]:
    """A text as Markdown, below its mark; folded after as many rows as its limit of lines."""
    role = _SET_OUT_ROLES[block.voice]
    margin = indent + " " * (cell_width(mark) - cell_width(indent))
    text = Markdown(block.text)
    room = _room(manner, FOLD[block.voice])
    rows: list[Row] = []
    for item in range(len(text)):
        rows += [_in_role(row, role) for row in text.rows(item, width - cell_width(mark))]
        if len(rows) > room + 1:
            more = cut(f"… more of {units.count(len(block.text), 'character')}", width - cell_width(mark))
            rows = [*rows[:room], ((more, "dim"),)]
            break
    first, *rest = rows or [()]
    return [_noted(((mark, role), *first), block.note, width), *(((margin, role), *row) for row in rest)]


def _noted(row: Row, note: str, width: int) -> Row:
    """The row with a note at its right end, if there is room for it."""
    gap = width - sum(cell_width(text) for text, _ in row) - cell_width(note) if note else 0
    return (*row, (" " * gap, ""), (note, "dim")) if gap > 1 else row


def _in_role(row: Row, role: str) -> Row:
    return tuple((text, role if own == "text" else own) for text, own in row) if role != "text" else row


def _lines(step: Step, described: blocks.Description, manner: Manner) -> list[Line]:
    """The lines of a step; the first has the character of its kind and, if the step is an act, its ending."""
    first_block, *others = described.body
    first, *rest = _LINES[type(first_block)](first_block, manner)
    tail, tail_role = first.tail, first.tail_role
    if described.is_act:
        tail, tail_role = _ending(step, described, manner)
    of_command = manner.plain and step.kind is StepKind.PROMPT
    mark = first.mark or glyphs.KINDS[StepKind.COMMAND if of_command else step.kind]
    first = structs.replace(first, tail=tail, tail_role=tail_role, mark=mark, mark_role=first.mark_role or first.role)
    lines = [first, *rest]
    if manner.level != BRIEF:
        for block in others:
            # The command of a plain command is its prompt, which is shown already.
            if not (manner.plain and type(block) is blocks.Code):
                lines += _LINES[type(block)](block, manner)
    return lines


def rule(label: str, width: int, *, note: str = "", role: str = "rule") -> Row:
    """A horizontal rule with a label near its beginning and a note at its end."""
    left = cut(f"{glyphs.RULE * 2} {label} ", width)
    right = f" {note} {glyphs.RULE * 2}" if note and cell_width(left) + cell_width(note) + 6 <= width else ""
    return ((left + glyphs.RULE * max(0, width - cell_width(left) - cell_width(right)) + right, role),)


def _in_short(block: blocks.Block, line: Line) -> Line:
    """The line for a whole step: the first line of its first block, or the count of a list."""
    if isinstance(block, blocks.Plan) and block.items:
        return structs.replace(line, text=f"{block.done} of {units.count(len(block.items), 'task')} done")
    if isinstance(block, blocks.Files) and len(block.changes) > 1:
        return structs.replace(line, text=f"{line.text}  and {units.count(len(block.changes) - 1, 'more file')}")
    return line


def _brief(line: Line, indent: str, width: int) -> Row:
    """A line cut to ``width``; its ending stays while there is room for some words."""
    head = f"{indent}{line.mark} "
    tail = f"  {line.tail}" if line.tail else ""
    room = width - cell_width(head) - cell_width(tail)
    if room < _BRIEF_ROOM:
        tail, room = "", width - cell_width(head)
    text = cut(" ".join(line.text.split()), room)
    gap = " " * (room - cell_width(text)) if tail else ""
    return (head, line.mark_role), (text, line.role), (gap, ""), (tail, line.tail_role)


_BRIEF_ROOM = 16
"""Cells that the words of a step keep before its ending is left out."""


def _rows(line: Line, indent: str, width: int) -> Iterable[Row]:
    """The first row has the mark and the tail; the others align with the text, not with the mark."""
    margin = indent + " " * (max(1, cell_width(line.mark)) + 1)
    room = width - len(margin)
    # On a narrow row the tail would leave the text no room, so it gets its own row.
    beside = bool(line.tail) and cell_width(line.tail) + 16 <= room
    text_room = room - cell_width(line.tail) - 2 if beside else room
    for number, text in enumerate([cut(line.text, text_room)] if line.one_row else wrap(line.text, text_room)):
        head = (f"{indent}{line.mark} " if line.mark else margin, line.mark_role) if number == 0 else (margin, "")
        spans: Row = (head, (text, line.role))
        if beside and number == 0:
            gap = " " * (room - cell_width(text) - cell_width(line.tail))
            spans = (*spans, (gap, ""), (line.tail, line.tail_role))
        yield spans
    if line.tail and not beside:
        yield (margin, ""), (cut(line.tail, room), line.tail_role)


def _room(manner: Manner, usual: int = DEFAULT_FOLD) -> int:
    """The most lines of a text."""
    return MOST_LINES if manner.level == WHOLE else usual


def _text(block: blocks.Prose, manner: Manner) -> list[Line]:
    role = _VOICES[block.voice]
    first, *rest = _folded(block.text, _room(manner, FOLD[block.voice]))
    return [Line(first, role, block.note), *(Line(text, role) for text in rest)]


_VOICES = {Voice.USER: "prompt", Voice.AGENT: "text", Voice.THOUGHT: "dim"}


def _notice(block: blocks.Notice, manner: Manner) -> list[Line]:
    """A remark or an error; the colour also shows whether it was fatal."""
    role = error_role(block.fatal) if block.is_error else "dim"
    if block.of_program and manner.level != WHOLE:
        return [Line(one_line(block.text[:EDGE]), role, one_row=True)]
    first, *rest = _folded(block.text, _room(manner))
    return [Line(first, role, block.fatality, role), *(Line(text, role) for text in rest)]


def _raw(block: blocks.Raw, _: Manner) -> list[Line]:
    event = f"{one_line(block.event[:EDGE], 80)}  " if block.event else ""
    return [Line(event + shorten(one_line(block.text[:EDGE]), 400), "attention")]


def _command(block: blocks.Code, manner: Manner) -> list[Line]:
    """A command; the command of a failed start has its own mark."""
    if block.of_failed_start:
        mark = glyphs.KINDS[StepKind.COMMAND]
        return [Line(one_line(block.text, LINE_LIMIT), "command", block.exit_note, mark=mark)]
    return [Line(text, "command") for text in _folded(block.text, _room(manner))]


def _call(block: blocks.Call, _: Manner) -> list[Line]:
    name = one_line(block.tool[: 2 * EDGE], 80)
    given = shorten(one_line(block.given if name else block.purpose or block.given), 200)
    return [Line(f"{name}({given})" if name else given)]


def _files(block: blocks.Files, manner: Manner) -> list[Line]:
    if not block.changes:
        return [Line(shorten(one_line(block.text), 400))]
    room = 1 if manner.level == BRIEF else _room(manner)
    lines: list[Line] = []
    for change in block.changes[:room]:
        path = cut_left(below(one_line(change.path), manner.cwd), NAME)
        lines.append(Line(f"{path}{_extent(change)}"))
        lines += _diff(change.diff, room if len(block.changes) == 1 or manner.level == WHOLE else 0)
        if manner.level == WHOLE and (why := blocks.diff_remark(change)):
            lines.append(Line(one_line(why, NAME), "dim"))
    more = len(block.changes) - room
    return [*lines, Line(f"… {units.count(more, 'more file')}", "dim")] if more > 0 else lines


def _diff(diff: str | None, room: int) -> list[Line]:
    """The first lines of a diff, each in the colour of its kind."""
    if not diff or not room:
        return []
    shown: list[Line] = []
    more = diff.rstrip("\n").count("\n") + 1
    for kind, line in classified(diff):
        if len(shown) == room:
            break  # folded lines are only counted
        more -= 1
        if kind != FILE:
            shown.append(Line(_clean_line(line), DIFF_ROLES.get(kind, "output")))
    return [*shown, Line(f"… {units.count(more, 'more line')}", "dim")] if more > 0 else shown


def _extent(change: Change) -> str:
    """The kind of a change unless it is an update, the new path, and the numbers of added and removed lines."""
    kind = "" if change.kind == "update" else f"  {one_line(change.kind, 20)}"
    moved = f"  moved to {cut_left(one_line(change.moved_to), NAME)}" if change.moved_to else ""
    return kind + moved + (f"  {line_change(*change.lines)}" if change.lines else "")


def _plan(block: blocks.Plan, manner: Manner) -> list[Line]:
    room = _room(manner, PLAN_FOLD)
    if not block.items:
        return [Line(text) for text in _folded(block.text, room)]
    plan = glyphs.PLAN
    lines = []
    for item in block.items[:room]:
        mark = plan.get(item.status, plan["pending"])
        role = "dim" if item.status == "completed" else "text"
        lines.append(Line(one_line(item.text, NAME), role, mark=mark, mark_role=role))
    more = len(block.items) - room
    return [*lines, Line(f"… {units.count(more, 'more task')}", "dim")] if more > 0 else lines


def token_words(block: blocks.Tokens) -> str:
    """Tokens and cost, with their scope: ``1.2k in (200 cached) · 30 out · thread: 4.8k in · 92 out``.

    The first counts are those of the turn.  Counts of the whole conversation follow ``thread``; they are left out if
    the turn is the whole conversation.
    """
    parts = [_tokens(block.own)] if block.own is not None else []
    if block.thread is not None:
        parts.append(f"thread: {_tokens(block.thread)}")
    if block.cost_usd is not None:
        parts.append(units.money(block.cost_usd))
    if remark := shorten(one_line(block.remark[:EDGE]), 200):
        parts.append(remark)
    return " · ".join(parts) or "no usage reported"


def _tokens(usage: Usage) -> str:
    """The known counts; a part of a count follows it in brackets."""
    counts = (
        ("in", usage.input_tokens, "cached", usage.cached_input_tokens),
        ("out", usage.output_tokens, "reasoning", usage.reasoning_output_tokens),
    )
    parts = []
    for name, number, part, of_it in counts:
        inner = f" ({units.tokens(of_it)} {part})" if of_it else ""
        if number or inner or (number is not None and not usage.total_tokens):
            parts.append(f"{units.tokens(number)} {name}{inner}")
    return " · ".join(parts) or f"{units.tokens(usage.total_tokens)} total"


def _output(block: blocks.Output, manner: Manner) -> list[Line]:
    """The first and the last lines of an output, or all lines."""
    text = block.text
    if block.origin is Origin.FAILED_START:
        keys = [Line(manner.start_keys, "dim")] if manner.start_keys else []
        return [*(Line(line, "output") for line in _folded(text, MOST_LINES) if text), *keys]
    if block.origin is Origin.EDITOR or not text.strip():
        return []
    if manner.level == WHOLE:
        return [Line(line, "output") for line in _folded(text, MOST_LINES)]
    if block.of_program:
        return [Line(one_line(text[:EDGE]), "dim", one_row=True)]
    total = text.rstrip("\n").count("\n") + 1
    if total <= OUTPUT_HEAD + OUTPUT_TAIL + 1 and len(text) <= 2 * EDGE:
        return [Line(line, "output") for line in _split(text)]
    head, tail = _split(text[:EDGE])[:OUTPUT_HEAD], _split(text[-EDGE:])[-OUTPUT_TAIL:]
    more = max(0, total - len(head) - len(tail))
    middle = [Line(f"… {units.count(more, 'more line')}", "dim")] if more else []
    return [*(Line(line, "output") for line in head), *middle, *(Line(line, "output") for line in tail)]


def _folded(text: str, limit: int) -> list[str]:
    """At most ``limit`` lines, and the number of the others."""
    lines = _split(text)
    if len(lines) <= limit + 1:
        return lines or [""]
    return [*lines[:limit], f"… {units.count(len(lines) - limit, 'more line')}"]


def _split(text: str) -> list[str]:
    lines = clean(text).strip("\n").expandtabs(4).split("\n")
    return [shorten(line.rstrip(), LINE_LIMIT) for line in lines]


def _clean_line(text: str) -> str:
    return shorten(clean(text[: 2 * LINE_LIMIT]).expandtabs(4).rstrip().replace("\n", " "), LINE_LIMIT)


def _ending(step: Step, described: blocks.Description, manner: Manner) -> tuple[str, str]:
    """The ending and duration of a step (of an open one, since it began or waits), and their role."""
    took = described.took
    if step.status is None:
        return "  ".join(filter(None, (described.exit_note, took))), "dim"
    if manner.now is not None:
        took = took or blocks.lasts(step, manner.now)
    if step.status is StepStatus.WAITING:
        return f"{blocks.ENDINGS[step.status]} {took}".rstrip(), ENDING_ROLES[step.status]
    ending = " ".join(filter(None, (blocks.ENDINGS[step.status], described.exit_note)))
    return "  ".join(filter(None, (ending, took))), ENDING_ROLES[step.status]


_LINES: dict[type[blocks.Block], Callable[[Any, Manner], list[Line]]] = {
    blocks.Prose: _text,
    blocks.Code: _command,
    blocks.Call: _call,
    blocks.Output: _output,
    blocks.Files: _files,
    blocks.Plan: _plan,
    blocks.Facts: lambda block, _: [Line(one_line(block.line, NAME), "dim")],
    blocks.Tokens: lambda block, _: [Line(token_words(block), "dim")],
    blocks.Notice: _notice,
    blocks.Raw: _raw,
}
