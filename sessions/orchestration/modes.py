"""The modes of workers in words that hold for every agent: read-only, edit, full."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from .quoting import words
from .refusals import refusal

if TYPE_CHECKING:
    from ..lifecycle.agent_list import AgentInfo

_GENERAL: Mapping[str, Mapping[str, str]] = {
    "claude": {"read-only": "plan", "edit": "acceptEdits", "full": "bypassPermissions"},
    "codex": {"read-only": "read-only", "edit": "workspace-write", "full": "danger-full-access"},
}
"""By agent: its own mode for each general word."""


def mode_options(agent: "AgentInfo", mode: str) -> dict[str, Any]:
    """Return the options of a start in a mode; none for no mode.

    Raises:
        RefusalError: the agent has no such mode.
    """
    if not mode:
        return {}
    own = _GENERAL.get(agent.name, {}).get(mode, mode)
    if own in agent.choices:
        return agent.options_of(own)
    known = ", ".join([*_GENERAL.get(agent.name, {}), *agent.choices])
    fact = f"{agent.name} has no mode {words(mode, 40)!r}."
    raise refusal("unknown_mode", fact, f"choose one of: {known}." if known else "leave mode out.")
