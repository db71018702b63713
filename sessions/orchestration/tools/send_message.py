"""The tool ``send_message``."""

import uuid
from typing import TYPE_CHECKING

from ...model import Session, Status
from ...storage.families.workers import LEAD_KEY
from ..arguments import SendMessage
from ..calls import Calls
from ..quoting import words
from ..refusals import refusal, refused
from ..results import Sent, Waited
from ..waits import wait_for_one

if TYPE_CHECKING:
    from ...prompts.prompter import Sent as Accepted


def send_message(calls: Calls, arguments: SendMessage) -> Sent:
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
        return Sent(
            session=calls.family().name(session.id),
            delivery=_delivery(accepted),
            turn=accepted.turn or 0,
            held=words(accepted.session.held or "", 200) if accepted.position is not None else "",
            ended=waited.ended if waited else (),
            needs_you=waited.needs_you if waited else (),
            overview=calls.overview(),
            next=_next(accepted, waited),
        )


def _next(accepted: "Accepted", waited: Waited | None) -> str:
    if waited is not None and (waited.ended or waited.needs_you):
        return waited.next
    if accepted.position is not None and accepted.session.held:
        return f"its queue is held; ask the user to run: agentdash queue {accepted.session.short_id} release."
    return "wait_for it."


def _send(calls: Calls, session: Session, arguments: SendMessage) -> "Accepted":
    from ...prompts.prompter import PromptOptions

    prompts, options = calls.manager.prompts, PromptOptions(key=f"{LEAD_KEY}{uuid.uuid4()}")
    if arguments.interrupt and not session.status.ended:
        sent = prompts.interrupt(session.id, arguments.message, options)[1]
        if sent is not None:
            return sent
    return prompts.inject(session.id, arguments.message, options)


def _delivery(sent: "Accepted") -> str:
    if sent.prompt.state == "taken":
        return "sent"
    return "steered" if sent.prompt.steers and not sent.session.held else "queued"


def _check_takes_prompts(calls: Calls, session: Session) -> None:
    """Refuse a prompt that could not become a turn.

    Raises:
        RefusalError: the worker takes no prompts, or processes of its lost turn still live.
    """
    from ...agents.registry import agent_named
    from ...lifecycle.recovery.reconcile import survivors

    if agent_named(session.agent).conversations is None:
        fact = f"Worker {session.short_id} is a {session.agent}, which takes no prompts."
        raise refusal("takes_no_prompt", fact, "delegate a new worker.")
    layout, store = calls.manager.layout, calls.manager.store
    if session.status is Status.LOST and survivors(layout, store.newest_turn(session.id)):
        fact = f"Processes of the lost turn of worker {session.short_id} are still running."
        raise refusal("survivors", fact, "stop_sessions ends them; then send the message again.")
