"""Permission by others than the user at this moment: for the rest of a session, and by the lead of a worker.

The agent itself remembers the first, or agentdash does.  No agent widens what another one may do.
"""

from ..text.sanitize import one_line
from .answers import taken
from .dangerous import danger, of_files, only_the_user, unplaced
from .model import MOST_BODY_BYTES, Ask, AskKind, Verdict

ALLOWABLE = (AskKind.COMMAND, AskKind.EDIT, AskKind.TOOL)
"""The kinds that agentdash can allow; plans, wider permissions and questions are the user's."""

REMEMBERED = "the same, for this session (agentdash remembers it)"


def own_scope(ask: Ask) -> str:
    """Return what the agent's own ``always`` covers, on one clean line; empty if it has none."""
    return one_line(ask.always) if Verdict.ALWAYS in ask.verdicts else ""


def can_remember(ask: Ask) -> bool:
    """Return whether agentdash can allow an ask because the user allowed the same before.

    What only the user can allow is the user's each time (:mod:`.dangerous`); it must stay in the folder of the ask.
    """
    if Verdict.ALLOW not in ask.verdicts or ask.kind not in ALLOWABLE or ask.each_time or not ask.body:
        return False
    if len(ask.body.encode("utf-8", "replace")) > MOST_BODY_BYTES:
        return False  # its row has only the beginning
    if unplaced(ask):
        return False
    folder = ask.cwd or "/"
    if ask.kind is AskKind.COMMAND:
        return not danger(ask.body, folder, folder)
    return not of_files(ask, folder, folder)


def scope(ask: Ask) -> str:
    """Return what permission for the rest of the session would cover; empty if the ask does not take it."""
    return own_scope(ask) or (REMEMBERED if can_remember(ask) else "")


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
