"""Permission for the rest of a session: the agent itself remembers it, or agentdash does."""

from agentdash.sessions.rules.asks.dangerous import danger, of_files, unplaced
from agentdash.sessions.rules.asks.model import MOST_BODY_BYTES, Ask, AskKind, Verdict
from agentdash.sessions.text.sanitize import one_line

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
