"""Steps as lines: what an agent did, in its order."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import msgspec

from ...sessions.model import Change, Step, StepKind
from ...sessions.text.sanitize import clean, one_line, shorten
from ...sessions.text.unified_diff import ADDED, HUNK, REMOVED, classified
from ...sessions.text.units import duration, line_change
from ...widgets.drawing.step_roles import ENDING_ROLES
from ...widgets.steps.step_lines import usage_words
from .style import Look

REASONING, ARGUMENTS, OUTPUT, MESSAGE = 100, 100, 200, 200
"""Characters shown without ``--full``."""

_ROLES = {
    StepKind.PROMPT: "strong",
    StepKind.START: "dim",
    StepKind.REASONING: "dim",
    StepKind.ERROR: "failure",
    StepKind.NOTICE: "dim",
    StepKind.USAGE: "dim",
    StepKind.UNKNOWN: "attention",
}


def steps_text(steps: Iterable[Step], look: Look) -> Iterator[str]:
    """The lines of a trajectory, with a heading wherever a turn begins."""
    turn = None
    for step in steps:
        if step.turn != turn:
            turn = step.turn
            yield turn_heading(turn, look)
        indent = "    " if step.parent else ""
        for line in step_text(step, look):
            yield indent + line


def step_text(step: Step, look: Look) -> list[str]:
    """One step: a marked first line, the rest below it."""
    render = _RENDERERS.get(step.kind, _plain)
    first, *rest = render(step, look)
    painted = [look.paint(f"{look.signs.kinds[step.kind]} {first}", _ROLES.get(step.kind, ""))]
    return [line.rstrip() for line in painted + [f"  {line}" for line in rest]]


def turn_heading(turn: int, look: Look) -> str:
    """The line above the steps of a turn."""
    rule = look.signs.rule
    label = f"{rule * 2} turn {turn} "
    return look.paint(label + rule * max(0, min(look.width, 100) - len(label)), "dim")


def _limited(text: str, length: int, look: Look) -> list[str]:
    """Foreign text as lines, cut unless everything is wanted."""
    text = clean(text).strip("\n").expandtabs(4)
    return (text if look.full else shorten(text, length)).split("\n")


def _line(text: str, length: int, look: Look) -> str:
    text = one_line(text)
    return text if look.full else shorten(text, length)


def _after(text: str, step: Step, look: Look, note: str = "") -> str:
    """The text with how and how fast the step ended."""
    sign, role = (look.signs.endings[step.status], ENDING_ROLES[step.status]) if step.status else ("", "")
    known = step.at is not None and step.ended_at is not None
    took = duration(step.ended_at - step.at) if known else ""  # type: ignore[operator]
    tail = " ".join(filter(None, (sign, note)))
    parts = [text, look.paint(tail, role) if tail else "", look.paint(took, "dim") if took else ""]
    return "  ".join(filter(None, parts))


def _output(step: Step, look: Look) -> list[str]:
    text = (step.output or "").strip("\n")
    return [look.paint(line, "dim") for line in _limited(text, OUTPUT, look)] if text else []


def _plain(step: Step, look: Look) -> list[str]:
    return _limited(step.text, REASONING if step.kind is StepKind.REASONING else MESSAGE, look)


def _notice(step: Step, look: Look) -> list[str]:
    """What an agent's harness adds can be pages: one line tells what it is about."""
    return _plain(step, look) if look.full else [_line(step.text, MESSAGE, look)]


def _start(step: Step, look: Look) -> list[str]:
    return [_line(" ".join(filter(None, (step.model, step.agent_session))) or step.text, MESSAGE, look)]


def _command(step: Step, look: Look) -> list[str]:
    first, *rest = _limited(step.command or step.text, MESSAGE, look)
    note = f"exit {step.exit_code}" if step.exit_code else ""
    return [_after(first, step, look, note), *rest, *_output(step, look)]


def _tool(step: Step, look: Look) -> list[str]:
    name = one_line(".".join(filter(None, (step.server, step.tool))))
    arguments = "" if step.arguments is None else _line(_as_text(step.arguments), ARGUMENTS, look)
    call = f"{name}({arguments})" if name else arguments or _line(step.text, MESSAGE, look)
    return [_after(call, step, look), *_output(step, look)]


def _changes(step: Step, look: Look) -> list[str]:
    if not step.changes:
        return [_after(_line(step.text, MESSAGE, look), step, look)]
    named = list(map(_change, step.changes))
    lines = [_after(named[0], step, look), *named[1:]]
    return lines + [line for change in step.changes for line in _full_diff(change, look)] if look.full else lines


def _change(change: Change) -> str:
    moved = f"  moved to {one_line(change.moved_to)}" if change.moved_to else ""
    lines = f"  {line_change(*change.lines)}" if change.lines else ""
    return f"{one_line(change.path)}  {one_line(change.kind)}{moved}{lines}"


def _full_diff(change: Change, look: Look) -> Iterator[str]:
    """The diff of a change; a remark if it is not whole, or is not there for a known reason."""
    if change.diff:
        yield from diff_lines(change.diff, look)
    if change.cut:
        yield look.paint("(the rest of this diff is not kept)", "dim")
    elif change.no_diff:
        yield look.paint(f"(no diff: {change.no_diff})", "dim")


def diff_lines(diff: str, look: Look) -> Iterator[str]:
    """The lines of a diff, each in the colour of its kind."""
    for kind, line in classified(diff):
        yield look.paint(clean(line).expandtabs(4).replace("\n", " "), _DIFF_ROLES.get(kind, ""))


_DIFF_ROLES = {ADDED: "good", REMOVED: "failure", HUNK: "dim"}


def _plan(step: Step, look: Look) -> list[str]:
    def task(status: str, text: str) -> str:
        return f"{look.signs.plan.get(status, look.signs.plan['pending'])} {_line(text, MESSAGE, look)}"

    done = sum(item.status == "completed" for item in step.items)
    return [f"plan {done}/{len(step.items)}", *(task(item.status, item.text) for item in step.items)]


def _usage(step: Step, _: Look) -> list[str]:
    return [usage_words(step)]


def _unknown(step: Step, look: Look) -> list[str]:
    first, *rest = _limited(step.text, MESSAGE, look)
    return [f"{one_line(step.event or 'unknown')}: {first}", *rest]


def _error(step: Step, look: Look) -> list[str]:
    lines = _limited(step.text, MESSAGE, look)
    told = [f"$ {_line(step.command, MESSAGE, look)}", *_output(step, look)] if step.command is not None else []
    return [lines[0] + ("  (not fatal)" if step.fatal is False else ""), *lines[1:], *told]


def _as_text(arguments: Any) -> str:
    return arguments if isinstance(arguments, str) else msgspec.json.encode(arguments).decode()


_RENDERERS: dict[StepKind, Callable[[Step, Look], list[str]]] = {
    StepKind.START: _start,
    StepKind.NOTICE: _notice,
    StepKind.COMMAND: _command,
    StepKind.TOOL_CALL: _tool,
    StepKind.WEB_SEARCH: _tool,
    StepKind.SUBAGENT: _tool,
    StepKind.FILE_CHANGE: _changes,
    StepKind.PLAN: _plan,
    StepKind.USAGE: _usage,
    StepKind.UNKNOWN: _unknown,
    StepKind.ERROR: _error,
}
