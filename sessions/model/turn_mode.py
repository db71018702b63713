"""The permissions and other settings of one turn, as they were at its start: recorded with its launch."""

from msgspec import Struct


class TurnMode(Struct, frozen=True, kw_only=True):
    """The settings with which an agent ran a turn, as far as they can differ from turn to turn."""

    setting: str | None = None
    """The setting that limits the agent: ``sandbox``, ``permission_mode``; None if the agent has none."""
    permissions: str | None = None
    """Its value, or the adapter's word for no limits at all; None if the agent has no such setting."""
    default: str | None = None
    """The adapter's default of that setting."""
    dangerous: bool = False
    """True if these permissions do not limit the agent."""
    model: str | None = None
    """The requested model; None for the agent's own."""
    search: bool | None = None
    """Web search; None if the agent decides, or has none."""
    args: tuple[str, ...] = ()
    """Extra CLI arguments."""
    allowed_tools: tuple[str, ...] = ()
    """Tools that need no permission."""
    instructions: str | None = None
    """The text that was appended to the agent's system prompt."""
