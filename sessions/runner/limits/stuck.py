"""Detect a stuck turn, in a loop or idle: the runner writes the result into the session's row."""

import re
from collections.abc import Set

from agentdash.sessions.model.clock import now_ms
from agentdash.sessions.model.session import Step
from agentdash.sessions.rules.attention import AttentionSettings, Stuck
from agentdash.sessions.rules.limits.loop_detector import Loops
from agentdash.sessions.rules.turn_facts import Facts
from agentdash.sessions.runner.limits.idleness import Idleness, Look


class StuckWatch:
    """Watches one turn: its steps as they come, and its silence.

    Args:
        settings: thresholds from which a turn counts as stuck.
        used: returns the CPU time of the session's processes.
        recorded: the record of the turn's earlier runner: the evidence, and since when (UTC ms).
        polling_tools: tools that are meant to be called again with the same arguments.
    """

    def __init__(
        self,
        settings: AttentionSettings,
        used: Look,
        recorded: tuple[str, int] | None = None,
        polling_tools: Set[str] = frozenset(),
    ) -> None:
        self._recorded = recorded
        self._loops = Loops(settings.repeats, polling_tools)
        self._idleness = Idleness(settings.idle_seconds, used)
        self._episode: Stuck | None = None

    def feed(self, step: Step) -> None:
        """Add a step to the loop detection."""
        self._loops.feed(step)

    def check(self, facts: Facts, now: float, printed_at: float) -> float | None:
        """Check for idleness; return the seconds until the next check, None while the turn waits for an answer."""
        return self._idleness.check(now, printed_at) if facts.waiting is None else None

    def episode(self, facts: Facts, printed_at: float) -> Stuck | None:
        """Return the present episode, if any; a waiting or ended turn is not stuck, whatever it did before."""
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
        if self._episode is not None and self._episode.key == key:
            return Stuck(key, evidence, self._episode.since)
        if self._recorded is not None and _kind(self._recorded[0]) == _kind(evidence):
            since, self._recorded = self._recorded[1], None
            return Stuck(key, evidence, since)
        return Stuck(key, evidence, now_ms())


def _kind(evidence: str) -> str:
    """Evidence without its numbers, which grow during one episode."""
    return re.sub(r"\d+", "", evidence)
