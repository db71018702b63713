"""What every readable export says in the same words: facts, endings, counts, times; unknown is named, never 0."""

import json
from datetime import UTC, datetime
from pathlib import PurePath

from msgspec import structs

from ..durations import spent
from ..model import Session, Step, StepStatus, Usage
from ..text import clean, one_line

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
    return one_line(session.title or session.task) or f"Session {session.id[:8]}"


def facts(session: Session) -> list[tuple[str, str]]:
    """Name and value of each fact that stands above the steps."""
    status = ": ".join(filter(None, (session.status, one_line(session.reason or ""))))
    known = {
        "Agent": one_line(session.agent),
        "Model": one_line(session.model or NOT_KNOWN),
        "Folder": one_line(session.cwd),
        "Started": moment(session.created_at),
        "Ended": moment(session.ended_at) if session.ended_at is not None else "",
        "Status": status,
        "Exit": one_line(" ".join(str(v) for v in (session.exit_code, session.signal) if v is not None)),
        "Left": _left(session),
        "Cost": money(session.cost_usd),
        "Tokens": tokens(session.usage),
        "Session": one_line(session.id),
        "Conversation": one_line(session.agent_session or ""),
    }
    return [(name, value) for name, value in known.items() if value]


def _left(session: Session) -> str:
    named = f": {one_line(session.left_note)}" if session.left_note else ""
    return f"{counted(session.left, 'process', 'processes')}{named}" if session.left else ""


def moment(at: int | None) -> str:
    """A time on the reader's clock, with its zone: ``2026-02-03 14:03:22 CET``."""
    local = _local(at)
    return local.strftime("%Y-%m-%d %H:%M:%S %Z") if local else NOT_KNOWN


def time_of_day(at: int | None) -> str:
    """``14:03:22`` on the reader's clock; empty where it is not known."""
    local = _local(at)
    return local.strftime("%H:%M:%S") if local else ""


def utc(at: int | None) -> str:
    """``2026-02-03T13:03:22Z``, for programs; empty where it is not known."""
    local = _local(at)
    return local.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ") if local else ""


def _local(at: int | None) -> datetime | None:
    try:
        return None if at is None else datetime.fromtimestamp(at / 1000, UTC).astimezone()
    except (OverflowError, ValueError, OSError):
        return None  # a damaged file of arrival times can hold any number


def ending(step: Step) -> str:
    """How and how fast a step ended: ``✗ exit 1, 0.9s``, ``✓ 2.0s``; empty where nothing is known of it."""
    mark = _MARKS[step.status] if step.status else ""
    known = step.at is not None and step.ended_at is not None
    took = spent(step.ended_at - step.at) if known else ""  # type: ignore[operator]
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
    parts = ", ".join(f"{count:,} {name}" for name, count in named if count is not None)
    total = "" if usage.total_tokens is None else f"{usage.total_tokens:,}"
    return f"{total} ({parts})" if total and parts else total or parts


def money(dollars: float | None) -> str:
    """``$0.31``, and up to four decimals where they say something."""
    if dollars is None:
        return NOT_KNOWN
    whole, _, decimals = f"{dollars:.4f}".partition(".")
    return f"${whole}.{decimals.rstrip('0'):0<2}"


def counted(number: int, word: str, many: str | None = None) -> str:
    """``1 file``, ``2 files``."""
    return f"{number:,} {word if number == 1 else many or word + 's'}"


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
    changes = (structs.replace(change, path=_relative(change.path, folder)) for change in step.changes)
    return structs.replace(step, changes=tuple(changes))


def _relative(path: str, folder: str) -> str:
    found = PurePath(path)
    return str(found.relative_to(folder)) if path != folder and found.is_relative_to(folder) else path
