"""The use of a running turn of a live codex, from its transcript and its stream (codex-cli 0.169.0 and 0.171.0).

The stream reports a model call (``thread/tokenUsage/updated``) when the commands of that call have ended, and never if
codex is killed before.  The transcript has the record of the call before its commands begin, with the id of the turn.
"""

from collections.abc import Mapping
from pathlib import Path

from agentdash.sessions.agents.codex.app_server import events, lines
from agentdash.sessions.agents.codex.usage import CodexMeter
from agentdash.sessions.model.session import Usage
from agentdash.sessions.rules.costs.prices import Price


class LiveCodexMeter(CodexMeter):
    """Follows the transcript of a live codex; the parser follows the thread's sums, and compactions, in its stream.

    Args:
        began: the start of the turn, UTC ms; used if the stream or the transcript does not name the turn.
        prices: the user's own, which override the list.
        limited: True if a limit needs the transcript.
    """

    def __init__(self, home: Path, began: int, prices: Mapping[str, Price], *, limited: bool) -> None:
        super().__init__(home, began, prices)
        self._limited = limited
        self._turns: set[str] = set()
        self._begun = False
        self._rerouted = False

    @property
    def trouble(self) -> str | None:
        """The reason why a limit cannot act; None without a limit, because the stream too has the tokens."""
        return super().trouble if self._limited else None

    def feed(self, line: bytes) -> None:
        """Take the turns that the stream begins, and the models that answer in place of others."""
        if not any(mark in line for mark in _MARKS):
            return
        for message in lines.every(line):
            match message:
                case events.TurnStarted(params=params) if params.turn.root_turn_id in (None, params.turn.id):
                    self._begin(params.turn.id)
                case events.Rerouted(params=params) if params.to_model:
                    self.model, self._rerouted = params.to_model, True

    def read_new(self, agent_session: str | None) -> bool:
        """Read only when the stream has named the turn: until then, all records are of earlier turns."""
        return self._begun and super().read_new(agent_session)

    def _begin(self, turn: str) -> None:
        self._begun = True
        if turn and len(self._turns) < _MOST_TURNS:
            self._turns.add(turn)
        self._rerouted = False
        self._next_search = 0.0  # the transcript exists when a turn has begun
        if not self._recorded:
            self._call_began()

    def _is_ours(self, timestamp: str, turn: str | None = None) -> bool:
        """Return whether the current line belongs to the turn, by the name of its turn if it has one."""
        if turn is not None and self._turns:
            return turn in self._turns
        return super()._is_ours(timestamp)

    def _take_model(self, model: str | None) -> None:
        if not self._rerouted:
            super()._take_model(model)

    def _skip(self, used: Usage) -> None:
        """Leave the thread's use before the turn to the parser."""

    def _take_sum(self, total: Usage, timestamp: str, *, ours: bool) -> None:
        """Leave the thread's sums to the parser."""

    def _compacted(self, timestamp: str) -> None:
        """Leave compactions to the parser."""


_MARKS = (b'"turn/started"', b'"model/rerouted"')
_MOST_TURNS = 1_000
