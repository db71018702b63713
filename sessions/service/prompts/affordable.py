"""A check that a session may go on: it has not used up one of its limits."""

from collections.abc import Callable, Sequence

from agentdash.sessions.model.errors import Remedy, SessionBusyError
from agentdash.sessions.model.session import Session, Turn
from agentdash.sessions.rules.costs.usage_totals import spent_by
from agentdash.sessions.rules.limits.limits import Limits, roomier, used_up


def check_affordable(session: Session, turns: Callable[[], Sequence[Turn]], limits: Limits, verb: str) -> None:
    """Refuse a turn for a session that has used up a limit, because its runner would only stop it again.

    ``turns`` reads the session's turns; it is called only if a limit needs them.

    Raises:
        SessionBusyError: it has; the error names the command that raises the limit with ``verb``.
    """
    if not limits.stops or (limits.tokens is None and limits.cost_usd is None):
        return
    spent = spent_by(list(turns()))
    over = used_up(limits, spent.tokens, spent.cost_usd, estimated=spent.estimated)
    if over:
        short = session.short_id
        raised = " ".join(f"--limit {roomier(name, spent.tokens, spent.cost_usd)}" for name in over)
        prompt = ' "…"' if verb == "inject" else ""
        raise SessionBusyError(
            f"Session {short} is over its limit: it {' and '.join(over.values())}.",
            Remedy.RAISE_LIMIT,
            f"Raise the limit to continue: agentdash {verb} {short} {raised}{prompt}",
        )
