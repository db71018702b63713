"""The lines that a live scripted agent reads: one JSON object a line."""

import msgspec
from msgspec import Struct, field

from agentdash.sessions.rules.asks.model import Verdict


class Request(Struct, tag_field="type", kw_only=True, frozen=True, omit_defaults=True):
    """One line."""


class Prompt(Request, tag="prompt", frozen=True):
    """A prompt; it is ignored if the agent has its key."""

    key: str
    text: str


class AnswerAsk(Request, tag="answer", frozen=True):
    """The answer to an open ask; another one is ignored."""

    key: str
    verdict: Verdict
    message: str = ""
    values: dict[str, tuple[str, ...]] = field(default_factory=dict)


class Interrupt(Request, tag="interrupt", frozen=True):
    """End the running turn."""


class Withdraw(Request, tag="withdraw", frozen=True):
    """Take back a prompt that was not read."""

    key: str


class Set(Request, tag="set", frozen=True):
    """Change a setting of the process."""

    what: str
    """``model`` or ``mode``."""
    value: str


class Close(Request, tag="close", frozen=True):
    """End the process."""


AnyRequest = Prompt | AnswerAsk | Interrupt | Withdraw | Set | Close

_DECODER: msgspec.json.Decoder[AnyRequest] = msgspec.json.Decoder(AnyRequest)


def request_line(request: Request) -> bytes:
    """Return the line of a request; a character that is not valid Unicode becomes a question mark."""
    try:
        return msgspec.json.encode(request) + b"\n"
    except UnicodeEncodeError:
        return msgspec.json.encode(_valid(msgspec.to_builtins(request))) + b"\n"


def read_request(line: bytes) -> AnyRequest | None:
    """Return the request of a line; None if it is JSON and not a request.

    Raises:
        msgspec.DecodeError, UnicodeDecodeError, RecursionError: the line is not JSON.
    """
    try:
        return _DECODER.decode(line)
    except msgspec.ValidationError:
        msgspec.json.decode(line)  # its fields may be wrong and its syntax too
        return None


def _valid(value: object) -> object:
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, dict):
        return {_valid(key): _valid(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_valid(inner) for inner in value]
    return value
