"""The decisions of a lead about an ask of its worker: no agent widens what another one may do."""

from .always import own_scope
from .answers import taken
from .dangerous import only_the_user
from .model import Ask, Verdict

_REFUSALS = (Verdict.DENY, Verdict.STOP)


def not_given(ask: Ask, verdict: Verdict, folder: str) -> str:
    """Return the reason why only the user can decide so, as a clause; empty if a lead can.

    Args:
        ask: what the worker asks.
        verdict: the decision.
        folder: the worker's folder, an absolute path.
    """
    if verdict in _REFUSALS:
        return ""
    if verdict is Verdict.ANSWER:
        return "its answer is secret" if any(question.secret for question in ask.questions) else ""
    scope = own_scope(ask) if verdict is Verdict.ALWAYS else ""
    return only_the_user(ask, folder) or (f"it would be {scope}" if scope else "")


def decisions(ask: Ask, folder: str) -> tuple[Verdict, ...]:
    """Return the decisions of an ask for permission that a lead can make."""
    return tuple(verdict for verdict in taken(ask) if not not_given(ask, verdict, folder))
