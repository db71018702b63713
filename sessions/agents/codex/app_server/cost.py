"""The cost of a live codex turn, estimated call by call from the tokens in its stream (codex-cli 0.169.0).

codex reports no cost.  ``thread/tokenUsage/updated`` has the tokens of the last call, and codex repeats it
after a resume, before a compaction and after a failed call.
"""

from collections.abc import Mapping

from ....costs.price_table import price_of
from ....costs.prices import Price
from ....costs.pricing import call_of
from ....model import Usage
from ...parsing.usage_meter import Meter
from . import events, lines


class AppServerCost(Meter):
    """Adds up the cost of the calls of one turn; None if the model of one of them has no price.

    Args:
        model: the model with which the turn begins, if it is known.
        prices: the user's own, which override the list.
    """

    def __init__(self, model: str | None, prices: Mapping[str, Price]) -> None:
        super().__init__()
        self._model = model
        self._prices = prices
        self._thread: str | None = None
        self._running = False
        self._total = Usage()
        self._sum = 0.0

    @property
    def trouble(self) -> str | None:
        """None: no limit needs this estimate."""
        return None

    def feed(self, line: bytes) -> None:
        """Count one line; few lines matter."""
        if not any(mark in line for mark in _MARKS):
            return
        for message in lines.every(line):
            self._hear(message)

    def _hear(self, message: lines.Message | lines.Line) -> None:
        match message:
            case lines.Line(id=lines.OPENED, result=lines.Result(thread=lines.Thread() as thread) as opened) if (
                self._thread is None  # an adopter may have asked twice
            ):
                self._thread, self._model = thread.id, opened.model or self._model
            case events.SettingsUpdated() if not self._running:  # a running turn keeps its model
                self._model = message.params.thread_settings.model or self._model
            case events.Rerouted():
                self._model = message.params.to_model or self._model
            case events.TurnStarted() if message.params.turn.root_turn_id in (None, message.params.turn.id):
                self._thread, self._running = message.params.thread_id or self._thread, True
            case events.UsageUpdated():
                self._count(message.params)

    def _count(self, params: events.UsageParams) -> None:
        usage = params.token_usage
        total = usage.total.counted()
        repeated, self._total = total in (self._total, self.thread_before), total
        if not self._running or repeated or usage.last.input_tokens == usage.last.output_tokens == 0:
            return
        ours = None in (params.thread_id, self._thread) or params.thread_id == self._thread
        price = price_of(self._model, self._prices) if self._model and ours else None
        call = call_of(usage.last.counted())
        if price is None or call is None:
            self.unpriced = self._model if ours and self._model else "a model that codex did not name"
        else:
            self._sum += price.cost(call)
        self.cost_usd = self._sum if self.unpriced is None else None


_MARKS = (
    b'"thread/tokenUsage/updated"', b'"thread/settings/updated"', b'"model/rerouted"', b'"turn/started"', b'"result"',
)  # fmt: skip
