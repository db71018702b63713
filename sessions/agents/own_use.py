"""The use of a turn that ended without the agent's sum of it, from the agent's own files."""

from collections.abc import Mapping

from ..rules.turn_facts import Facts
from .base import Agent


def count_broken_off(agent: Agent, facts: Facts, env: Mapping[str, str | None], began: int) -> None:
    """Add the calls of a turn that has ended to its reports, if the agent reported no sum of them.

    Args:
        agent: the agent.
        facts: the facts of the turn's output.
        env: the agent's environment.
        began: the start of the turn, UTC ms.
    """
    if facts.unsummed and facts.reported is not None:
        facts.reported.break_off(agent.own_calls(facts.agent_session or "", env, began))
