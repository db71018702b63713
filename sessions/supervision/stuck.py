"""Whether a turn gets nowhere: in a loop, or idle.  What its runner concludes and writes into the row."""

from ..agents.base import Facts
from ..attention import AttentionSettings, Stuck
from ..clock import now_ms
from ..loops import Loops
from ..model import Step
from .idleness import Idleness, Look


class StuckWatch:
    """Watches one turn: its steps as they come, and its silence."""

    def __init__(self, settings: AttentionSettings, used: Look) -> None:
        self._loops = Loops(settings.repeats)
        self._idleness = Idleness(settings.idle_seconds, used)
        self._episode: Stuck | None = None

    def feed(self, step: Step) -> None:
        """Account for a step."""
        self._loops.feed(step)

    def look(self, facts: Facts, now: float, printed_at: float) -> float | None:
        """Look whether it is idle; in how many seconds to look again, None while it waits for an answer."""
        return self._idleness.look(now, printed_at) if facts.waiting is None else None

    def episode(self, facts: Facts, printed_at: float) -> Stuck | None:
        """What keeps it now; a waiting or ended turn is not stuck, whatever it did before."""
        self._idleness.printed(printed_at)
        loop, idle = self._loops.found, self._idleness.evidence
        if facts.waiting is not None or facts.end is not None:
            self._episode = None
        elif loop is not None:
            self._episode = self._going_on(loop.key, loop.evidence)
        else:
            self._episode = self._going_on("idle", idle) if idle is not None else None
        return self._episode

    def _going_on(self, key: str, evidence: str) -> Stuck:
        earlier = self._episode
        return Stuck(key, evidence, earlier.since if earlier is not None and earlier.key == key else now_ms())
