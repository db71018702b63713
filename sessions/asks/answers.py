"""Check an answer against its ask, and put answers and the fates of asks into words; pure."""

import math
import re
from collections.abc import Sequence

from ..errors import UsageError
from ..text.sanitize import one_line
from ..text.units import age
from .model import Answer, Ask, Question, Verdict
from .recorded import AskState, RecordedAsk

_WORDS = {
    Verdict.ALLOW: "allowed",
    Verdict.ALWAYS: "allowed for this session",
    Verdict.DENY: "denied",
    Verdict.STOP: "denied, turn ended",
    Verdict.ANSWER: "answered",
}


def check_answer(ask: Ask, answer: Answer) -> None:
    """Refuse an answer that does not fit its ask.

    Permission for the rest of the session fits every ask that can be allowed: agentdash remembers it if the agent does
    not.

    Raises:
        UsageError: the ask does not take the verdict, or the values do not fit its questions.
    """
    taken = {*ask.verdicts, *((Verdict.ALWAYS,) if Verdict.ALLOW in ask.verdicts else ())}
    if answer.verdict not in taken:
        raise UsageError(
            f"This ask does not take {answer.verdict!s}. It takes: {', '.join(ask.verdicts) or 'nothing'}."
        )
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


def _check_values(question: Question, values: Sequence[str]) -> None:
    name = one_line(question.key, 60)
    if not values and question.required:
        raise UsageError(f"{name!r} has no answer. Question: {one_line(question.text, 200)}")
    if len(values) > 1 and not question.several:
        raise UsageError(f"{name!r} takes one answer, not {len(values)}.")
    labels = [choice.label for choice in question.choices]
    for value in values:
        if labels and not question.free and value not in labels:
            offered = ", ".join(one_line(label, 60) for label in labels)
            raise UsageError(f"{_shown(question, value)} is not offered for {name!r}. Choices: {offered}.")
        if value not in labels and not is_a(question.type, value):
            raise UsageError(f"{_shown(question, value)} is not a valid {question.type} for {name!r}.")


def _shown(question: Question, value: str) -> str:
    return "The answer" if question.secret else repr(one_line(value, 60))


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


def decision_words(verdict: Verdict) -> str:
    """Return a decision as a participle: ``denied``."""
    return _WORDS[verdict]


def fate(recorded: RecordedAsk, now: int) -> str:
    """Return the reason why an ask takes no answer, as a sentence; ``now`` is UTC ms."""
    ask = f"Ask {recorded.id}"
    if recorded.answer is None or recorded.answered_at is None:
        ended = "the agent ended first" if recorded.state is AskState.LOST else "the agent no longer waits"
        return f"{ask} takes no answer: {ended}."
    by = one_line(recorded.answered_by or "?", 80)
    passed = now - recorded.answered_at
    seconds = f"{max(0, passed) // 1000} s" if passed < 60_000 else age(passed)
    return f"{ask} was answered by {by} ({decision_words(recorded.answer.verdict)}) {seconds} ago."
