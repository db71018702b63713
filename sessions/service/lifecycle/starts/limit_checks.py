"""Check the limits of a turn before it starts: whether they can act, and whether the session has used one up.  Pure."""

from collections.abc import Callable, Collection, Sequence

from agentdash.sessions.agents.parsing.usage_meter import Measurable, Measures, When
from agentdash.sessions.model.errors import Remedy, SessionBusyError, UsageError
from agentdash.sessions.model.session import Session, Turn
from agentdash.sessions.rules.costs.usage_totals import spent_by
from agentdash.sessions.rules.limits.limits import Limits, roomier, used_up


def judged(limits: Limits, measures: Measures, asked: Collection[str] = ()) -> tuple[str, ...]:
    """Return a sentence for each limit that cannot act, or not reliably while a turn runs.

    Args:
        measures: when the agent's figures are known.
        asked: the fields of ``limits`` that this start itself requested.  The others come from the settings, which also
            apply to agents that can measure more, so they only cause a warning.

    Raises:
        UsageError: a requested limit can never act.
    """
    sentences = []
    for field, name, measurable in (("tokens", "tokens", measures.tokens), ("cost_usd", "cost", measures.cost)):
        if getattr(limits, field) is None or measurable.why is None:
            continue
        if measurable.when is When.NEVER and field in asked:
            raise UsageError(f"The {name} limit cannot work: {measurable.why}. Limit wall, silence or output instead.")
        sentences.append(_sentence(name, measurable))
    return tuple(sentences)


def _sentence(name: str, measurable: Measurable) -> str:
    what = {
        When.NEVER: "cannot work",
        When.END: "is checked only when a turn ends",
        When.LIVE: "works only if the model has a known price",
    }[measurable.when]
    return f"The {name} limit {what}: {measurable.why}."


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
