"""The facts of a family for an explanation: what wakes a lead, and for whom a worker's need is."""

from ..agents.registry import agent_named
from ..clock import now_ms
from ..membership import Led
from ..model import Session, short_id
from ..storage.queries import Queries
from ..storage.wakes import Wakes
from ..text.units import count
from .waking import decision

NamedFact = tuple[str, str, str]
"""Name, value and source."""

_LEADS = {
    Led.AT_WORK: "is at work",
    Led.WAKES: "has ended its turn, and the ends of its workers wake it",
    Led.OVER: "has ended, and nothing wakes it: what its workers need is for the user",
}


def family_facts(queries: Queries, session: Session) -> tuple[NamedFact, ...]:
    """Return why a lead is woken or not, and what a worker leaves to its lead; empty outside a family."""
    facts = [_worker(session)] if session.led is not None else []
    wakes = Wakes(queries.database)
    family = wakes.family(session.id) if wakes.is_lead(session.id) else None
    if family is None:
        return tuple(facts)
    gather = wakes.gather(session.id)
    now = decision(family, takes_prompts=agent_named(family.lead.agent).resumable)
    if gather is not None and now.wakes:
        value = f"in {max(0, gather.due_at - now_ms()) // 1000} s: {now.reason}"
    else:
        value = f"{'due' if now.wakes else 'no'}: {now.reason}"
    facts.append(("wakes", value, "wakes, queue, sessions.reported_turn, sessions.woken_turn"))
    facts.append(("woken", f"{count(family.lead.used, 'time')} of {family.lead.most}", "wake_ends, settings"))
    return tuple(facts)


def _worker(session: Session) -> NamedFact:
    name = short_id(session.parent or "")
    value = f"{name} {_LEADS[session.led or Led.OVER]}"
    if session.escalated:
        value += "; it did not see to this in time"
    if session.status.ended:
        read = "has" if session.reported_turn >= session.turn else "has not"
        value += f"; it {read} read the end of turn {session.turn}"
    return "its lead", value, "sessions, settings"
