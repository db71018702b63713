"""A parser of agents that print one JSON event a line: what a line that is not as expected still gives.

The strict decoder reads nearly all lines.  A line that it refuses is read as far as possible, and only what is no event
at all becomes an unknown step.
"""

import re
from abc import abstractmethod
from typing import Any, ClassVar

from msgspec import field

from ..model import Step, StepKind
from ..text.sanitize import one_line
from .base import ParserState, TurnParser
from .json_lines import NOT_JSON, UNREADABLE
from .json_repair import parsed
from .tolerant_decoder import Reading, TolerantDecoder, Unread

_MOST_FIELDS = 100
"""Names of fields that are counted apart."""

_NAMED = 5
"""Fields of one line that its notice names; the others are counted."""

MOST_STRAY = 20
"""Lines that are no events and are kept for the reason of a failure: the first and the last ones."""

_STRAY_CHARACTERS = 400

_LETTER = re.compile(r"[^\W\d_]")


class EventState(ParserState, kw_only=True):
    """Also which fields a notice named already: the next version of a CLI may change one in each of its lines."""

    named: list[str] = field(default_factory=list)


class EventParser(TurnParser):
    """Reads one turn of an agent that prints events."""

    state: EventState
    state_type = EventState
    decoder: ClassVar[TolerantDecoder[Any]]
    """Decodes a line as one of the agent's events."""

    def __init__(self, turn: int = 1) -> None:
        super().__init__(turn)
        self._decode = self.decoder.decode
        self.unread: tuple[Unread, ...] = ()
        """The fields of the event at hand that could not be read."""

    def parse(self, line: bytes, at: int | None) -> list[Step]:
        """Decode one line as an event; one that the strict decoder refuses is read as far as possible."""
        try:
            event = self._decode(line)
        except UNREADABLE:
            return self._tolerantly(line, at)
        return self.event(event, line, at)

    @abstractmethod
    def event(self, event: Any, line: bytes, at: int | None) -> list[Step]:
        """The steps of one event."""

    def _tolerantly(self, line: bytes, at: int | None) -> list[Step]:
        """The steps of a line that the strict decoder refused; all of its fields that can be read count."""
        reading = self.decoder.read(line)
        if reading.event is None:
            self._note_stray(line, reading.kind)
            return [self._unknown(line, at, reading.kind)]
        self.unread = reading.unread
        steps = self.event(reading.event, line, at)
        self.unread = ()
        if reading.strange or (reading.unread and not steps):
            steps.append(self._unknown(line, at, " ".join([reading.kind, *reading.strange[:1]])))
        return steps + self._name_unread(reading, at)

    def _name_unread(self, reading: Reading[Any], at: int | None) -> list[Step]:
        """Count the fields that could not be read; a notice names those that no notice named before."""
        new = []
        for unread in reading.unread:
            name = f"{reading.kind}: {unread.name}"
            counts = self.facts.unreadable
            if name in counts or len(counts) < _MOST_FIELDS:
                counts[name] = counts.get(name, 0) + 1
            if name not in self.state.named and len(self.state.named) < _MOST_FIELDS:
                self.state.named.append(name)
                new.append(f"{unread.name} = {unread.value}")
        if not new:
            return []
        more = f" and {len(new) - _NAMED} more" if len(new) > _NAMED else ""
        text = f"could not be read in {reading.kind}: {', '.join(new[:_NAMED])}{more}"
        return [self._new(StepKind.NOTICE, text, at=at, event="unreadable")]

    def _note_stray(self, line: bytes, kind: str) -> None:
        """Keep the words of a line that is no event: of a start that fails they may be all that tells why."""
        text = line[: 8 * _STRAY_CHARACTERS].decode("utf-8", "replace") if kind == NOT_JSON else _error_of(line)
        words = stray_words(text or "")
        if _LETTER.search(words) and not words.startswith("{"):  # a brace begins an event that was cut
            stray = self.facts.stray
            stray.append(words)
            if len(stray) > MOST_STRAY:
                del stray[MOST_STRAY // 2]


def stray_words(text: str) -> str:
    """A line that is no event as it stands in the reason of a failure: cleaned and shortened."""
    return one_line(text[: 4 * _STRAY_CHARACTERS])[:_STRAY_CHARACTERS]


def _error_of(line: bytes) -> str | None:
    """The text of an ``error`` in a JSON object of an unknown kind."""
    try:
        data = parsed(line)
    except (ValueError, RecursionError):
        return None
    error = data.get("error") if isinstance(data, dict) else None
    text = error.get("message") if isinstance(error, dict) else error
    return text if isinstance(text, str) else None
