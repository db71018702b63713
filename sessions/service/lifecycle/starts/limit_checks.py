"""Check before a start whether its limits can act, from what the agent can measure.  Pure."""

from collections.abc import Collection

from agentdash.sessions.agents.parsing.usage_meter import Measurable, Measures, When
from agentdash.sessions.model.errors import UsageError
from agentdash.sessions.rules.limits.limits import Limits


def judged(limits: Limits, measures: Measures, asked: Collection[str] = ()) -> tuple[str, ...]:
    """Return a sentence for each limit that cannot act, or not reliably while a turn runs.

    Args:
        limits: the limits of the start.
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
