"""Texts that all readable exports share: facts, endings, token counts; an unknown value is named, never 0."""

from collections.abc import Sequence
from pathlib import PurePath

from msgspec import structs

from agentdash.sessions.model.session import Session, Step, Turn, Usage
from agentdash.sessions.rules.costs.cost import AT_LEAST, cost_words
from agentdash.sessions.rules.costs.usage_totals import session_cost
from agentdash.sessions.rules.prompts.mode_changes import changes_by_turn, line_of
from agentdash.sessions.text.json_text import json_text
from agentdash.sessions.text.sanitize import clean, one_line
from agentdash.sessions.text.units import count, moment, money
from agentdash.sessions.transcript.blocks import ENDINGS, Call, Description, Prose, Tokens, kind_name

NOT_KNOWN = "unknown"


def kind(step: Step) -> str:
    """Return the name of a step's kind, as a heading: ``File change``."""
    return kind_name(step.kind).capitalize()


def title_of(session: Session) -> str:
    """Return the session's label on one line, or its short id."""
    return one_line(session.label) or f"Session {session.short_id}"


def facts(session: Session) -> list[tuple[str, str]]:
    """Return name and value of each fact that is shown above the steps."""
    status = ": ".join(filter(None, (session.status, one_line(session.reason or ""))))
    cost = session_cost(session)
    left = count(session.left, "process", "processes") if session.left else ""
    known = {
        "Agent": one_line(session.agent),
        "Model": one_line(session.model or NOT_KNOWN),
        "Folder": one_line(session.cwd),
        "Started": moment(session.created_at, NOT_KNOWN, zone=True),
        "Ended": moment(session.ended_at, NOT_KNOWN, zone=True) if session.ended_at is not None else "",
        "Status": status,
        "Exit": one_line(" ".join(str(v) for v in (session.exit_code, session.signal) if v is not None)),
        "Left": f"{left}: {one_line(session.left_note)}" if left and session.left_note else left,
        "Cost": NOT_KNOWN if cost.known_usd is None else cost_words(cost),
        "Tokens": f"{AT_LEAST if session.tokens_missing and session.usage.known else ''}{tokens(session.usage)}",
        "Session": one_line(session.id),
        "Conversation": one_line(session.agent_session or ""),
    }
    return [(name, value) for name, value in known.items() if value]


def modes(turns: Sequence[Turn]) -> dict[int, str]:
    """Return the changes of permissions and settings in each turn that has any, by its number."""
    return {n: line_of(changes) for n, changes in changes_by_turn(turns).items()}


def ending(step: Step, described: Description) -> str:
    """Return a step's ending and duration: ``✗ exit 1, 0.9s``, ``✓ 2.0s``; "" if neither is known."""
    mark = ENDINGS[step.status] if step.status else ""
    facts = ", ".join(filter(None, (described.exit_note, described.took)))
    return " ".join(filter(None, (mark, facts)))


def tokens(usage: Usage | None) -> str:
    """Return all five counts, as far as they are known."""
    if usage is None or not usage.known:
        return NOT_KNOWN
    named = (
        ("in", usage.input_tokens),
        ("cached", usage.cached_input_tokens),
        ("out", usage.output_tokens),
        ("reasoning", usage.reasoning_output_tokens),
    )
    parts = ", ".join(f"{number:,} {name}" for name, number in named if number is not None)
    total = "" if usage.total_tokens is None else f"{usage.total_tokens:,}"
    return f"{total} ({parts})" if total and parts else total or parts


def used(block: Tokens) -> str:
    """Return the tokens of this turn, of the whole thread, or of both, and the cost."""
    parts = [tokens(block.own)] if block.own is not None else []
    if block.thread is not None:
        parts.append(f"whole thread: {tokens(block.thread)}")
    if block.cost_usd is not None:
        parts.append(money(block.cost_usd))
    return " · ".join(parts) or "no usage reported"


def reasoning(thought: Prose) -> str:
    """Return the heading of a thought, with its estimated size: ``Reasoning, ~1.2k tokens``."""
    return ", ".join(filter(None, ("Reasoning", thought.note)))


def lines_in(text: str) -> int:
    """Return the number of lines of a text."""
    return text.rstrip("\n").count("\n") + 1


def tool(call: Call) -> str:
    """Return the name of the called tool, with its server; the purpose if there is none."""
    return one_line(call.tool) or one_line(call.purpose)


def purpose(call: Call) -> str:
    """Return the purpose of a call, unless it is shown as its name."""
    return one_line(call.purpose) if call.tool else ""


def arguments(call: Call) -> str:
    """Return the arguments of a call, as they are or as indented JSON; "" if there are none."""
    return clean(json_text(call.arguments, indent=2))


def below(step: Step, folder: str) -> Step:
    """Return the step with paths relative to the session's folder if they are below it; the folder is a fact."""
    if not step.changes:
        return step
    changes = []
    for one in step.changes:
        moved_to = one.moved_to and _relative(one.moved_to, folder)
        changes.append(structs.replace(one, path=_relative(one.path, folder), moved_to=moved_to))
    return structs.replace(step, changes=tuple(changes))


def _relative(path: str, folder: str) -> str:
    absolute = PurePath(path)
    return str(absolute.relative_to(folder)) if path != folder and absolute.is_relative_to(folder) else path
