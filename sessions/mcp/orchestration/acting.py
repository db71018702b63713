"""The tools that act on workers: ``send_message``, ``stop_sessions`` and ``answer``."""

import uuid
from typing import TYPE_CHECKING

from agentdash.sessions.agents.registry import agent_named
from agentdash.sessions.mcp.orchestration import schemas
from agentdash.sessions.mcp.orchestration.calls import Calls
from agentdash.sessions.mcp.orchestration.quoting import words
from agentdash.sessions.mcp.orchestration.refusals import refusal, refusal_of, refused
from agentdash.sessions.mcp.orchestration.views import MOST_FOR_LEAD, text_for_lead
from agentdash.sessions.mcp.orchestration.waits import wait_for_one
from agentdash.sessions.model.errors import RefusalError
from agentdash.sessions.model.session import Receipt, Session, Status
from agentdash.sessions.rules.asks.answers import not_given
from agentdash.sessions.rules.asks.model import Answer, Ask, AskKind, Verdict
from agentdash.sessions.service.lifecycle.stop_family import StopHow
from agentdash.sessions.storage.families.families import LEAD_KEY

if TYPE_CHECKING:
    from agentdash.sessions.service.prompts.prompter import Sent as Accepted


def send_message(calls: Calls, arguments: schemas.SendMessage) -> schemas.Sent:
    """Send a prompt to a worker: its next turn, a place in its queue, or words into its running turn.

    Raises:
        RefusalError: the message is empty, or the worker takes none.
    """
    with refused("not_sent", "read its stderr, or delegate the task to another worker."):
        if not arguments.message.strip():
            raise refusal("empty_message", "The message is empty.", "give the next prompt.")
        session = calls.find(arguments.session)
        _check_takes_prompts(calls, session)
        accepted = _send(calls, session, arguments)
        waited = wait_for_one(calls, session.id, arguments.wait_s, accepted.prompt.id)
        accepted = calls.manager.prompts.sent(accepted.prompt.id)
        steered = accepted.prompt.steers and not accepted.session.held
        return schemas.Sent(
            session=calls.family().name(session.id),
            delivery="sent" if accepted.prompt.state == "taken" else "steered" if steered else "queued",
            turn=accepted.turn or 0,
            held=words(accepted.session.held or "", 200) if accepted.position is not None else "",
            ended=waited.ended if waited else (),
            needs_you=waited.needs_you if waited else (),
            overview=calls.overview(),
            next=_next(accepted, waited),
        )


def _next(accepted: "Accepted", waited: schemas.Waited | None) -> str:
    if waited is not None and (waited.ended or waited.needs_you):
        return waited.next
    if accepted.position is not None and accepted.session.held:
        return f"its queue is held; ask the user to run: agentdash queue {accepted.session.short_id} release."
    return "wait_for it."


def _send(calls: Calls, session: Session, arguments: schemas.SendMessage) -> "Accepted":
    from agentdash.sessions.service.prompts.prompter import PromptOptions

    prompts, options = calls.manager.prompts, PromptOptions(key=f"{LEAD_KEY}{uuid.uuid4()}")
    if arguments.interrupt and not session.status.ended:
        sent = prompts.interrupt(session.id, arguments.message, options)[1]
        if sent is not None:
            return sent
    return prompts.inject(session.id, arguments.message, options)


def _check_takes_prompts(calls: Calls, session: Session) -> None:
    """Refuse a prompt that could not become a turn."""
    from agentdash.sessions.service.lifecycle.recovery.reconcile import survivors

    if agent_named(session.agent).conversations is None:
        fact = f"Worker {session.short_id} is a {session.agent}, which takes no prompts."
        raise refusal("takes_no_prompt", fact, "delegate a new worker.")
    layout, store = calls.manager.layout, calls.manager.store
    if session.status is Status.LOST and survivors(layout, store.newest_turn(session.id)):
        fact = f"Processes of the lost turn of worker {session.short_id} are still running."
        raise refusal("survivors", fact, "stop_sessions ends them; then send the message again.")


DEFAULT_REASON = "ended by its lead"
_MOST = 60
"""The most workers of each list of a result."""


def stop_sessions(calls: Calls, arguments: schemas.StopSessions) -> schemas.Stopped:
    """Stop workers; those that cannot be stopped are named with the reason.

    Raises:
        RefusalError: none could be stopped.
    """
    family = calls.family()
    found: dict[str, tuple[str, Session]] = {}
    refusals: list[tuple[str, RefusalError]] = []
    for ref in arguments.sessions:
        try:
            with refused():
                session = calls.find(ref, family)
            found[session.id] = (ref, session)
        except RefusalError as error:
            refusals.append((ref, error))
    stopped = []
    with refused("not_stopped"):
        receipts = calls.manager.stop_all(found, StopHow(reason=arguments.reason))
    for (ref, session), receipt in zip(found.values(), receipts, strict=True):
        if isinstance(receipt, Receipt):
            stopped.append(_stopped(calls, family.name(session.id), session, receipt))
        else:
            refusals.append((ref, refusal_of(receipt, "not_stopped")))
    if not stopped:
        raise refusals[0][1]
    return schemas.Stopped(
        overview=calls.overview(),
        stopped=tuple(stopped[:_MOST]),
        not_stopped=tuple(
            schemas.NotStopped(session=words(ref, 40), error=words(str(error), 200)) for ref, error in refusals[:_MOST]
        ),
        reason=words(arguments.reason, 200) or DEFAULT_REASON,
    )


def _stopped(calls: Calls, name: str, session: Session, receipt: Receipt) -> schemas.StoppedOne:
    """Return the result of a stop, which names the end: wait_for does not name it again."""
    now = calls.manager.store.session(session.id) or session
    calls.reading.name(now)
    return schemas.StoppedOne(
        session=name, status=str(now.status), ended=len(receipt.ended), left=len(receipt.left), turn=now.turn,
        tokens=now.usage.total_tokens or 0, tokens_missing=now.tokens_missing,
        receipt=words(receipt.note or receipt.summary(), 160),
    )  # fmt: skip


_WITHOUT_USER = "wait_for again: the user is asked. Or deny it."
_QUESTIONS = (AskKind.QUESTION, AskKind.FORM)


def answer(calls: Calls, arguments: schemas.AnswerAsk) -> schemas.Answered:
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
        return schemas.Answered(
            session=calls.family().name(session.id),
            status=str(now.status),
            ask=found[0].id,
            decision=str(given.verdict),
            overview=calls.overview(),
            more_asks=len(waiting) - 1,
        )


def _answer(session: Session, ask: Ask, arguments: schemas.AnswerAsk) -> Answer:
    if ask.kind in _QUESTIONS and arguments.decision != "deny":
        return _words_given(session, ask, arguments)
    if arguments.decision is None:
        fact = f"Worker {session.short_id} asks for permission: {words(ask.title, 200)}."
        raise refusal("no_decision", fact, "give decision: allow, deny or always.")
    if arguments.decision == "deny":
        return Answer(verdict=Verdict.DENY, message=arguments.text)
    verdict = Verdict(arguments.decision)
    _check_given(session, ask, verdict)
    return Answer(verdict=verdict)


def _words_given(session: Session, ask: Ask, arguments: schemas.AnswerAsk) -> Answer:
    if len(ask.questions) != 1:
        fact = f"Only the user can answer this: it has {len(ask.questions)} questions, which need a form."
        raise refusal("needs_the_user", fact, _WITHOUT_USER)
    _check_given(session, ask, Verdict.ANSWER)
    if not arguments.text.strip():
        raise refusal("no_text", f"It asks: {words(ask.questions[0].text, 300)}", "give the answer as text.")
    return Answer(verdict=Verdict.ANSWER, values={ask.questions[0].key: (arguments.text,)})


def _check_given(session: Session, ask: Ask, verdict: Verdict) -> None:
    """Refuse a decision that only the user can make."""
    reason = not_given(ask, verdict, session.cwd)
    if not reason and verdict is not Verdict.DENY and len(text_for_lead(ask, 2 * MOST_FOR_LEAD)) > MOST_FOR_LEAD:
        reason = "its text is too long to be shown to a lead whole"
    if reason:
        raise refusal("needs_the_user", f"Only the user can allow this: {words(reason, 300)}.", _WITHOUT_USER)
