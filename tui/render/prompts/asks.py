"""The asks of live agents as lines of text."""

from collections.abc import Iterator

from ....sessions.asks.always import scope
from ....sessions.asks.answers import decision_line, due_words, taken
from ....sessions.asks.model import Question
from ....sessions.asks.recorded import RecordedAsk
from ....sessions.model import Session, short_id
from ....sessions.text.sanitize import clean, one_line, pad
from ....sessions.text.units import age
from ..style import Style

_MARGIN = "    "
MOST_LINES = 200
"""Lines of a command, diff or plan that are printed."""


def ask_line(recorded: RecordedAsk, style: Style) -> str:
    """Return the session, the number, the age and the subject of an ask, and when the settings decide it."""
    due = f"  {due_words(recorded, style.now)}" if recorded.due_at is not None else ""
    start = f"{short_id(recorded.session)}  {recorded.id:>3}  {pad(age(style.now - recorded.asked_at), 4)} "
    return start + one_line(recorded.ask.title, max(20, style.width - len(start) - len(due))) + due


def asked_line(recorded: RecordedAsk) -> str:
    """Return who waits for an answer, its subject, and the command that shows it whole."""
    name = short_id(recorded.session)
    return f"Session {name} waits for your answer: {one_line(recorded.ask.title, 200)} (agentdash asks {name})"


def ask_lines(recorded: RecordedAsk, style: Style) -> Iterator[str]:
    """Yield an ask with all that the user needs for an answer."""
    ask, width = recorded.ask, max(20, style.width - len(_MARGIN))
    yield ask_line(recorded, style)
    for name, text in (("why", ask.why), ("in", ask.cwd), ("always", scope(ask))):
        if text:
            yield f"{_MARGIN}{name}: {one_line(text, width)}"
    yield from (f"{_MARGIN}file: {one_line(path, width)}" for path in ask.paths[:MOST_LINES])
    lines = clean(ask.body).split("\n") if ask.body else []
    yield from (f"{_MARGIN}| {line}" for line in lines[:MOST_LINES])
    if len(lines) > MOST_LINES:
        yield f"{_MARGIN}{len(lines) - MOST_LINES:,} more lines: --json prints all"
    for number, question in enumerate(ask.questions, 1):
        yield from _question_lines(number, question, width)
    yield f"{_MARGIN}takes: {', '.join(taken(ask))}"


def _question_lines(number: int, question: Question, width: int) -> Iterator[str]:
    kind = "" if question.type == "string" else f" ({one_line(question.type, 20)})"
    needed = "" if question.required else " (optional)"
    yield f"{_MARGIN}{number}  {one_line(question.text, width)}{kind}{needed}"
    if question.key != question.text:
        yield f"{_MARGIN}   name: {one_line(question.key, width)}"
    for choice in question.choices:
        described = f": {choice.description}" if choice.description else ""
        yield f"{_MARGIN}   - {one_line(choice.label + described, width)}"


def answered_line(recorded: RecordedAsk, session: Session, style: Style) -> str:
    """Return the decision about an ask, and its subject."""
    return f"{decision_line(recorded, max(20, style.width - 40))} (session {session.short_id})"
