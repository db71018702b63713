"""Check an answer against its ask, and put asks, answers and the fates of asks into words; pure.

The limits of a form's field are those of MCP 2025-11-25.
"""

import math
import re
from collections.abc import Iterator, Sequence
from datetime import date, datetime

from msgspec import structs

from agentdash.sessions.model.errors import UsageError
from agentdash.sessions.rules.asks.model import Answer, Ask, AskKind, Question, Verdict
from agentdash.sessions.rules.asks.pattern import matches
from agentdash.sessions.rules.asks.recorded import AskState, RecordedAsk
from agentdash.sessions.text.sanitize import one_line
from agentdash.sessions.text.unhidden import unhidden_line
from agentdash.sessions.text.units import age

MOST_CELLS = 400
"""Terminal cells of a sentence; a longer one is cut."""


def sentence(ask: Ask) -> str:
    """Return an ask as one clean line: ``asks to run: rm -rf build``, ``asks: Which colour?``."""
    lead = "asks: " if ask.kind is AskKind.QUESTION else "asks to "
    return unhidden_line(lead + ask.title, MOST_CELLS)


def title_repeats_body(ask: Ask) -> bool:
    """Return whether the body of an ask, or its list of files, has all that its title names."""
    if ask.kind is AskKind.EDIT:
        return bool(ask.paths)
    subject = unhidden_line(ask.title.partition(": ")[2]).removesuffix("…").strip()
    return bool(subject) and subject in unhidden_line(ask.body)


def title_is_whole(ask: Ask) -> bool:
    """Return whether one line with the title shows all that the user would allow."""
    body = ask.body.strip()
    line = unhidden_line(ask.title, MOST_CELLS)
    return "\n" not in body and not ask.questions and len(ask.paths) < 2 and line.endswith(unhidden_line(body))


_EMAIL = re.compile(r"[^@\s]+@[^@\s.]+(?:\.[^@\s.]+)*")
_URI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:[^\s<>\"{}|\\^`]+")
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)
_TIME = re.compile(r"(\d{4}-\d{2}-\d{2})[Tt ](\d{2}:\d{2}:)(\d{2})(?:\.\d+)?([Zz]|[+-]\d{2}:\d{2})", re.ASCII)

_TYPES = {"number": "a number", "integer": "a whole number", "boolean": "true or false"}
FORMATS = {
    "email": "an email address",
    "uri": "a URI, such as https://example.org",
    "date": "a date, such as 2026-01-31",
    "date-time": "a time, such as 2026-01-31T09:30:00Z",
}
"""The formats of a text that are checked, and what each must be."""


def fault(question: Question, values: Sequence[str]) -> str:
    """Return what the values of a question must be and are not, as the end of ``It must``; empty if they fit.

    A question that is not required takes no values too.
    """
    if not values:
        return "have an answer" if question.required else ""
    if len(values) > 1 and not question.several:
        return f"be one answer, not {len(values)}"
    if question.several:
        least, most = question.min_items, question.max_items
        if (least is not None and len(values) < least) or (most is not None and len(values) > most):
            return f"be {_from_to(least, most)} choices, not {len(values)}"
    return next((reason for value in values if (reason := _fault_of(question, value))), "")


def constraints(question: Question) -> str:
    """Return what an answer must be, for a person: ``whole number, 1 to 9``; empty if it may be anything."""
    return ", ".join(_constraints(question))


def is_a(kind: str, value: str) -> bool:
    """Return whether a text is a value of a JSON type; a type that is not known takes any text."""
    if kind == "boolean":
        return value in ("true", "false")
    if kind == "integer":
        return re.fullmatch(r"-?[0-9]{1,300}", value) is not None
    if kind == "number":
        plain = re.fullmatch(r"-?[0-9]{1,300}(\.[0-9]{1,300})?([eE][+-]?[0-9]{1,4})?", value)
        return plain is not None and math.isfinite(float(value))
    return True


def _constraints(question: Question) -> Iterator[str]:
    if question.type != "string" and not question.choices:
        yield _TYPES.get(question.type, question.type).removeprefix("a ")
    if question.several:
        few = question.min_items is not None or question.max_items is not None
        yield f"{_from_to(question.min_items, question.max_items)} choices" if few else "several"
    if question.minimum is not None or question.maximum is not None:
        yield _from_to(question.minimum, question.maximum)
    if question.min_length is not None or question.max_length is not None:
        yield f"{_from_to(question.min_length, question.max_length)} characters"
    if question.format in FORMATS:
        yield FORMATS[question.format].removeprefix("a ").removeprefix("an ").partition(",")[0]
    if question.pattern:
        yield f"matches {unhidden_line(question.pattern, 60)}"


def _fault_of(question: Question, value: str) -> str:
    labels = [choice.label for choice in question.choices]
    if value in labels:
        return ""
    if labels and not question.free:
        return f"be one of: {', '.join(unhidden_line(label, 60) for label in labels)}"
    if not is_a(question.type, value):
        return f"be {_TYPES[question.type]}"
    low, high = question.minimum, question.maximum
    if question.type in ("number", "integer"):
        number = int(value) if question.type == "integer" else float(value)
        outside = (low is not None and number < low) or (high is not None and number > high)
        return f"be {_from_to(low, high)}" if outside else ""
    return _fault_of_text(question, value) if question.type == "string" else ""


def _fault_of_text(question: Question, value: str) -> str:
    least, most = question.min_length, question.max_length
    if (least is not None and len(value) < least) or (most is not None and len(value) > most):
        return f"have {_from_to(least, most)} characters, not {len(value):,}"
    if not _has_format(question.format, value):
        return f"be {FORMATS[question.format]}"
    if question.pattern and matches(question.pattern, value) is False:
        return f"match {unhidden_line(question.pattern, 60)}"
    return ""


def _has_format(form: str, value: str) -> bool:
    """Return whether a text has a format; one that is not known takes any text."""
    if form == "email":
        return _EMAIL.fullmatch(value) is not None
    if form == "uri":
        return _URI.fullmatch(value) is not None
    if form == "date":
        return _DATE.fullmatch(value) is not None and _exists(value)
    if form == "date-time":
        found = _TIME.fullmatch(value)
        zone = found[4].upper().replace("Z", "+00:00") if found else ""
        seconds = min(found[3], "59") if found and found[3] == "60" else found[3] if found else ""
        return found is not None and _exists(f"{found[1]}T{found[2]}{seconds}{zone}")
    return True


def _exists(moment: str) -> bool:
    try:
        return bool(datetime.fromisoformat(moment) if "T" in moment else date.fromisoformat(moment))
    except ValueError:
        return False


def _from_to(least: float | None, most: float | None) -> str:
    if least is None:
        return f"at most {most:,}"
    if most is None:
        return f"at least {least:,}"
    return f"{least:,}" if least == most else f"{least:,} to {most:,}"


_WORDS = {
    Verdict.ALLOW: "allowed",
    Verdict.ALWAYS: "allowed for this session",
    Verdict.DENY: "denied",
    Verdict.STOP: "denied and stopped",
    Verdict.ANSWER: "answered",
}

_DENIALS = (Verdict.DENY, Verdict.STOP)

NO_LONGER = "the agent no longer waits"


def taken(ask: Ask) -> tuple[Verdict, ...]:
    """Return the decisions that an ask takes: those of the agent in its order, and permission for the session.

    That permission is taken if the agent remembers it, or if agentdash can: then it follows the one to allow.  An ask
    whose row lacks a part can only be denied.
    """
    from agentdash.sessions.rules.asks.dangerous import scope  # only a process that shows or answers an ask needs it

    verdicts, remembered = list(dict.fromkeys(ask.verdicts)), bool(scope(ask))
    if Verdict.ALWAYS in verdicts and not remembered:
        verdicts.remove(Verdict.ALWAYS)
    elif Verdict.ALWAYS not in verdicts and remembered:
        verdicts.insert(verdicts.index(Verdict.ALLOW) + 1, Verdict.ALWAYS)
    return tuple(one for one in verdicts if not ask.left_out or one in _DENIALS)


def check_answer(ask: Ask, answer: Answer) -> None:
    """Refuse an answer that does not fit its ask.

    Raises:
        UsageError: the ask does not take the verdict, or the values do not fit its questions.
    """
    verdicts = taken(ask)
    if ask.left_out and answer.verdict not in (*verdicts, *_DENIALS):
        raise UsageError(f"This ask can only be denied: it is too long to be shown whole ({ask.left_out}).")
    if answer.verdict not in verdicts:
        raise UsageError(f"This ask does not take {answer.verdict!s}. It takes: {', '.join(verdicts) or 'nothing'}.")
    if answer.verdict is not Verdict.ANSWER:
        if answer.values:
            raise UsageError(f"Values belong to an answer, not to {answer.verdict!s}.")
        return
    questions = {question.key: question for question in ask.questions}
    for key in answer.values:
        if key not in questions:
            known = ", ".join(one_line(name, 60) for name in questions)
            raise UsageError(
                f"No question has the name {one_line(key, 60)!r}." + (f" Names: {known}." if known else "")
            )
    for key, question in questions.items():
        _check_values(question, answer.values.get(key, ()))


def with_defaults(ask: Ask, answer: Answer) -> Answer:
    """Return the answer, with the default of each question that it leaves out."""
    defaults = {question.key: question.default for question in ask.questions if question.default}
    return structs.replace(answer, values=defaults | dict(answer.values)) if answer.values or defaults else answer


def _check_values(question: Question, values: Sequence[str]) -> None:
    name = unhidden_line(question.key, 60)
    if not values and question.required:
        raise UsageError(f"{name!r} has no answer. Question: {unhidden_line(question.text, 200)}")
    if len(values) > 1 and not question.several:
        raise UsageError(f"{name!r} takes one answer, not {len(values)}.")
    labels = [choice.label for choice in question.choices]
    for value in values:
        if labels and not question.free and value not in labels:
            offered = ", ".join(unhidden_line(label, 60) for label in labels)
            raise UsageError(f"{_shown(question, value)} is not offered for {name!r}. Choices: {offered}.")
        if value not in labels and not is_a(question.type, value):
            raise UsageError(f"{_shown(question, value)} is not a valid {question.type} for {name!r}.")
    if reason := fault(question, values):
        raise UsageError(f"{_shown(question, ', '.join(values))} does not fit {name!r}: it must {reason}.")


def _shown(question: Question, value: str) -> str:
    return "The answer" if question.secret else repr(unhidden_line(value, 60))


def decision_words(verdict: Verdict) -> str:
    """Return a decision as a participle: ``denied``."""
    return _WORDS[verdict]


def decision_line(recorded: RecordedAsk, width: int | None = None) -> str:
    """Return the decision about an ask, and its subject cut to ``width`` cells: ``denied: run: make``."""
    words = decision_words(recorded.answer.verdict) if recorded.answer is not None else recorded.state
    return f"{words}: {unhidden_line(recorded.ask.title, width)}"


def due_words(recorded: RecordedAsk, now: int) -> str:
    """Return what the settings will decide, and when: ``denied in 4m``; ``now`` is UTC ms."""
    decided = decision_words(recorded.overdue) if recorded.overdue is not None else "decided"
    return f"{decided} in {age((recorded.due_at or now) - now)}"


def fate(recorded: RecordedAsk) -> str:
    """Return the end of an ask and the one who decided, as a clause: ``denied by you``; empty if it waits."""
    if recorded.state is AskState.OPEN:
        return ""
    if recorded.state is AskState.WITHDRAWN:
        return NO_LONGER
    if recorded.state is AskState.LOST:
        return "the agent ended first"
    decided = decision_words(recorded.answer.verdict if recorded.answer is not None else Verdict.ANSWER)
    return f"{decided} by {one_line(recorded.answered_by, 80)}" if recorded.answered_by else decided


def takes_none(recorded: RecordedAsk, now: int) -> str:
    """Return the reason why an ask takes no answer, as a sentence; ``now`` is UTC ms."""
    ago = ""
    if recorded.answered_at is not None and recorded.state not in (AskState.WITHDRAWN, AskState.LOST):
        passed = max(0, now - recorded.answered_at)
        ago = f" {f'{passed // 1000} s' if passed < 60_000 else age(passed)} ago"
    return f"Ask {recorded.id} takes no answer: {fate(recorded) or NO_LONGER}{ago}."


def not_given(ask: Ask, verdict: Verdict, folder: str) -> str:
    """Return the reason why only the user can decide so, as a clause; empty if a lead can.

    No agent widens what another one may do.

    Args:
        folder: the worker's folder, an absolute path.
    """
    from agentdash.sessions.rules.asks.dangerous import only_the_user, own_scope  # few processes judge for a lead

    if verdict in _DENIALS:
        return ""
    if verdict is Verdict.ANSWER:
        return "its answer is secret" if any(question.secret for question in ask.questions) else ""
    scope = own_scope(ask) if verdict is Verdict.ALWAYS else ""
    return only_the_user(ask, folder) or (f"it would be {scope}" if scope else "")


def decisions(ask: Ask, folder: str) -> tuple[Verdict, ...]:
    """Return the decisions of an ask for permission that a lead can make."""
    return tuple(verdict for verdict in taken(ask) if not not_given(ask, verdict, folder))
