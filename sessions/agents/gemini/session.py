"""Gemini CLI's chats (0.61.0): all turns of a session, with times, reasoning, diffs and tokens.

A message grows: when its calls have ended, gemini writes the whole message again under the same id, and its steps are
replaced.  The exact end of a turn is not recorded; a turn begins with the user's prompt
(docs/protocols/gemini.md, "Chats").
"""

from collections.abc import Callable
from typing import Any, Unpack

import msgspec
from msgspec import Raw, Struct, field, structs

from agentdash.sessions.agents.gemini import session_events as events
from agentdash.sessions.agents.gemini.document import Document, begins
from agentdash.sessions.agents.gemini.tools import step_of
from agentdash.sessions.agents.parsing.json_lines import (
    KIND_LENGTH,
    NULL,
    UNREADABLE,
    declared_type,
    milliseconds,
    value_of,
)
from agentdash.sessions.agents.parsing.parser import StepFields
from agentdash.sessions.agents.parsing.tolerant_decoder import TolerantDecoder
from agentdash.sessions.agents.parsing.transcript_parser import TranscriptParser, TranscriptState, digest
from agentdash.sessions.model.session import Step, StepKind, StepStatus, Usage, known_sum

_MOST_REMEMBERED = 1_000
"""Messages; one that is written again after this number of others is shown again."""


class Shown(Struct, array_like=True):
    """One step of a message, and a digest of its last form."""

    turn: int
    index: int
    form: str


class Met(Struct, array_like=True):
    """A message that may be written again."""

    parts: dict[str, Shown] = field(default_factory=dict)
    tokens: Usage = field(default_factory=Usage)
    """The part of its tokens that is counted."""


class ChatState(TranscriptState, kw_only=True):
    """Adds the messages so far, by the digest of their ids."""

    met: dict[str, Met] = field(default_factory=dict)
    document: Document | None = None
    """The position in an older chat; None for a chat with an object a line."""


class GeminiSessionParser(TranscriptParser):
    """Parses the chat of one session."""

    state: ChatState
    state_type = ChatState
    decoder = TolerantDecoder(events.Line)

    def parse(self, line: bytes, at: int | None) -> list[Step]:
        """Return the steps of one line; one of an older chat is a piece of its only object."""
        if self.state.document is None and self.state.next == 0 and begins(line):
            self.state.document = Document()
        parts = [line] if self.state.document is None else self.state.document.read(line)
        steps: list[Step] = []
        for part in parts:
            steps += super().parse(part, at)
        return steps

    def event(self, event: events.Line, line: bytes, at: int | None) -> list[Step]:
        """Return the steps of one line; its own time is preferred to its arrival time."""
        if event.changed is not None:
            return self._fields(event.changed, line, at)
        if event.rewind_to is not None:
            return [self._note("goes back to an earlier point of the conversation", at, "rewind")]
        heading = event.session_id is not None or event.project_hash is not None or self.state.document is not None
        if not event.type and heading:
            return self._fields(self.decoded(line, dict[str, Raw]), line, at)
        return self._message(event, line, at)

    # The session

    def _fields(self, fields: dict[str, Raw], line: bytes, at: int | None) -> list[Step]:
        """Return the steps of a heading or a patch, field by field."""
        started = self._stamp(fields.get("startTime", NULL)) or self._stamp(fields.get("lastUpdated", NULL)) or at
        session = value_of(fields.get("sessionId", NULL))
        steps = self._session(session if isinstance(session, str) else None, started)
        for name, value in fields.items():
            if name == "messages":
                steps += self._context(value, line, at)
            elif name not in events.SAID_ELSEWHERE and value != NULL:
                steps += self._field(name, events.as_text(value), started)
        return steps

    def _field(self, name: str, text: str, at: int | None) -> list[Step]:
        if (name, text) in (("kind", "main"), ("sessionId", self.state.session)):
            return []
        words = "session of a sub-agent" if (name, text) == ("kind", "subagent") else f"{name}: {text}"
        return [self._note(words, at, name[:KIND_LENGTH])]

    def _context(self, messages: Raw, line: bytes, at: int | None) -> list[Step]:
        """Return the steps of the model's new context, without messages already shown, which may be shortened here."""
        try:
            lines = self.decoded(messages, list[events.Line])
        except UNREADABLE:
            return [self._unknown(line, at, "$set messages")]
        fresh = [one for one in lines if one.id is None or digest(one.id) not in self.state.met]
        return [step for one in fresh for step in self._message(one, line, at)]

    def _stamp(self, raw: Raw) -> int | None:
        return milliseconds(events.as_text(raw))

    # Messages

    def _message(self, line: events.Line, raw: bytes, at: int | None) -> list[Step]:
        handle = _MESSAGES.get(line.type)
        if handle is None:
            return [self._unknown(raw, at, line.type[:KIND_LENGTH] or declared_type(raw))]
        return handle(self, line, self._met(line.id), milliseconds(line.timestamp) or at)

    def _met(self, key: str | None) -> Met:
        if key is None:
            return Met()
        met = self.state.met
        found = met.setdefault(digest(key), Met())
        if len(met) > _MOST_REMEMBERED:
            del met[next(iter(met))]
        return found

    def _user(self, line: events.Line, met: Met, at: int | None) -> list[Step]:
        parts = events.parts_of(line.content)
        steps: list[Step] = []
        words = []
        for part in parts:
            if (response := part.get("functionResponse")) is not None:
                steps += self._response(response, met, at)
            else:
                words.append(part)
        text = events.words_of(words)
        if not words:
            return steps
        if len(words) < len(parts) or events.is_preamble(text):
            return [*steps, *self._show(met, "context", at, kind=StepKind.NOTICE, text=text, event="context")]
        return [*steps, *self._said(line, text, met, at)]

    def _said(self, line: events.Line, text: str, met: Met, at: int | None) -> list[Step]:
        """Return the steps of a prompt; the texts of files that gemini put into it are shown below it."""
        steps: list[Step] = []
        if "prompt" not in met.parts and self.state.prompted:
            steps = [*self._interrupted(None), *self._begin_turn(at)]
        self.state.prompted = True
        self.facts.error = None
        written = events.words_of(events.parts_of(line.display_content)) or text
        steps += self._show(met, "prompt", at, kind=StepKind.PROMPT, text=written)
        if written != text:
            steps += self._show(met, "context", at, kind=StepKind.NOTICE, text=text, event="context")
        return steps

    def _gemini(self, line: events.Line, met: Met, at: int | None) -> list[Step]:
        steps = self._settings({"model": line.model}, at)
        usage = _usage(line.tokens) if line.tokens is not None else Usage()
        if usage.known and usage != met.tokens:
            self.state.spent = self.state.spent.plus(usage.minus(met.tokens))
            met.tokens = usage
        for number, thought in enumerate(line.thoughts or ()):
            text = "\n\n".join(filter(None, (thought.subject, thought.description)))
            when = milliseconds(thought.timestamp) or at
            steps += self._show(met, f"thought {number}", when, kind=StepKind.REASONING, text=text)
        steps += self._content(line, met, at)
        for call in line.tool_calls or ():
            steps += self._call(call, met, at)
        return steps

    def _content(self, line: events.Line, met: Met, at: int | None) -> list[Step]:
        parts = events.parts_of(line.content)
        thoughts: list[dict[str, Any]] = []
        calls: list[dict[str, Any]] = []
        words: list[dict[str, Any]] = []
        for part in parts:
            is_call = isinstance(part.get("functionCall"), dict)
            (thoughts if part.get("thought") is True else calls if is_call else words).append(part)
        text = events.words_of(words)
        steps: list[Step] = []
        if thoughts:
            steps += self._show(met, "thought", at, kind=StepKind.REASONING, text=events.words_of(thoughts))
        if text:
            self.facts.last_message = text
            steps += self._show(met, "message", at, kind=StepKind.MESSAGE, text=text)
        for part in calls:
            call = self.decoded(Raw(msgspec.json.encode(part["functionCall"])), events.ToolCall)
            if not self._is_shown(call.id):
                steps += self._call(call, met, at)
        return steps

    def _call(self, call: events.ToolCall, met: Met, at: int | None) -> list[Step]:
        fields = step_of(call)
        running = fields["status"] is StepStatus.RUNNING
        ended = None if running else milliseconds(call.timestamp)
        steps = self._show(met, _key(call.id or call.name), at, **(fields | {"call_id": call.id, "ended_at": ended}))
        if call.id is not None and not running:
            self.state.open.pop(call.id, None)
        elif call.id is not None and steps:
            self._remember(call.id, steps[-1])
        return steps

    def _response(self, response: Any, met: Met, at: int | None) -> list[Step]:
        """Return the step of a call's response, unless the record of the call shows it."""
        response_fields = response if isinstance(response, dict) else {}
        key = response_fields["id"] if isinstance(response_fields.get("id"), str) else None
        text = events.response_text(response)
        earlier = self.state.open.pop(key, None) if key is not None else None
        if earlier is not None:
            return [structs.replace(earlier, status=StepStatus.OK, output=text, ended_at=at)]
        if self._is_shown(key):
            return []
        name = response_fields["name"] if isinstance(response_fields.get("name"), str) else key or "tool"
        part = _key(key or f"response {text}")
        return self._show(met, part, at, kind=StepKind.TOOL_CALL, text=name, tool=name, call_id=key, output=text)

    def _is_shown(self, call: str | None) -> bool:
        if call is None:
            return False
        key = _key(call)
        return any(key in met.parts for met in reversed(self.state.met.values()))

    def _remark(self, line: events.Line, met: Met, at: int | None) -> list[Step]:
        """Return the step of an on-screen message."""
        text = events.words_of(events.parts_of(line.content))
        if line.type != "error":
            return self._show(met, line.type, at, kind=StepKind.NOTICE, text=text, event=line.type)
        self.facts.error = text
        return self._show(met, line.type, at, kind=StepKind.ERROR, text=text, fatal=False)

    def _show(self, met: Met, part: str, at: int | None, **fields: Unpack[StepFields]) -> list[Step]:
        """Return the new or changed step of a message's part; nothing if it is unchanged."""
        earlier = met.parts.get(part)
        if earlier is None:
            step = self._new(at=at, **fields)
        else:
            step = Step(turn=earlier.turn, index=earlier.index, at=at, **fields)
        form = digest(msgspec.json.encode(step).decode())
        if earlier is not None and earlier.form == form:
            return []
        met.parts[part] = Shown(step.turn, step.index, form)
        return [step]


def _key(call: str) -> str:
    return f"call {digest(call)}"


def _usage(tokens: events.Tokens) -> Usage:
    """Return the usage; output and input include thoughts and tool input, which gemini counts separately."""
    read, written = (tokens.input, tokens.tool), (tokens.output, tokens.thoughts)
    return Usage.of(known_sum(*read), tokens.cached, known_sum(*written), tokens.thoughts)


_P = GeminiSessionParser
_MESSAGES: dict[str, Callable[[GeminiSessionParser, events.Line, Met, int | None], list[Step]]] = {
    "user": _P._user,
    "gemini": _P._gemini,
    "info": _P._remark,
    "warning": _P._remark,
    "error": _P._remark,
}
