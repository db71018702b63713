"""Check an answer against its ask, and put answers and the fates of asks into words; pure."""

from collections.abc import Sequence

from msgspec import structs

from ..errors import UsageError
from ..text.sanitize import one_line
from ..text.unhidden import unhidden_line
from ..text.units import age
from .constraints import fault, is_a
from .model import Answer, Ask, Question, Verdict
from .recorded import AskState, RecordedAsk

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
    from .always import scope  # only a process that shows or answers an ask needs it

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
