"""The turns of a live agent's stream whose boundaries are lost, found again from what the agent printed."""

from pathlib import Path

from msgspec import Struct, structs

from ...agents.dialogue import Delivery, Dialogue, Event, Received, TurnBegan, TurnEnded
from ...agents.parsing.line_parts import by_parts
from ...clock import monotonic
from ...storage.files.line_reader import LineReader

READ_SECONDS = 5.0
"""Time limit for reading a stream; the rest of it then belongs to the last turn."""


class Found(Struct, frozen=True):
    """One turn of a stream."""

    begin: int
    """The offset of its output."""
    end: int | None
    """The offset behind its output; None for the end of the file."""
    own: bool
    """The agent began it by itself."""


def turns_in(output: Path, dialogue: Dialogue, most: int | None) -> list[Found]:
    """Return the turns of a stream, at least one.

    Args:
        output: the file of the stream.
        dialogue: a new dialogue with the agent that wrote it.
        most: the number of turns that it can have, at least 1: the last one has all the rest.  None: any number.
    """
    found: list[Found] = []
    current, deadline = _Current(), monotonic() + READ_SECONDS
    with LineReader(output) as reader:
        for position, line in by_parts(reader.lines()):
            for event in dialogue.feed(line):
                current.hear(event)
            if not current.over:
                continue
            if len(found) + 1 == most or monotonic() > deadline:
                break
            found.append(Found(current.begin, position, current.own))
            current = _Current(position)
    last = Found(current.begin, None, current.own)
    if found and not (current.began or current.over):  # what the agent printed behind its last turn belongs to that one
        last = structs.replace(found.pop(), end=None)
    return [*found, last]


class _Current:
    """The turn that is being read."""

    def __init__(self, begin: int = 0) -> None:
        self.begin = begin
        self.began = self.over = self._prompted = False

    @property
    def own(self) -> bool:
        return self.began and not self._prompted

    def hear(self, event: Event) -> None:
        match event:
            case TurnBegan(key=key):
                self.began = True
                self._prompted = self._prompted or key is not None
            case Received(delivery=Delivery.SEEN):
                self._prompted = True
            case TurnEnded():
                self.over = True
