"""A session as one Markdown document, written step by step: for a pull request, an issue, a wiki."""

from collections.abc import Callable, Iterable, Iterator

from ..model import Change, PlanItem, Session, Step, StepKind
from ..text.units import count, line_change, moment, money
from . import words
from .quoting import code, fence, message, plain, quote

SHORT = 20
"""Lines that stand open; longer outputs and answers are folded."""

_NEVER_ENDED = frozenset({StepKind.MESSAGE, StepKind.PLAN})
"""Kinds that can end with a list, which a following one would go on with."""


def markdown(session: Session, steps: Iterable[Step]) -> Iterator[str]:
    """The document in pieces.

    Args:
        session: what stands above the steps.
        steps: each in its last form, in the order of turn and index; never all of them in memory.
    """
    yield f"# {plain(words.title_of(session))}\n\n{_facts(session)}\n"
    before: Step | None = None
    for step in steps:
        if before is None or step.turn != before.turn:
            began = "" if step.at is None else f"\n*{moment(step.at, words.NOT_KNOWN, zone=True)}*\n"
            yield f"\n## Turn {step.turn}\n{began}"
        elif before.kind in _NEVER_ENDED and step.kind is StepKind.MESSAGE:
            yield "\n<!-- -->\n"
        yield f"\n{_block(words.below(step, session.cwd), before)}\n"
        before = step


def _facts(session: Session) -> str:
    rows = [f"| {name} | {_cell(name, value)} |" for name, value in words.facts(session)]
    return "\n".join(["| | |", "| --- | --- |", *rows])


def _cell(name: str, value: str) -> str:
    if name in _OURS:
        return value
    return code(value).replace("|", r"\|") if name in _CODE else plain(value)


_OURS = frozenset({"Started", "Ended", "Tokens", "Cost"})
_CODE = frozenset({"Folder", "Session", "Conversation"})


def _block(step: Step, before: Step | None) -> str:
    """One step; what a sub-agent did is quoted."""
    parts = _RENDERERS.get(step.kind, _said)(step)
    if step.parent is None:
        return "\n\n".join(parts)
    first = [] if before is not None and before.parent == step.parent else ["*Sub-agent*"]
    return quote("\n\n".join(first + parts))


def _label(word: str, *told: str) -> str:
    return " ".join(filter(None, (f"**{word}**", *told)))


def _folded(text: str | None, what: str, language: str = "text") -> list[str]:
    """The text in a fence, which is folded where it is long; nothing for nothing."""
    if not text:
        return []
    lines = words.lines_in(text)
    whole = fence(text, language)
    return [whole] if lines <= SHORT else _details(f"{what}, {count(lines, 'line')}", whole)


def _details(summary: str, inner: str) -> list[str]:
    return [f"<details>\n<summary>{summary}</summary>", inner, "</details>"]


def _prompt(step: Step) -> list[str]:
    return [quote(message(step.text))]


def _message(step: Step) -> list[str]:
    return [message(step.text)]


def _reasoning(step: Step) -> list[str]:
    return _details("Reasoning", message(step.text))


def _said(step: Step) -> list[str]:
    """A remark, an error, a kind that is new: one line beside its label, several in a fence."""
    word = {StepKind.ERROR: "Error"}.get(step.kind, step.kind.value.replace("_", " ").capitalize())
    fatal = {True: "(fatal)", False: "(not fatal)", None: ""}[step.fatal]
    label = _label(word, code(step.event or ""), fatal)
    text = step.text.strip()
    said = [label, fence(text, "text")] if "\n" in text else [f"{label}: {plain(text)}" if text else label]
    return [*said, *_failed_start(step)] if step.command is not None else said


def _failed_start(step: Step) -> list[str]:
    """The command of a start that failed, and the beginning of what it printed to stderr."""
    exit_code = "" if step.exit_code is None else f"exit {step.exit_code}"
    return [fence(f"$ {step.command}", "console"), *filter(None, [exit_code]), *_folded(step.output, "Output")]


def _start(step: Step) -> list[str]:
    model = f"model {plain(step.model)}" if step.model else ""
    conversation = f"conversation {code(step.agent_session)}" if step.agent_session else ""
    return [_label("Start", ", ".join(filter(None, (model, conversation, plain(step.text)))))]


def _command(step: Step) -> list[str]:
    return [
        fence(f"$ {step.command or step.text}", "console"),
        *filter(None, [words.ending(step)]),
        *_folded(step.output, "Output"),
    ]


def _call(step: Step) -> list[str]:
    label = _label(_CALLS[step.kind], code(words.tool(step)), plain(words.purpose(step)), words.ending(step))
    return [label, *_folded(words.arguments(step), "Arguments", "json"), *_folded(step.output, "Result")]


_CALLS = {StepKind.TOOL_CALL: "Tool", StepKind.WEB_SEARCH: "Web search", StepKind.SUBAGENT: "Sub-agent"}


def _changes(step: Step) -> list[str]:
    ending = words.ending(step)
    parts = [part for change in step.changes for part in _change(change, ending)]
    answer = _details("Result", fence(step.output, "text")) if step.output else []
    return [*(parts or [_label("Files", plain(step.text), ending)]), *answer]


def _change(change: Change, ending: str) -> list[str]:
    moved = f"moved to {code(change.moved_to)}" if change.moved_to else ""
    told = [code(change.path), moved, line_change(*change.lines) if change.lines else "", ending]
    parts = [_label(plain(change.kind).capitalize(), *told), *_folded(change.diff, "Diff", "diff")]
    if change.cut:
        parts.append("*The rest of this diff is not kept.*")
    elif change.no_diff:
        parts.append(f"*No diff: {plain(change.no_diff)}.*")
    return parts


def _plan(step: Step) -> list[str]:
    return [_label("Plan", plain(step.text)), *filter(None, ["\n".join(map(_item, step.items))])]


def _item(item: PlanItem) -> str:
    doing = "" if item.status in ("completed", "pending") else f" *({plain(item.status.replace('_', ' '))})*"
    return f"- [{'x' if item.status == 'completed' else ' '}] {plain(item.text)}{doing}"


def _usage(step: Step) -> list[str]:
    cost = money(step.cost_usd) if step.cost_usd is not None else ""
    return [_label("Tokens", " · ".join(filter(None, (words.used(step), cost, plain(words.said_of_usage(step))))))]


def _unknown(step: Step) -> list[str]:
    language = "json" if step.text.lstrip().startswith(("{", "[")) else "text"
    return [_label("Unknown event", code(step.event or "")), *_folded(step.text, "Event", language)]


_RENDERERS: dict[StepKind, Callable[[Step], list[str]]] = {
    StepKind.PROMPT: _prompt,
    StepKind.START: _start,
    StepKind.MESSAGE: _message,
    StepKind.REASONING: _reasoning,
    StepKind.COMMAND: _command,
    StepKind.TOOL_CALL: _call,
    StepKind.WEB_SEARCH: _call,
    StepKind.SUBAGENT: _call,
    StepKind.FILE_CHANGE: _changes,
    StepKind.PLAN: _plan,
    StepKind.USAGE: _usage,
    StepKind.UNKNOWN: _unknown,
}
