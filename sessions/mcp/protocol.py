"""The messages of the Model Context Protocol (MCP) on standard input and output, one JSON object on each line.

There are two eras.  Up to 2025-11-25 a client begins with ``initialize``, which chooses the version for the whole
connection.  From 2026-07-28 each request names its version and its client in ``_meta``, and ``server/discover`` takes
the place of the handshake.  This server keeps no state between requests, so it serves both on one connection.
"""

import os
import sys
from collections.abc import Iterator
from threading import Lock
from typing import Any

import msgspec
from msgspec import UNSET, Struct, UnsetType

from agentdash.sessions.model import typed

HANDSHAKE_VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
"""The versions that ``initialize`` can choose, oldest first."""
STATELESS_VERSIONS = ("2026-07-28",)
"""The versions that each request names for itself."""

VERSION_KEY = "io.modelcontextprotocol/protocolVersion"
CLIENT_KEY = "io.modelcontextprotocol/clientInfo"
SERVER_KEY = "io.modelcontextprotocol/serverInfo"

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
UNKNOWN_METHOD = -32601
UNSUPPORTED_VERSION = -32022

Id = int | str


def valid_id(value: object) -> Id | None:
    """Return an id of a request; None if it is neither a number nor a text."""
    return value if isinstance(value, int | str) and not isinstance(value, bool) else None


class Message(Struct, frozen=True):
    """A request, a notification (without an id) or an answer (without a method) of the client."""

    method: str | None = None
    id: Any = UNSET
    params: Any = None

    @property
    def key(self) -> Id | None:
        """The id of a request; None for a notification, and for an id that is neither a number nor a text."""
        return valid_id(self.id)

    @property
    def arguments(self) -> dict[str, Any]:
        """The parameters; empty if there are none."""
        return self.params if isinstance(self.params, dict) else {}

    @property
    def meta(self) -> dict[str, Any]:
        """The parameters' ``_meta``; empty if there is none."""
        meta = self.arguments.get("_meta")
        return meta if isinstance(meta, dict) else {}

    @property
    def version(self) -> object:
        """The version that a request of the stateless era names; None for a request of the other era."""
        return None if self.method == "initialize" else self.meta.get(VERSION_KEY)


class ProtocolError(Exception):
    """A message that gets an error of JSON-RPC as its answer."""

    def __init__(self, code: int, text: str, data: object = UNSET) -> None:
        super().__init__(text)
        self.code = code
        self.data = data


class _Failure(Struct, frozen=True):
    code: int
    message: str
    data: Any = UNSET


class _Answer(Struct, frozen=True):
    jsonrpc: str
    id: Id | None
    result: Any = UNSET
    error: _Failure | UnsetType = UNSET


_ENCODER = msgspec.json.Encoder()


def read(line: bytes) -> list[Message | ProtocolError]:
    """Return the messages of one line: none for a blank line, several for a batch (2025-03-26).

    Each message of a batch gets a line of its own as its answer.
    """
    if not line.strip():
        return []
    try:
        decoded = _decoded(line)
    except (ValueError, RecursionError) as error:
        return [ProtocolError(PARSE_ERROR, f"The line is not valid JSON: {error}")]
    return [_message(one) for one in decoded] if isinstance(decoded, list) and decoded else [_message(decoded)]


def _decoded(line: bytes) -> Any:
    """Decode JSON; half of a surrogate pair, which JavaScript writes as it is, becomes a question mark.

    Raises:
        ValueError, RecursionError: it is not JSON.
    """
    try:
        return typed.decode(line)
    except ValueError:
        if b"\\u" not in line:
            raise
        import json  # few lines need it

        return typed.decode(json.dumps(json.loads(line), ensure_ascii=False).encode("utf-8", "replace"))


def _message(decoded: object) -> Message | ProtocolError:
    try:
        return typed.convert(decoded, Message)
    except msgspec.ValidationError as error:
        return ProtocolError(INVALID_REQUEST, f"The line is not a JSON-RPC message: {error}")


def answer(key: Id | None, result: object) -> bytes:
    """Return the line that answers a request.

    Raises:
        UnicodeEncodeError, TypeError: the result cannot be written as JSON.
    """
    return _encoded(_Answer("2.0", key, result=result))


def failure(key: Id | None, error: ProtocolError) -> bytes:
    """Return the line that answers a request with an error of the protocol."""
    return _encoded(_Answer("2.0", key, error=_Failure(error.code, str(error), error.data)))


def progress(token: object, number: int, text: str) -> bytes:
    """Return the line that reports the progress of a call; ``number`` grows from line to line."""
    params = {"progressToken": token, "progress": number, "message": text}
    return _encoded({"jsonrpc": "2.0", "method": "notifications/progress", "params": params})


def _encoded(message: object) -> bytes:
    return _ENCODER.encode(message) + b"\n"


def check_version(version: object) -> None:
    """Check the version that a request of the stateless era names.

    Raises:
        ProtocolError: it is not known; the error names the known ones.
    """
    if version not in STATELESS_VERSIONS:
        known = [*HANDSHAKE_VERSIONS, *STATELESS_VERSIONS]
        data = {"supported": known, "requested": version}
        raise ProtocolError(UNSUPPORTED_VERSION, f"The protocol version {version} is not supported.", data)


def stateless(result: dict[str, Any], server: object) -> dict[str, Any]:
    """Return a result with the fields that 2026-07-28 requires of every result."""
    meta = {**result.get("_meta", {}), SERVER_KEY: server}
    return {**result, "resultType": "complete", "_meta": meta}


LONGEST_LINE = 64_000_000
"""Bytes of the longest line that is read; a longer one is passed over."""

_PIECE = 1 << 16


class TooLong:
    """Takes the place of a line that is longer than :data:`LONGEST_LINE`."""


def own_streams() -> tuple[int, int]:
    """Return descriptors of stdin and stdout that no other code of this process can use, nor any child.

    Afterwards stdin is empty, and text that any module prints goes to stderr.
    """
    sys.stdout.flush()
    given, taken = os.dup(0), os.dup(1)
    empty = os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)
    os.dup2(empty, 0)
    os.close(empty)
    os.dup2(2, 1)
    for descriptor in (given, taken):
        os.set_blocking(descriptor, True)
    return given, taken


def lines(descriptor: int, longest: int = LONGEST_LINE) -> Iterator[bytes | type[TooLong]]:
    r"""Yield the lines up to the end of input, split at ``\n`` only; the last one need not end with it."""
    held: list[bytes] = []
    size, passing = 0, False
    while True:
        try:
            piece = os.read(descriptor, _PIECE)
        except OSError:  # the other end is a terminal that was closed, or a socket that was reset
            piece = b""
        if not piece:
            break
        first, *others = piece.split(b"\n")
        # Each part behind the first begins after a line end, so that what is held so far is a whole line.
        for following in (None, *others):
            if following is not None:
                yield TooLong if passing else b"".join(held)
                held, size, passing = [], 0, False
            part = first if following is None else following
            size += len(part)
            if size > longest:
                held, passing = [], True
            elif part:
                held.append(part)
    if held:
        yield b"".join(held)


class Output:
    """Writes lines from any thread, each as a whole; lines for a client that is gone are dropped."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._lock = Lock()

    def send(self, line: bytes) -> bool:
        """Write one line; return whether the client took the whole of it."""
        with self._lock:
            rest = memoryview(line)
            try:
                while rest:
                    rest = rest[os.write(self._descriptor, rest) :]
            except OSError:
                return False  # the end of input follows
        return True
