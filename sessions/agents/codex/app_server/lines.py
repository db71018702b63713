"""The lines of ``codex app-server`` (codex-cli 0.169.0).

A message with ``method`` is a notification, or a request if it also has an ``id``; one without is an answer to a
request of ours (docs/protocols/codex.md, "App-server").
"""

import msgspec
from msgspec import Raw, Struct

from ...parsing.json_lines import NULL, UNREADABLE, Words
from ...parsing.line_parts import parts
from ...parsing.tolerant_decoder import TolerantDecoder
from . import events, requests
from .ignored import IGNORED

Message = events.Event | requests.Asking

MESSAGES: TolerantDecoder[Message] = TolerantDecoder(Message)


class Thread(Struct):
    """A conversation."""

    id: str = ""


class Result(Struct):
    """The parts of an answer that are read."""

    thread: Thread | None = None
    turn: events.Turn | None = None
    model: str | None = None
    cwd: Words = ""
    sandbox: events.Policy | None = None


class Line(Struct):
    """Any message, for a line that is not a :data:`Message`."""

    method: str | None = None
    id: int | str | None = None
    params: Raw = NULL
    result: Result | None = None
    error: events.Error | None = None


INITIALIZED = 1
"""The id of our request ``initialize``."""

OPENED = 2
"""The id of our request that starts or resumes the thread."""

INITIALIZED_BEFORE = "Already initialized"
"""The error of a second ``initialize`` (0.169.0)."""

HANDSHAKE = (INITIALIZED, OPENED)


def key_text(request_id: int | str) -> str:
    """Return the JSON of a request's id."""
    return msgspec.json.encode(request_id).decode()


LINES: TolerantDecoder[Line] = TolerantDecoder(Line)


def every(line: bytes) -> list[Message | Line]:
    """Read each message of a line that may have others beside it, as far as possible.  Never raises."""
    try:
        return [MESSAGES.decode(line)]
    except UNREADABLE:
        return [message for message in map(read, parts(line)) if message is not None]


def read(line: bytes) -> Message | Line | None:
    """Read a line as far as possible; None if it is not a message.  Never raises."""
    try:
        return MESSAGES.decode(line)
    except UNREADABLE:
        other = LINES.best(line)
    if other is not None and (other.method is None or other.method in IGNORED):
        return other
    event: Message | None = MESSAGES.read(line).event
    return event if event is not None else other
