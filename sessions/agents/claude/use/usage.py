"""The cost of a running claude turn, from the usage in its stream (Claude Code 2.1.197).

claude reports its own cost only in the ``result`` that ends a turn (docs/protocols/claude.md, "Usage").  Each block of
a message repeats the usage from the message's start, which does not count the output yet.  So the input is counted once
for each message id, and the output is estimated from the length of the printed text, if that is more.
"""

from collections.abc import Mapping

from msgspec import Raw, Struct, structs

from agentdash.sessions.agents.claude.events import ApiUsage
from agentdash.sessions.agents.parsing.tolerant_decoder import TolerantDecoder
from agentdash.sessions.agents.parsing.usage_meter import Meter
from agentdash.sessions.rules.costs.prices import Call, Price
from agentdash.sessions.rules.costs.pricing import call_of, price_of

_MOST_SPEAKERS = 10_000
_BYTES_OF_TOKEN = 4
"""Approximate, for English text and code."""


class _Message(Struct):
    usage: ApiUsage
    id: str = ""
    model: str = ""
    content: Raw = Raw(b"[]")


class _Assistant(Struct, tag_field="type", tag="assistant"):
    message: _Message
    parent_tool_use_id: str | None = None


class _Result(Struct, tag_field="type", tag="result"):
    total_cost_usd: float | None = None


class _Block(Struct):
    """The parts of a block that the model wrote."""

    text: str = ""
    thinking: str = ""
    input: Raw = Raw(b"")


class _Open(Struct):
    """The newest message of a speaker, and the part of its output that is in the sum."""

    id: int
    price: Price | None
    call: Call
    printed: int = 0
    """Bytes that the model wrote."""
    cost: float = 0.0


_DECODER: TolerantDecoder[_Assistant | _Result] = TolerantDecoder(_Assistant | _Result)
_BLOCKS: TolerantDecoder[list[_Block]] = TolerantDecoder(list[_Block])


class ClaudeMeter(Meter):
    """Adds up the cost of the model calls since claude's last own figure."""

    def __init__(self, prices: Mapping[str, Price]) -> None:
        super().__init__()
        self._prices = prices
        self._found: dict[str, Price | None] = {}
        self._open: dict[int, _Open] = {}
        """The newest message of each speaker (the main agent, each sub-agent), by a hash: ids can be long."""
        self._unread = False
        """True if the tokens of a call could not be read: the sum is not known."""

    def feed(self, line: bytes) -> None:
        """Count one line; nearly all relevant lines are short."""
        if b'"usage"' not in line:
            return
        for event in _DECODER.every(line):
            if not isinstance(event, _Result):
                self._count(event.message, hash(event.parent_tool_use_id))
            elif event.total_cost_usd is not None:
                # claude's own figure covers the whole process.
                self.cost_usd, self._unread = None, False
                self._open.clear()

    def _count(self, message: _Message, speaker: int) -> None:
        key = hash(message.id)
        current = self._open.get(speaker)
        if current is None or current.id != key:
            if len(self._open) >= _MOST_SPEAKERS:
                self._open.clear()
            usage = message.usage.counted()
            call = call_of(structs.replace(usage, output_tokens=usage.output_tokens or 0), message.usage.written_1h)
            current = self._open[speaker] = _Open(key, self._price(message.model), call or Call())
            if call is None and current.price is not None:
                self.cost_usd, self._unread, self.unpriced = None, True, "a call whose tokens cannot be read"
        blocks = _BLOCKS.best(message.content) or ()
        current.printed += sum(len(block.text) + len(block.thinking) + len(bytes(block.input)) for block in blocks)
        if current.price is None or self._unread:
            return
        output = max(current.call.output_tokens, current.printed // _BYTES_OF_TOKEN)
        cost = current.price.cost(structs.replace(current.call, output_tokens=output))
        self.cost_usd = (self.cost_usd or 0.0) + cost - current.cost
        current.cost = cost

    def _price(self, model: str) -> Price | None:
        if model.startswith("<"):
            return None  # claude made up the message: no model was called
        if model not in self._found:
            self._found[model] = price_of(model, self._prices)
        if self._found[model] is None:
            self.unpriced = model
        return self._found[model]
