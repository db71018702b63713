"""The permissions of sessions as three ranks, and the greatest that a caller can give: never more than its own.

Rank 0 reads, rank 1 changes its workspace, rank 2 does anything.
"""

from collections.abc import Collection
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from agentdash.sessions.model.errors import NotAllowedError
from agentdash.sessions.model.turn_mode import TurnMode

if TYPE_CHECKING:
    from agentdash.sessions.agents.base import Agent
    from agentdash.sessions.runner.caller import Caller
    from agentdash.sessions.settings.sections import OrchestrationSettings
    from agentdash.sessions.storage.queries import Queries

FULL = 2
RANKS = {"read-only": 0, "edit": 1, "full": FULL}
"""The ranks by ``orchestration.mode``."""

_WIDENING = frozenset({"args", "allowed_tools", "bin", "config"})
"""Keys of an agent's section that can give permissions which its mode does not have."""


class Bound(Struct, frozen=True, kw_only=True):
    """The greatest permissions that a caller can give."""

    rank: int
    agent: str | None = None
    """The caller's agent; None for an outside lead."""
    permissions: str | None = None
    """The caller's own mode."""

    @property
    def text(self) -> str:
        """The bound in the words of the settings."""
        return next(name for name, rank in RANKS.items() if rank == self.rank)


def rank(agent: "Agent", mode: TurnMode | None) -> int:
    """Return the rank of an agent in a mode; one without modes can do anything."""
    if not agent.prompted or mode is None or mode.dangerous or mode.permissions is None:
        return FULL
    return agent.modes.ranks.get(mode.permissions, FULL) if agent.modes is not None else FULL


def bound_of(caller: "Caller", queries: "Queries", settings: "OrchestrationSettings") -> Bound | None:
    """Return the greatest permissions that a caller can give; None if nothing limits it."""
    from agentdash.sessions.agents.registry import agent_named, is_agent  # the user's own commands need no adapter

    session = queries.session(caller.session) if caller.session is not None else None
    if session is None:
        bound = RANKS[settings.mode]
        return None if caller.acts_for_user or bound >= FULL else Bound(rank=bound)
    if not is_agent(session.agent):
        return Bound(rank=0, agent=session.agent)
    mode = queries.newest_turn(session.id).mode
    permissions = session.mode or (mode.permissions if mode is not None else None)
    agent = agent_named(session.agent)
    if mode is not None and session.mode is not None:
        mode = TurnMode(setting=mode.setting, permissions=session.mode, dangerous=agent.is_dangerous(session.mode))
    own = rank(agent, mode)
    return None if own >= FULL else Bound(rank=own, agent=session.agent, permissions=permissions)


def is_wider(bound: Bound, agent: "Agent", mode: TurnMode | None) -> bool:
    """Return whether a mode of an agent permits more than a bound."""
    is_same, modes = agent.name == bound.agent, agent.modes
    wider = is_same and modes is not None and modes.permits_no_more(bound.permissions, _name(mode))
    return rank(agent, mode) > bound.rank or wider


def narrowed(bound: Bound | None, agent: "Agent", mode: TurnMode | None) -> dict[str, Any]:
    """Return the options for the greatest mode within a bound, if the mode of the settings permits more; else none.

    The caller's own mode comes first, if the agent is the same; an agent without such a mode has none to return.
    """
    modes = agent.modes
    if bound is None or modes is None or not is_wider(bound, agent, mode):
        return {}
    every = {one: TurnMode(setting=modes.key, permissions=one, dangerous=one in modes.dangerous) for one in modes.names}
    permitted = [name for name, one in every.items() if not is_wider(bound, agent, one)]
    if not permitted:
        return {}
    own = bound.permissions if agent.name == bound.agent else None
    best = max(permitted, key=lambda one: (one == own, modes.ranks.get(one, FULL), len(modes.narrower.get(one, ()))))
    return modes.options(best)


def _name(mode: TurnMode | None) -> str:
    return (mode.permissions if mode is not None else None) or "without a sandbox"


def check_mode(bound: Bound | None, agent: "Agent", mode: TurnMode | None, options: Collection[str] = ()) -> None:
    """Refuse permissions beyond a bound.

    Args:
        bound: the greatest permissions; None for no bound.
        options: the keys of its section that the request names itself.

    Raises:
        NotAllowedError: the mode permits more, or an option could.
    """
    if bound is None:
        return
    if is_wider(bound, agent, mode):
        most = bound.permissions or bound.text
        fact = f"{agent.name} in the mode {_name(mode)} can do more than its lead, whose mode is {most}."
        raise NotAllowedError("mode_not_allowed", fact)
    if widening := sorted(_WIDENING & set(options)):
        keys = ", ".join(widening)
        raise NotAllowedError("mode_not_allowed", f"An agent cannot set {keys} of a worker: it could permit more.")
