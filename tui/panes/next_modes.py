"""The permission modes that the user chose for the next prompts, by session."""

from collections.abc import Mapping, Sequence

from msgspec import Struct

from agentdash.sessions.service.lifecycle.agent_list import AgentInfo


class ChosenMode(Struct, frozen=True):
    """A permission mode for one prompt, other than the session's usual one."""

    name: str
    dangerous: bool
    settings: Mapping[str, object]
    """The keys of the agent's section that choose it."""


class NextModes:
    """Goes through the modes of a session's agent; a choice is for one prompt."""

    def __init__(self) -> None:
        self._chosen: dict[str, ChosenMode] = {}

    def of(self, session_id: str) -> ChosenMode | None:
        """Return the choice for a session; None for its usual mode."""
        return self._chosen.get(session_id)

    def used(self, session_id: str) -> None:
        """Go back to the usual mode: the prompt was sent."""
        self._chosen.pop(session_id, None)

    def go_on(self, session_id: str, agent: AgentInfo, usual: str | None) -> None:
        """Choose the mode after the present one; ``usual`` is that of the session.

        The agent's setting without any limits is not among them, unless the session has it.
        """
        present = self._chosen.get(session_id)
        following = mode_after(agent.modes, usual, present.name if present is not None else usual)
        if following == usual or following is None or agent.mode_key is None:
            self._chosen.pop(session_id, None)
            return
        limited = {"full_danger": False} if agent.unlimited else {}
        self._chosen[session_id] = ChosenMode(
            following, following in agent.dangerous, {agent.mode_key: following, **limited}
        )


def mode_after(modes: Sequence[str], usual: str | None, present: str | None) -> str | None:
    """Return the mode after the present one, in the agent's order; after the last one the first."""
    ring = list(modes) if usual is None or usual in modes else [usual, *modes]
    if not ring:
        return None
    return ring[(ring.index(present) + 1) % len(ring)] if present in ring else ring[0]
