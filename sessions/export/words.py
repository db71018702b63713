"""What every readable export says in the same words: facts, endings, token counts; unknown is named, never 0."""

import json
from pathlib import PurePath

from msgspec import structs

from ..model import Change, Session, Step, StepStatus, Usage
from ..text.sanitize import clean, one_line
from ..text.units import count, duration, moment, money

NOT_KNOWN = "not known"

_MARKS = {
    StepStatus.OK: "✓",
    StepStatus.FAILED: "✗",
    StepStatus.DECLINED: "⊘ declined",
    StepStatus.INTERRUPTED: "■ interrupted",
    StepStatus.RUNNING: "● running",
}


def title_of(session: Session) -> str:
    """What the session is about, on one line."""
    return one_line(session.label) or f"Session {session.short_id}"


def facts(session: Session) -> list[tuple[str, str]]:
    """Name and value of each fact that stands above the steps."""
    status = ": ".join(filter(None, (session.status, one_line(session.reason or ""))))
    known = {
        "Agent": one_line(session.agent),
        "Model": one_line(session.model or NOT_KNOWN),
        "Folder": one_line(session.cwd),
        "Started": moment(session.created_at, NOT_KNOWN, zone=True),
        "Ended": moment(session.ended_at, NOT_KNOWN, zone=True) if session.ended_at is not None else "",
        "Status": status,
        "Exit": one_line(" ".join(str(v) for v in (session.exit_code, session.signal) if v is not None)),
        "Left": _left(session),
        "Cost": money(session.cost_usd, NOT_KNOWN),
        "Tokens": tokens(session.usage),
        "Session": one_line(session.id),
        "Conversation": one_line(session.agent_session or ""),
    }
    return [(name, value) for name, value in known.items() if value]


def _left(session: Session) -> str:
    named = f": {one_line(session.left_note)}" if session.left_note else ""
    return f"{count(session.left, 'process', 'processes')}{named}" if session.left else ""


def ending(step: Step) -> str:
    """How and how fast a step ended: ``✗ exit 1, 0.9s``, ``✓ 2.0s``; empty where nothing is known of it."""
    mark = _MARKS[step.status] if step.status else ""
    known = step.at is not None and step.ended_at is not None
    took = duration(step.ended_at - step.at) if known else ""  # type: ignore[operator]
    told = ", ".join(filter(None, (f"exit {step.exit_code}" if step.exit_code else "", took)))
    return " ".join(filter(None, (mark, told)))


def tokens(usage: Usage | None) -> str:
    """All five counts, as far as they are known."""
    if usage is None or not usage.known:
        return NOT_KNOWN
    named = (
        ("in", usage.input_tokens),
        ("of them cached", usage.cached_input_tokens),
        ("out", usage.output_tokens),
        ("of them reasoning", usage.reasoning_output_tokens),
    )
    parts = ", ".join(f"{number:,} {name}" for name, number in named if number is not None)
    total = "" if usage.total_tokens is None else f"{usage.total_tokens:,}"
    return f"{total} ({parts})" if total and parts else total or parts


def used(step: Step) -> str:
    """The tokens of a usage step, with whose they are: this turn's, the whole thread's, or both."""
    total, own = step.usage, step.turn_usage if step.whole_thread else step.usage
    parts = [tokens(own)] if own is not None and own.known else []
    if total is not None and total.known and total != own:
        parts.append(f"whole thread: {tokens(total)}")
    return " · ".join(parts) or "no usage reported"


def said_of_usage(step: Step) -> str:
    """What a usage step says beside its numbers."""
    return "" if step.whole_thread else one_line(step.text)


def lines_in(text: str) -> int:
    """How many lines a text has."""
    return text.rstrip("\n").count("\n") + 1


def tool(step: Step) -> str:
    """The name of the tool that was called, with its server."""
    return one_line(".".join(filter(None, (step.server, step.tool)))) or one_line(step.text)


def purpose(step: Step) -> str:
    """What a call is about, where its text says more than the name of the tool."""
    text, name = one_line(step.text), one_line(step.tool or "")
    return text if name and not text.endswith(name) else ""


def arguments(step: Step) -> str:
    """The arguments of a call, as they are or as indented JSON; empty where there are none."""
    given = step.arguments
    if given is None or isinstance(given, str):
        return clean(given or "")
    return clean(json.dumps(given, ensure_ascii=False, indent=2))


def below(step: Step, folder: str) -> Step:
    """The step with paths below the session's folder told from there: the folder is one of the facts."""
    if not step.changes:
        return step
    return structs.replace(step, changes=tuple(_change_below(change, folder) for change in step.changes))


def _change_below(change: Change, folder: str) -> Change:
    moved_to = change.moved_to and _relative(change.moved_to, folder)
    return structs.replace(change, path=_relative(change.path, folder), moved_to=moved_to)


def _relative(path: str, folder: str) -> str:
    found = PurePath(path)
    return str(found.relative_to(folder)) if path != folder and found.is_relative_to(folder) else path
