"""Meters that follow the tokens and the cost of a running turn, and the moments at which an agent reports them."""

from enum import StrEnum
from pathlib import Path

from msgspec import Struct

from ..model import Usage


class When(StrEnum):
    """The earliest moment at which a figure is known."""

    LIVE = "live"
    """After each model call, while the turn runs."""
    END = "end"
    """When the turn ends."""
    NEVER = "never"


class Measurable(Struct, frozen=True):
    """When one figure is known, and why not sooner or not surely."""

    when: When
    why: str | None = None
    """What keeps a limit on it from acting, with what the user can do about it; None if a limit surely acts."""


class Measures(Struct, frozen=True, kw_only=True):
    """When the figures of one start are known."""

    tokens: Measurable
    cost: Measurable


class Meter:
    """Follows the use of one running turn; opened only if its tokens or its cost are limited.

    Nothing here raises: what cannot be read is not counted.
    """

    usage = Usage()
    """The turn's own tokens so far; unknown if the parser's facts have them."""
    thread_usage = Usage()
    """The conversation's tokens as the agent will go on counting them, if it counts that way."""
    cost_usd: float | None = None
    """About what the turn costs beyond the agent's own figure, at known prices; None if nothing was priced."""
    unpriced: str | None = None
    """A model that was used and has no price."""
    path: Path | None = None
    """A file of the agent whose growth means that there is something new; None if there is none, or not yet."""
    seeks = False
    """Whether :attr:`path` is still to be found: then looking again helps."""

    @property
    def trouble(self) -> str | None:
        """What keeps a limit from acting, in words; None if nothing does."""
        return f"its cost limit does not count {self.unpriced}, which has no price" if self.unpriced else None

    def feed(self, line: bytes) -> None:
        """Take one line of the agent's own output into account."""

    def look(self, agent_session: str | None) -> bool:  # noqa: ARG002
        """Read what is new elsewhere; whether there is more of it.  ``agent_session`` is the conversation's id."""
        return False

    def close(self) -> None:
        """Let go of what was opened."""
