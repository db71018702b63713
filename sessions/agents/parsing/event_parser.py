"""The common parser of agents that print one JSON event a line; it also reads lines that are not as expected.

The strict decoder reads nearly all lines.  A line that it refuses is read as far as possible; only a line that is not
an event at all becomes an unknown step.
"""

import re
from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

from msgspec import field, structs

from agentdash.sessions.agents.parsing.json_lines import NOT_JSON, UNREADABLE
from agentdash.sessions.agents.parsing.json_repair import parsed_object
from agentdash.sessions.agents.parsing.line_parts import is_text, parts
from agentdash.sessions.agents.parsing.parser import ParserState, TurnParser
from agentdash.sessions.agents.parsing.tolerant_decoder import Reading, TolerantDecoder, Unread
from agentdash.sessions.model.session import Step, StepKind
from agentdash.sessions.text.sanitize import one_line

_MOST_FIELDS = 100
"""Names of fields that are counted separately."""

_NAMED = 5
"""Fields of one line that its notice names; the others are only counted."""

MOST_STRAY = 20
"""Lines kept that are not events, the first and the last: they may give the reason of a failure."""

_STRAY_CHARACTERS = 400

NOT_SHOWN = "(not shown)"
"""The text of a thought that the agent encrypts, or leaves out of its output."""

_LETTER = re.compile(r"[^\W\d_]")


class EventState(ParserState, kw_only=True):
    """Adds what later lines of the turn refer to."""

    named: list[str] = field(default_factory=list)
    """The fields that a notice has named: the next version of a CLI may change a field in each of its lines."""
    error: Step | None = None
    """The last error, which the end of the turn repeats."""


class EventParser(TurnParser):
    """Parses one turn of an agent that prints events."""

    state: EventState
    state_type = EventState
    decoder: ClassVar[TolerantDecoder[Any]]
    """Decodes a line as one of the agent's events."""

    def __init__(self, turn: int = 1) -> None:
        super().__init__(turn)
        self._decode = self.decoder.decode
        self.unread: tuple[Unread, ...] = ()
        """The fields of the current event that could not be read."""

    def parse(self, line: bytes, at: int | None) -> list[Step]:
        """Decode one line as an event; if the strict decoder refuses it, read each of its parts as far as possible."""
        try:
            event = self._decode(line)
        except UNREADABLE:
            return self._text(line, at) if is_text(line) else self._refused(line, at)
        return self.event(event, line, at)

    def _text(self, line: bytes, at: int | None) -> list[Step]:
        """Return the step of a line that certainly holds no JSON."""
        self._note_stray(line, NOT_JSON)
        return [self._unknown(line, at, NOT_JSON)]

    def _refused(self, line: bytes, at: int | None) -> list[Step]:
        """Return the steps of the parts of a line that the strict decoder refused."""
        found = parts(line)
        return self._tolerantly(line, at) if found == [line] else self._each(found, at)

    def _each(self, found: Sequence[bytes], at: int | None) -> list[Step]:
        """Return the steps of the parts of one line."""
        return [step for part in found for step in self.parse(part, at)]

    @abstractmethod
    def event(self, event: Any, line: bytes, at: int | None) -> list[Step]:
        """Return the steps of one event."""

    def _tolerantly(self, line: bytes, at: int | None) -> list[Step]:
        """Return the steps of a line that the strict decoder refused, from all of its readable fields."""
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
        """Count the unreadable fields, and name those in a notice that no earlier notice named."""
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

    def _error(self, message: str, at: int | None, parent: str | None = None) -> Step:
        """Return an error after which the turn goes on; it is the reason if the turn fails."""
        self.facts.error = message
        self.state.error = self._new(StepKind.ERROR, message, at=at, fatal=False, parent=parent)
        return self.state.error

    def _fatal(self, message: str, at: int | None) -> Step:
        """End the turn with an error, and return it: the last one, or a new one."""
        self.facts.end, self.facts.error = "failed", message
        last = self.state.error
        if last is not None and last.text == message:
            return structs.replace(last, kind=StepKind.ERROR, fatal=True)
        return self._new(StepKind.ERROR, message, at=at, fatal=True)

    def _note_stray(self, line: bytes, kind: str) -> None:
        """Keep the text of a line that is not an event: if a start fails, it may be the only reason given."""
        text = line[: 8 * _STRAY_CHARACTERS].decode("utf-8", "replace") if kind == NOT_JSON else _error_of(line)
        words = stray_words(text or "")
        if _LETTER.search(words) and not words.startswith("{"):  # a leading brace means a cut event
            stray = self.facts.stray
            stray.append(words)
            if len(stray) > MOST_STRAY:
                del stray[MOST_STRAY // 2]


def stray_words(text: str) -> str:
    """Clean and shorten a line that is not an event, for the reason of a failure."""
    return one_line(text[: 4 * _STRAY_CHARACTERS])[:_STRAY_CHARACTERS]


def _error_of(line: bytes) -> str | None:
    """Return the text of an ``error`` in a JSON object of an unknown kind."""
    error = (parsed_object(line) or {}).get("error")
    text = error.get("message") if isinstance(error, dict) else error
    return text if isinstance(text, str) else None
