"""The table of agents: adding an agent CLI is one module and one line here.

Adapters are imported when they are asked for, so that a runner loads exactly one.
"""

from functools import cache
from importlib import import_module

from ..errors import UsageError
from .base import Agent

AGENTS: dict[str, str] = {
    "codex": "codex.adapter:Codex",
    "claude": "claude.adapter:Claude",
    "command": "command:Command",
    "demo": "demo.adapter:Demo",
}
"""Name -> ``module:class`` below this package."""


def agent_names(*, demo: bool) -> tuple[str, ...]:
    """The agents that a state folder can start: only that of a `agentdash demo` has the demo agent."""
    return tuple(name for name in AGENTS if demo or not agent_named(name).demo_only)


@cache
def agent_named(name: str) -> Agent:
    """The adapter of this name.

    Raises:
        UsageError: there is none; the message lists the known ones.
    """
    try:
        module, _, cls = AGENTS[name].partition(":")
    except KeyError:
        raise UsageError(f"Unknown agent {name!r}. Known agents: {', '.join(agent_names(demo=False))}.") from None
    adapter: Agent = getattr(import_module(f".{module}", __package__), cls)()
    return adapter
