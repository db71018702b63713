"""The MCP server of ``agentdash mcp``: it reads requests from stdin and writes answers to stdout.

codex (0.169.0) waits one second for the tools of a server and then works without them, so nothing is imported before
``tools/list`` is answered but msgspec and the types of the tools (docs/protocols/codex.md, "MCP servers").  Each call
runs in a thread of its own: one that waits delays no other.  The server keeps nothing that has to outlive it, because
clients end it without a word.

The arguments of a call are checked, and its result becomes the answer; a failure is a text for the model.
"""

import os
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import UNSET, Raw, Struct

from agentdash import __version__
from agentdash.sessions.mcp import protocol
from agentdash.sessions.mcp.clients import Client, Managers, client_of
from agentdash.sessions.mcp.listing import INSTRUCTIONS, entry, usable
from agentdash.sessions.mcp.orchestration.registry import Tool
from agentdash.sessions.mcp.protocol import LONGEST_LINE, Id, Message, Output, ProtocolError, lines, own_streams
from agentdash.sessions.model import typed
from agentdash.sessions.model.errors import AgentdashError, RefusalError

if TYPE_CHECKING:
    from agentdash.sessions.mcp.orchestration.calls import Reading


def tool_named(tools: Sequence[Tool], name: object) -> Tool:
    """Return a tool.

    Raises:
        RefusalError: there is none with this name.
    """
    found = next((tool for tool in tools if tool.name == name), None)
    if found is None:
        names = ", ".join(tool.name for tool in tools) or "none"
        raise RefusalError("unknown_tool", f"{name!r} is not a tool of agentdash. Tools: {names}.")
    return found


def arguments_of(tool: Tool, given: object) -> Struct:
    """Return the arguments of a call; null counts as left out, as models send it for what they do not use.

    Raises:
        RefusalError: an argument is not known, is missing or has a wrong value.
    """
    if given is not None and not isinstance(given, Mapping):
        raise RefusalError("bad_arguments", f"Expected an object of arguments for {tool.name}.")
    stated = {name: value for name, value in (given or {}).items() if value is not None}
    known = tool.arguments.__struct_encode_fields__
    if unknown := [repr(name) for name in stated if name not in known]:
        takes = ", ".join(known) or "no arguments"
        raise RefusalError("bad_arguments", f"{tool.name} has no argument {', '.join(unknown)}. It takes: {takes}.")
    try:
        return typed.convert(stated, tool.arguments)
    except msgspec.ValidationError as error:
        raise RefusalError("bad_arguments", f"{error}") from None


def outcome(act: Callable[[], Struct | str]) -> dict[str, Any]:
    """Run a call and return the result of ``tools/call``, whatever happens.

    Both clients show a model the structure of a result and hide its text, but an error's text (claude 2.1.197, codex
    0.169.0): so a struct is given as both, and an error as text alone.
    """
    try:
        return _result(act())
    except AgentdashError as error:
        return _text(str(error), is_error=True)
    except Exception as error:  # noqa: BLE001 - the model gets a text, whatever a tool meets
        log(f"unexpected {type(error).__name__}: {error}")
        if os.environ.get("AGENTDASH_DEBUG"):
            traceback.print_exception(error)
        return _text(f"internal_error: {type(error).__name__}: {error}", is_error=True)


def conclude(reading: "Reading", *, written: bool, refused: bool) -> None:
    """Record the ends that an answer named as read if the client has the answer; never raises."""
    try:
        if written:
            reading.written(refused=refused)
        else:
            reading.drop()
    except Exception as error:  # noqa: BLE001 - the ends are named again
        log(f"ends are not recorded as read: {type(error).__name__}: {error}")


def log(text: str) -> None:
    """Write a line to stderr, where clients collect what a server reports beside its answers."""
    print(f"agentdash mcp: {text}", file=sys.stderr, flush=True)  # noqa: T201 - stdout belongs to the protocol


def _result(made: Struct | str) -> dict[str, Any]:
    if isinstance(made, str):
        return _text(made)
    encoded = msgspec.json.encode(made)
    return _text(encoded.decode()) | {"structuredContent": Raw(encoded)}


def _text(text: str, *, is_error: bool = False) -> dict[str, Any]:
    whole = text.encode("utf-8", "replace").decode()  # half of a surrogate pair cannot be sent
    result: dict[str, Any] = {"content": [{"type": "text", "text": whole}]}
    return result | {"isError": True} if is_error else result


SERVER = {"name": "agentdash", "title": "agentdash", "version": __version__}
MOST_CALLS = 64
"""Calls that can be open at once."""
PROGRESS_EVERY = 2.0
"""The least seconds between two reports of progress of one call."""
_PATIENCE = 5.0
"""Seconds in which open calls can end after the end of input."""
_KEEP_MS = 3_600_000
"""The time for which a client of the stateless era can keep the list of tools: it changes with the version only."""


class _EndedError(BaseException):
    """SIGTERM or SIGINT."""


class OpenCall:
    """A call that is being carried out."""

    def __init__(self, send: Callable[[bytes], bool], token: object) -> None:
        self.cancelled = threading.Event()
        """Set if nothing waits for the answer any longer: a tool that waits returns at once."""
        self.withdrawn = False
        """True if the client cancelled it: it then gets no answer."""
        self.reading: Reading | None = None
        """The ends that the answer names; None before a tool is called."""
        self._send, self._token = send, token
        self._count, self._sent_at = 0, -PROGRESS_EVERY

    def progress(self, text: str) -> None:
        """Report what happens, if the client asked for it and the last report is old enough."""
        now = time.monotonic()
        if not isinstance(self._token, int | str) or now - self._sent_at < PROGRESS_EVERY or self.withdrawn:
            return
        self._count, self._sent_at = self._count + 1, now
        self._send(protocol.progress(self._token, self._count, text.encode("utf-8", "replace").decode()))


class Server:
    """Answers the requests of one client.

    Args:
        send: writes one line and returns whether the client took it; called from several threads.
        managers: the source of managers, in whose name tools act.
    """

    def __init__(self, tools: Sequence[Tool], send: Callable[[bytes], bool], managers: Managers | None = None) -> None:
        self._tools, self._send = tools, send
        self._managers = managers or Managers()
        self._client = Client()
        self._open: dict[Id, OpenCall] = {}
        self._threads: set[threading.Thread] = set()
        self._lock = threading.Lock()

    def receive(self, line: bytes) -> None:
        """Act on one line of the client; never raises, whatever it is."""
        for one in protocol.read(line):
            if isinstance(one, ProtocolError):
                self._send(protocol.failure(None, one))
            elif one.id is UNSET:
                self._notified(one)
            elif one.method is not None:
                self._requested(one)

    def finish(self, patience: float = _PATIENCE) -> None:
        """Let open calls end: those that wait return, those that act are given ``patience`` seconds."""
        with self._lock:
            threads = list(self._threads)
            for call in self._open.values():
                call.cancelled.set()
        until = time.monotonic() + patience
        for thread in threads:
            thread.join(max(0.0, until - time.monotonic()))

    def _notified(self, message: Message) -> None:
        key = protocol.valid_id(message.arguments.get("requestId"))
        if message.method != "notifications/cancelled" or key is None:
            return
        with self._lock:
            if call := self._open.get(key):
                call.withdrawn = True
                call.cancelled.set()

    def _requested(self, message: Message) -> None:
        """Answer a request, or begin a call that is answered later."""
        try:
            if message.key is None:
                raise ProtocolError(protocol.INVALID_REQUEST, "The id of a request must be a number or a text.")
            if message.version is not None:
                protocol.check_version(message.version)
            if message.method == "tools/call":
                self._begin(message, message.key)
            else:
                self._answer(message, self._result(message))
            if message.method == "tools/list":
                threading.Thread(target=_keep_own_code, daemon=True).start()
        except ProtocolError as error:
            self._send(protocol.failure(message.key, error))

    def _answer(self, message: Message, result: dict[str, Any]) -> bool:
        whole = result if message.version is None else protocol.stateless(result, SERVER)
        return self._send(protocol.answer(message.key, whole))

    def _result(self, message: Message) -> dict[str, Any]:
        """Return the result of a request that is answered at once.

        Raises:
            ProtocolError: the method is not known.
        """
        described = {"capabilities": {"tools": {}}, "instructions": INSTRUCTIONS}
        kept: dict[str, Any] = {} if message.version is None else {"ttlMs": _KEEP_MS, "cacheScope": "private"}
        match message.method:
            case "initialize":
                self._client = client_of(message.arguments.get("clientInfo"), os.environ)
                # The version that the client asks for, else the newest of that era.
                asked, known = message.arguments.get("protocolVersion"), protocol.HANDSHAKE_VERSIONS
                version = asked if asked in known else known[-1]
                return {"protocolVersion": version, **described, "serverInfo": SERVER}
            case "server/discover":
                return {"supportedVersions": list(protocol.STATELESS_VERSIONS), **described, **kept}
            case "tools/list":
                tools = usable(self._tools)
                if kept and len(tools) < len(self._tools):
                    kept["ttlMs"] = 0  # the user can change orchestration.max_depth
                return {"tools": list(map(entry, tools)), **kept}
            case "ping":
                return {}
            case unknown:
                raise ProtocolError(protocol.UNKNOWN_METHOD, f"Unknown method: {unknown}")

    def _begin(self, message: Message, key: Id) -> None:
        """Begin a call in a thread of its own.

        Raises:
            ProtocolError: a call with this id is open.
        """
        call = OpenCall(self._send, message.meta.get("progressToken"))
        thread = threading.Thread(target=self._carry_out, args=(message, key, call), daemon=True)
        with self._lock:
            if key in self._open:
                raise ProtocolError(protocol.INVALID_REQUEST, f"The request {key!r} is open already.")
            full = len(self._open) >= MOST_CALLS
            if not full:
                self._open[key] = call
                self._threads.add(thread)
        if full:
            fact = f"too_many_calls: {MOST_CALLS} calls are open. Next: wait for one of them."
            self._answer(message, _text(fact, is_error=True))
        else:
            thread.start()

    def _carry_out(self, message: Message, key: Id, call: OpenCall) -> None:
        try:
            result = outcome(lambda: self._made(message, call))
        finally:
            with self._lock:
                del self._open[key]
        try:
            written = not call.withdrawn and self._answer(message, result)
            if call.reading is not None:
                conclude(call.reading, written=written, refused="isError" in result)
        finally:
            with self._lock:
                self._threads.discard(threading.current_thread())

    def _made(self, message: Message, call: OpenCall) -> Struct | str:
        """Return what a tool returns.

        Raises:
            AgentdashError: the call is refused or failed.
        """
        tool = tool_named(self._tools, message.arguments.get("name"))
        arguments = arguments_of(tool, message.arguments.get("arguments"))
        from agentdash.sessions.mcp.orchestration.calls import Calls  # no server whose tools are only listed needs it

        manager = self._managers.of(message.meta)
        stated = message.meta.get(protocol.CLIENT_KEY)
        client = self._client if message.version is None else client_of(stated, os.environ)
        settings = manager.reader.settings.config().orchestration
        calls = Calls(manager, client.under(settings, os.environ), call.cancelled, call.progress)
        call.reading = calls.reading
        return tool.call(calls, arguments)


def _keep_own_code() -> None:
    """Keep all that tools may import: this server lives as long as its client."""
    from agentdash.sessions.runner.own_code import keep

    keep(("sessions",))


def serve(tools: Sequence[Tool]) -> int:
    """Serve one client until the end of its input, SIGTERM or SIGINT; return the exit code."""
    given, taken = own_streams()
    server = Server(tools, Output(taken).send)

    def end(*_: object) -> None:
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, signal.SIG_IGN)
        raise _EndedError

    try:
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, end)
        for line in lines(given):
            if isinstance(line, bytes):
                server.receive(line)
            else:
                log(f"passed over a line of more than {LONGEST_LINE:,} bytes")
    except _EndedError:
        pass
    server.finish()
    return 0
