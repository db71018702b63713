"""The facts of a family for an explanation: its place, what wakes a lead, and for whom a worker's need is."""

from collections.abc import Mapping

from agentdash.sessions.agents.registry import agent_named
from agentdash.sessions.model.clock import now_ms
from agentdash.sessions.model.facts import Fact
from agentdash.sessions.model.membership import Led, Lifecycle
from agentdash.sessions.model.session import Session, short_id
from agentdash.sessions.runner.queue.waking import decision
from agentdash.sessions.storage.queries import Queries
from agentdash.sessions.storage.wakes import Wakes
from agentdash.sessions.text.sanitize import one_line
from agentdash.sessions.text.units import count

_LEADS = {
    Led.AT_WORK: "is at work",
    Led.WAKES: "has ended its turn, and the ends of its workers wake it",
    Led.OVER: "has ended, and nothing wakes it: what its workers need is for the user",
}

_FATES: Mapping[Lifecycle, str] = {
    "linked": "stopped with its lead",
    "detached": "goes on if its lead is stopped",
    "ephemeral": "stopped with its lead; archived once done and read",
}


def family_facts(queries: Queries, session: Session) -> tuple[Fact, ...]:
    """Return a worker's place and what it leaves to its lead, and why a lead is woken; empty outside a family."""
    facts = [*_place(session), *([_worker(queries, session)] if session.led is not None else [])]
    wakes = Wakes(queries.database)
    family = wakes.family(session.id) if wakes.is_lead(session.id) else None
    if family is None:
        return tuple(facts)
    gather = wakes.gather(session.id)
    now = decision(family, takes_prompts=agent_named(family.lead.agent).conversations is not None)
    if gather is not None and now.wakes:
        value = f"in {max(0, gather.due_at - now_ms()) // 1000} s: {now.reason}"
    else:
        value = f"{'due' if now.wakes else 'no'}: {now.reason}"
    facts.append(Fact("wakes", value, "wakes, queue, sessions.reported_turn, sessions.woken_turn"))
    facts.append(Fact("woken", f"{count(family.lead.used, 'time')} of {family.lead.most}", "wake_ends, settings"))
    return tuple(facts)


def _place(session: Session) -> list[Fact]:
    """Return the place of a session in a family; none for a session that only the user started."""
    if session.parent is None and session.lead is None and session.key is None:
        return []
    lead = f"session {short_id(session.parent)}" if session.parent is not None else session.lead or "none"
    facts = [
        Fact("lead", f"{one_line(lead)}, depth {session.depth}", "sessions.parent, lead, depth"),
        Fact("lifecycle", f"{session.lifecycle}: {_FATES[session.lifecycle]}", "sessions.lifecycle"),
    ]
    named = {"key": session.key, "call": session.call}
    return facts + [Fact(name, one_line(value), f"sessions.{name}") for name, value in named.items() if value]


def _worker(queries: Queries, session: Session) -> Fact:
    name = short_id(session.parent or "")
    value = f"{name} {_LEADS[session.led or Led.OVER]}"
    if session.escalated:
        reserved = any(asked.ask.for_user for asked in queries.asks.open(session.id))
        value += "; only you can allow what it asks" if reserved else "; it did not see to this in time"
    if session.status.ended:
        read = "has" if session.reported_turn >= session.turn else "has not"
        value += f"; it {read} read the end of turn {session.turn}"
    return Fact("its lead", value, "sessions, settings")
