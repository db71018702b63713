"""The tool ``answer``."""

from ...asks.lead_answers import not_given
from ...asks.model import Answer, Ask, AskKind, Verdict
from ...model import Session
from ..arguments import AnswerAsk
from ..calls import Calls
from ..quoting import words
from ..refusals import refusal, refused
from ..results import Answered
from ..views import MOST_FOR_LEAD, text_for_lead

_NEXT = "wait_for again: the user is asked. Or deny it."
_QUESTIONS = (AskKind.QUESTION, AskKind.FORM)


def answer(calls: Calls, arguments: AnswerAsk) -> Answered:
    """Decide about what a worker asks.

    Raises:
        RefusalError: it asks nothing, several things, or something that only the user may allow.
    """
    with refused("not_answered"):
        session = calls.find(arguments.session)
        waiting = calls.manager.reader.asks(session.id)
        numbers = ", ".join(str(one.id) for one in waiting)
        if not waiting:
            raise refusal("nothing_asked", f"Worker {session.short_id} asks nothing.", "wait_for it.")
        if arguments.ask is None and len(waiting) > 1:
            raise refusal("several_asks", f"It has {len(waiting)} asks: {numbers}.", "name one of them as ask.")
        found = [one for one in waiting if arguments.ask in (None, one.id)]
        if not found:
            raise refusal("nothing_asked", f"It has no open ask {arguments.ask}. Open: {numbers}.", "name one of them.")
        given = _answer(session, found[0].ask, arguments)
        calls.manager.asks.answer(found[0].id, given, by="its lead")
        now = calls.manager.reader.by_id(session.id)
        return Answered(
            session=calls.family().name(session.id),
            status=str(now.status),
            ask=found[0].id,
            decision=str(given.verdict),
            overview=calls.overview(),
            more_asks=len(waiting) - 1,
        )


def _answer(session: Session, ask: Ask, arguments: AnswerAsk) -> Answer:
    if ask.kind in _QUESTIONS and arguments.decision != "deny":
        return _words(session, ask, arguments)
    if arguments.decision is None:
        fact = f"Worker {session.short_id} asks for permission: {words(ask.title, 200)}."
        raise refusal("no_decision", fact, "give decision: allow, deny or always.")
    if arguments.decision == "deny":
        return Answer(verdict=Verdict.DENY, message=arguments.text)
    verdict = Verdict(arguments.decision)
    _check_given(session, ask, verdict)
    return Answer(verdict=verdict)


def _words(session: Session, ask: Ask, arguments: AnswerAsk) -> Answer:
    """Return the answer to a question.

    Raises:
        RefusalError: there is no answer, or only the user can give it.
    """
    if len(ask.questions) != 1:
        fact = f"Only the user can answer this: it has {len(ask.questions)} questions, which need a form."
        raise refusal("needs_the_user", fact, _NEXT)
    _check_given(session, ask, Verdict.ANSWER)
    if not arguments.text.strip():
        raise refusal("no_text", f"It asks: {words(ask.questions[0].text, 300)}", "give the answer as text.")
    return Answer(verdict=Verdict.ANSWER, values={ask.questions[0].key: (arguments.text,)})


def _check_given(session: Session, ask: Ask, verdict: Verdict) -> None:
    """Refuse a decision that only the user can make.

    Raises:
        RefusalError: it is one.
    """
    reason = not_given(ask, verdict, session.cwd)
    if not reason and verdict is not Verdict.DENY and len(text_for_lead(ask, 2 * MOST_FOR_LEAD)) > MOST_FOR_LEAD:
        reason = "its text is too long to be shown to a lead whole"
    if reason:
        raise refusal("needs_the_user", f"Only the user can allow this: {words(reason, 300)}.", _NEXT)
