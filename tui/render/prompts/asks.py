"""The asks of live agents as lines of text."""

from collections.abc import Iterator

from agentdash.sessions.model.session import Session, short_id
from agentdash.sessions.rules.asks.answers import constraints, decision_line, due_words, taken, title_repeats_body
from agentdash.sessions.rules.asks.dangerous import scope
from agentdash.sessions.rules.asks.model import Question
from agentdash.sessions.rules.asks.recorded import RecordedAsk
from agentdash.sessions.text.sanitize import clean, pad
from agentdash.sessions.text.unhidden import unhidden, unhidden_line
from agentdash.sessions.text.units import age
from agentdash.tui.render.style import Style

_MARGIN = "    "


def ask_line(recorded: RecordedAsk, style: Style) -> str:
    """Return the session, the number, the age and the subject of an ask, and when the settings decide it."""
    due = f"  {due_words(recorded, style.now)}" if recorded.due_at is not None else ""
    start = f"{short_id(recorded.session)}  {recorded.id:>3}  {pad(age(style.now - recorded.asked_at), 4)} "
    return start + unhidden_line(recorded.ask.title, max(20, style.width - len(start) - len(due))) + due


def asked_line(recorded: RecordedAsk) -> str:
    """Return who waits for an answer, its subject, and the command that shows it whole."""
    name = short_id(recorded.session)
    return f"Session {name} waits for your answer: {unhidden_line(recorded.ask.title, 200)} (agentdash asks {name})"


def ask_lines(recorded: RecordedAsk, style: Style) -> Iterator[str]:
    """Yield an ask with all that the user needs for an answer; nothing of it is cut."""
    ask = recorded.ask
    first = ask_line(recorded, style)
    yield first
    title = "" if title_repeats_body(ask) or unhidden_line(ask.title) in first else ask.title
    for name, text in (("asks to", title), ("why", ask.why), ("in", ask.cwd), ("always", scope(ask))):
        yield from _labelled(name, text)
    for path in ask.paths:
        yield f"{_MARGIN}file: {unhidden_line(path)}"
    yield from (f"{_MARGIN}| {line}" for line in (_lines(ask.body) if ask.body else ()))
    for number, question in enumerate(ask.questions, 1):
        yield from _question_lines(number, question)
    yield from _labelled("left out", ask.left_out and f"{ask.left_out}; so it can only be denied")
    yield f"{_MARGIN}takes: {', '.join(taken(ask))}"


def _lines(text: str) -> list[str]:
    return clean(unhidden(text)).split("\n")


def _labelled(name: str, text: str) -> Iterator[str]:
    """Yield a name with a text, whose further lines are below the first."""
    if text:
        first, *others = _lines(text.strip("\n"))
        yield f"{_MARGIN}{name}: {first}"
        yield from (f"{_MARGIN}{' ' * len(name)}  {line}" for line in others)


def _question_lines(number: int, question: Question) -> Iterator[str]:
    needed = "" if question.required else "optional"
    notes = ", ".join(filter(None, (constraints(question), needed)))
    first, *others = _lines(question.text)
    yield f"{_MARGIN}{number}  {first}{f' ({notes})' if notes else ''}"
    yield from (f"{_MARGIN}   {line}" for line in others)
    if question.key != question.text:
        yield f"{_MARGIN}   name: {unhidden_line(question.key)}"
    for choice in question.choices:
        described = f": {choice.description}" if choice.description else ""
        yield f"{_MARGIN}   - {unhidden_line(choice.label + described)}"
    if question.default:
        yield f"{_MARGIN}   default: {', '.join(map(unhidden_line, question.default))}"


def answered_line(recorded: RecordedAsk, session: Session, style: Style) -> str:
    """Return the decision about an ask, and its subject."""
    return f"{decision_line(recorded, max(20, style.width - 40))} (session {session.short_id})"
