"""The permissions of sessions as three ranks, and the greatest that a caller can give: never more than its own.

Rank 0 reads, rank 1 changes its workspace, rank 2 does anything.
"""

from collections.abc import Collection
from typing import TYPE_CHECKING

from msgspec import Struct

from ..errors import NotAllowedError
from ..values.turn_mode import TurnMode

if TYPE_CHECKING:
    from ..agents.base import Agent
    from ..settings.orchestration import OrchestrationSettings
    from ..storage.queries import Queries
    from .caller import Caller

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


def rank(agent: "Agent", mode: TurnMode | None) -> int | None:
    """Return the rank of an agent in a mode; None for one that does nothing itself and limits nothing (the demo)."""
    if agent.demo_only:
        return None
    if not agent.prompted or mode is None or mode.dangerous or mode.permissions is None:
        return FULL
    return agent.ranks.get(mode.permissions, FULL)


def bound_of(caller: "Caller", queries: "Queries", settings: "OrchestrationSettings") -> Bound | None:
    """Return the greatest permissions that a caller can give; None if nothing limits it."""
    from ..agents.registry import agent_named, is_agent  # the user's own commands need no adapter

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
        mode = TurnMode(setting=mode.setting, permissions=session.mode, dangerous=session.mode in agent.dangerous)
    own = rank(agent, mode)
    return None if own is None or own >= FULL else Bound(rank=own, agent=session.agent, permissions=permissions)


def check_mode(bound: Bound | None, agent: "Agent", mode: TurnMode | None, options: Collection[str] = ()) -> None:
    """Refuse permissions beyond a bound.

    Args:
        bound: the greatest permissions; None for no bound.
        agent: the agent that is to run.
        mode: its mode.
        options: the keys of its section that the request names itself.

    Raises:
        NotAllowedError: the mode permits more, or an option could.
    """
    if bound is None or (own := rank(agent, mode)) is None:
        return
    name = (mode.permissions if mode is not None else None) or "without a sandbox"
    wider = agent.name == bound.agent and bound.permissions in agent.narrower.get(name, ())
    if own > bound.rank or wider:
        most = bound.permissions or bound.text
        raise NotAllowedError(
            "mode_not_allowed", f"{agent.name} in the mode {name} can do more than its lead, whose mode is {most}."
        )
    if widening := sorted(_WIDENING & set(options)):
        keys = ", ".join(widening)
        raise NotAllowedError("mode_not_allowed", f"An agent cannot set {keys} of a worker: it could permit more.")
