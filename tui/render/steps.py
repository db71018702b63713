"""Steps as lines: the actions of an agent, in order."""

from collections.abc import Iterable, Iterator

from agentdash.sessions.model.session import Change, Step, StepKind, StepStatus
from agentdash.sessions.rules.conversation.shown import IsCut, none_cut
from agentdash.sessions.rules.conversation.words import turning
from agentdash.sessions.text.sanitize import clean, one_line, shorten
from agentdash.sessions.text.unified_diff import ADDED, HUNK, REMOVED, classified
from agentdash.sessions.text.units import line_change
from agentdash.sessions.transcript import blocks
from agentdash.sessions.transcript.blocks import Origin, Voice
from agentdash.tui.render.style import Style
from agentdash.widgets.drawing import glyphs
from agentdash.widgets.drawing.roles import ENDING_ROLES, error_role
from agentdash.widgets.steps.step_lines import token_words

REASONING, ARGUMENTS, OUTPUT, MESSAGE = 100, 100, 200, 200
"""Characters shown without ``--full``."""

_ROLES = {
    StepKind.PROMPT: "strong",
    StepKind.START: "dim",
    StepKind.REASONING: "dim",
    StepKind.NOTICE: "dim",
    StepKind.USAGE: "dim",
    StepKind.UNKNOWN: "attention",
}


def steps_text(steps: Iterable[Step], style: Style, is_cut: IsCut = none_cut) -> Iterator[str]:
    """Yield the lines of a trajectory, with a heading at the start of each turn, and what was cut by going back."""
    turn = None
    cut = False
    for step in steps:
        if step.turn != turn:
            turn = step.turn
            yield turn_heading(turn, style)
        if is_cut(step) is not cut:
            cut = not cut
            yield style.paint(turning(cut), "dim")
        indent = "    " if step.parent else ""
        for line in step_text(step, style):
            yield indent + line


def step_text(step: Step, style: Style) -> list[str]:
    """Return the lines of one step: a first line with a mark, and the rest below it."""
    described = blocks.describe(step)
    first, *rest = [line for block in described.body for line in _drawn(block, style)]
    if described.is_act:
        first = _after(first, step, described, style)
    painted = [style.paint(f"{glyphs.KINDS[step.kind]} {first}", _role(step))]
    rest += [style.paint(described.remark, "dim")] if described.remark else []
    return [line.rstrip() for line in painted + [f"  {line}" for line in rest]]


def _role(step: Step) -> str:
    return error_role(step.fatal) if step.kind is StepKind.ERROR else _ROLES.get(step.kind, "")


def _drawn(block: blocks.Block, style: Style) -> list[str]:  # noqa: PLR0911 - one for each type of block
    match block:
        case blocks.Prose():
            return _prose(block, style)
        case blocks.Code(of_failed_start=True):
            return [f"$ {_line(block.text, MESSAGE, style)}  {block.exit_note}".rstrip()]
        case blocks.Code():
            return _limited(block.text, MESSAGE, style)
        case blocks.Output():
            return _output(block, style)
        case blocks.Call():
            return [_call(block, style)]
        case blocks.Files():
            return _files(block, style)
        case blocks.Plan():
            return _plan(block, style)
        case blocks.Facts():
            return [_line(block.line, MESSAGE, style)]
        case blocks.Tokens():
            return [token_words(block)]
        case blocks.Notice():
            return _notice(block, style)
        case blocks.Raw():
            first, *rest = _limited(block.text, MESSAGE, style)
            return [f"{one_line(block.event or 'unknown')}: {first}", *rest]


def turn_heading(turn: int, style: Style) -> str:
    """Return the line above the steps of a turn."""
    label = f"{glyphs.RULE * 2} turn {turn} "
    return style.paint(label + glyphs.RULE * max(0, min(style.width, 100) - len(label)), "dim")


def _limited(text: str, length: int, style: Style) -> list[str]:
    """Return untrusted text as lines, cut unless the style is ``full``."""
    text = clean(text).strip("\n").expandtabs(4)
    return (text if style.full else shorten(text, length)).split("\n")


def _line(text: str, length: int, style: Style) -> str:
    text = one_line(text)
    return text if style.full else shorten(text, length)


def _after(text: str, step: Step, described: blocks.Description, style: Style) -> str:
    """Return the text with the outcome and the duration of the step."""
    sign, role = (blocks.ENDINGS[step.status], ENDING_ROLES[step.status]) if step.status else ("", "")
    waiting = step.status is StepStatus.WAITING and (step.asked_at or 0) < style.now
    waits = blocks.lasts(step, style.now) if waiting else ""
    tail = " ".join(filter(None, (sign, described.exit_note, waits)))
    parts = [
        text,
        style.paint(tail, role) if tail else "",
        style.paint(described.took, "dim") if described.took else "",
    ]
    return "  ".join(filter(None, parts))


def _output(block: blocks.Output, style: Style) -> list[str]:
    text = "" if block.origin is Origin.EDITOR else block.text.strip("\n")
    return [style.paint(line, "dim") for line in _limited(text, OUTPUT, style)] if text else []


def _notice(block: blocks.Notice, style: Style) -> list[str]:
    """Return a notice as lines; one that is not an error is cut to one line, because harnesses add pages of text."""
    if not block.is_error and not style.full:
        return [_line(block.text, MESSAGE, style)]
    first, *rest = _limited(block.text, MESSAGE, style)
    return [first + ("  (not fatal)" if block.fatal is False else ""), *rest]


def _prose(block: blocks.Prose, style: Style) -> list[str]:
    first, *rest = _limited(block.text, REASONING if block.voice is Voice.THOUGHT else MESSAGE, style)
    return ["  ".join(filter(None, (first, block.note and f"({block.note})"))), *rest]


def _call(block: blocks.Call, style: Style) -> str:
    name = one_line(block.tool)
    if not name:
        return _line(block.purpose or block.given, MESSAGE, style)
    return f"{name}({_line(block.given, ARGUMENTS, style)})"


def _files(block: blocks.Files, style: Style) -> list[str]:
    named = list(map(_change, block.changes)) or [_line(block.text, MESSAGE, style)]
    return named + [line for change in block.changes for line in _full_diff(change, style)] if style.full else named


def _change(change: Change) -> str:
    moved = f"  moved to {one_line(change.moved_to)}" if change.moved_to else ""
    lines = f"  {line_change(*change.lines)}" if change.lines else ""
    return f"{one_line(change.path)}  {one_line(change.kind)}{moved}{lines}"


def _full_diff(change: Change, style: Style) -> Iterator[str]:
    """Yield the diff of a change, and a remark if it is missing or incomplete."""
    if change.diff:
        yield from diff_lines(change.diff, style)
    if remark := blocks.diff_remark(change):
        yield style.paint(f"({one_line(remark)})", "dim")


def diff_lines(diff: str, style: Style) -> Iterator[str]:
    """Yield the lines of a diff, each in the colour of its kind."""
    for kind, line in classified(diff):
        yield style.paint(clean(line).expandtabs(4).replace("\n", " "), _DIFF_ROLES.get(kind, ""))


_DIFF_ROLES = {ADDED: "good", REMOVED: "failure", HUNK: "dim"}


def _plan(block: blocks.Plan, style: Style) -> list[str]:
    def task(status: str, text: str) -> str:
        return f"{glyphs.PLAN.get(status, glyphs.PLAN['pending'])} {_line(text, MESSAGE, style)}"

    if block.text and not block.items:
        return _limited(block.text, MESSAGE, style)
    return [f"plan {block.done}/{len(block.items)}", *(task(item.status, item.text) for item in block.items)]
