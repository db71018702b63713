"""The place of a session in its family, in words.  Pure."""

from agentdash.sessions.model.membership import Budget
from agentdash.sessions.model.session import Session, short_id
from agentdash.sessions.text.sanitize import one_line
from agentdash.sessions.text.units import money, tokens


def family_words(session: Session) -> list[str]:
    """Return the facts of a worker and of a lead: ``worker of 1a2b3c4d, linked, depth 1``, ``budget $2.00``."""
    return [forms[0] for forms in family_forms(session)]


def family_forms(session: Session) -> list[tuple[str, ...]]:
    """Return these facts, each with its forms, the longest first; none for a session that has no family."""
    facts: list[tuple[str, ...]] = []
    if (lead := lead_name(session)) is not None:
        depth = f", depth {session.depth}" if session.depth else ""
        facts.append((f"worker of {lead}, {session.lifecycle}{depth}", f"worker of {lead}"))
    if session.budget is not None and (words := limit_words(session.budget)):
        facts.append((f"budget {words}",))
    return facts


def lead_name(session: Session) -> str | None:
    """Return the short name of a session's lead: that of a session, or ``claude 0b1c2d3e`` for an outside lead."""
    if session.parent is not None:
        return one_line(short_id(session.parent))
    return outside_name(session.lead) if session.lead is not None else None


def outside_name(lead: str) -> str:
    """Return an outside lead, ``claude:ID``, as people read it: ``claude 0b1c2d3e``."""
    kind, _, name = lead.partition(":")
    return one_line(f"{kind} {short_id(name)}".strip())


def limit_words(budget: Budget) -> str:
    """Return the limits of a budget: ``$2.00, 412k tok``; empty if it has none."""
    parts = [money(budget.cost_usd)] if budget.cost_usd is not None else []
    parts += [f"{tokens(budget.tokens)} tok"] if budget.tokens is not None else []
    return ", ".join(parts)
