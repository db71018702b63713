"""The use of a turn from the agent's own files."""

from collections.abc import Mapping, Sequence

from agentdash.sessions.agents.base import Agent
from agentdash.sessions.agents.parsing.usage_meter import Meter
from agentdash.sessions.rules.costs.reports import Report
from agentdash.sessions.rules.launch import Launch
from agentdash.sessions.rules.turn_facts import Facts

_FINAL_LOOKS = 50
"""Maximum number of reads of the agent's own record once it is gone; each takes about a tenth of a second."""


def take(meter: Meter, facts: Facts) -> bool:
    """Read on in what a meter follows, and take its figures; return whether there is more to read at once."""
    more = meter.read_new(facts.agent_session)
    if (meter.usage.total_tokens or 0) >= (facts.usage.total_tokens or 0) and meter.usage.known:
        facts.usage = meter.usage
    if meter.thread_usage.known and facts.end is None:  # after the end the agent's own last figure counts
        facts.thread_usage = meter.thread_usage
    if meter.thread_before.known:
        facts.thread_before = meter.thread_before
    facts.cost_about_usd = meter.cost_usd
    facts.model = facts.model or meter.model
    facts.context_tokens = meter.context_tokens or facts.context_tokens
    facts.context_window = meter.context_window or facts.context_window
    if facts.reported is not None:
        for report in meter.reports:
            facts.reported.add(report)
        for at, before in meter.compactions:
            facts.reported.compact(at, None, None, before, None)
    meter.reports.clear()
    meter.compactions.clear()
    return more


def take_rest(meter: Meter, facts: Facts) -> None:
    """Read the rest of what a meter follows after the agent is gone, and close the meter.

    The figures are a lower bound if they miss the call that was under way.
    """
    for _ in range(_FINAL_LOOKS):
        if not take(meter, facts):
            break
    meter.close()
    if meter.misses_call and facts.end != "completed" and facts.reported is not None:
        facts.reported.misses_call = True


def count_broken_off(agent: Agent, facts: Facts, env: Mapping[str, str | None], began: int) -> None:
    """Add the calls of a turn that has ended to its reports, if the agent reported no sum of them.

    Args:
        began: the start of the turn, UTC ms.
    """
    if facts.unsummed and facts.reported is not None:
        calls = agent.use.calls if agent.use is not None else None
        facts.reported.break_off(calls(facts.agent_session or "", env, began) if calls is not None else None)


def total_before(agent: Agent, launch: Launch, env: Mapping[str, str | None], began: int) -> Sequence[Report] | None:
    """Return what a process takes over from the conversation (:attr:`.capabilities.Use.total_before`), if known."""
    known = agent.use.total_before if agent.use is not None else None
    return known(launch, env, began) if known is not None else None
