"""A change of the model or the mode of a session while it exists.  Values only, without I/O."""

from enum import StrEnum
from typing import Literal

from msgspec import Struct

Setting = Literal["model", "mode"]
"""``mode`` is the setting for what the agent may do on its own: its sandbox or its permission mode."""

From = Literal["step", "turn"]
"""The moment from which a live agent uses a change: its next step, or the next turn."""


class AdjustmentState(StrEnum):
    """The state of a change on its way to the agent."""

    ASKED = "asked"
    """The runner has not written it to the agent yet."""
    SENT = "sent"
    """It was written to the agent."""
    IN_FORCE = "in_force"
    """The agent confirmed it."""
    REFUSED = "refused"
    """The running agent does not take it: it counts from the next turn on, if need be in a new process."""
    NEXT = "next_turn"
    """No running agent could take it: it counts from the next turn on."""


class Adjustment(Struct, frozen=True, kw_only=True):
    """One change, and its fate."""

    id: int
    session: str
    turn: int
    """The newest turn at the time of the request; 0 if the first one waits for another session to end."""
    what: Setting
    value: str
    counts_from: From
    """The moment from which the running agent uses it, once it is in force."""
    state: AdjustmentState
    reason: str = ""
    """The agent's words about a refusal."""
    asked_by: str
    """``you``, or the session from inside which it was requested."""
    asked_at: int
    """UTC ms."""
    changed_at: int
    """Time of its last change of state."""

    @property
    def is_pending(self) -> bool:
        """True if the running agent may still confirm it."""
        return self.state in (AdjustmentState.ASKED, AdjustmentState.SENT)

    @property
    def effect(self) -> str:
        """The moment from which it counts, in words, as the end of a sentence; not cleaned."""
        from_turn = f"from turn {self.turn + 1} on"
        match self.state:
            case AdjustmentState.IN_FORCE if self.counts_from == "step":
                return "from the agent's next step on"
            case AdjustmentState.IN_FORCE | AdjustmentState.NEXT:
                return from_turn
            case AdjustmentState.REFUSED:
                return f"{from_turn}; the running agent refuses it{f': {self.reason}' if self.reason else ''}"
        return "the agent has not confirmed it yet"
