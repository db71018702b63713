"""The dialogue with a live claude over stream-json (2.1.197 and 2.1.330).

Prompts need no handshake; the only line before them lets claude show the messages that it holds (:mod:`.held`).  Each
turn begins with ``system/init`` and ends with ``result``.  claude repeats a prompt when its model gets it (``isReplay``
with a ``timestamp``; without one it only knows the key); 2.1.330 also reports each state of a prompt
(``command_lifecycle``).  The transcript gets the prompt a moment later (docs/protocols/claude.md, "Receipts").  Lines
between two turns belong to the next one and begin none.

The ids of requests follow from the output alone.  A request to take back a prompt has the prompt's key.  The ids of the
others have the number of responses of their kind, so a dialogue that was fed the output repeats an id only if the
request with this id is not answered.  That is harmless: claude answers each line, whatever its id.
"""

from collections.abc import Callable, Sequence

from msgspec import Raw, Struct, field

from agentdash.sessions.agents.claude.events import LOCAL_COMMAND, Request, Response
from agentdash.sessions.agents.claude.live.asks import CANCELLED, MOST_OPEN_ASKS, ask_of, response_to
from agentdash.sessions.agents.claude.live.control import (
    CHANGE,
    change_id,
    changed_setting,
    prompt_line,
    request_line,
    response_line,
)
from agentdash.sessions.agents.claude.live.held import SHOWS, Held, ask_of_held, decision, failed_decision
from agentdash.sessions.agents.dialogue import (
    Asked,
    Changed,
    Delivery,
    Dialogue,
    Event,
    NotChanged,
    Received,
    Settled,
    TurnBegan,
    TurnEnded,
)
from agentdash.sessions.agents.parsing.json_lines import NULL, Words, text_of
from agentdash.sessions.agents.parsing.tolerant_decoder import TolerantDecoder
from agentdash.sessions.rules.asks.model import Answer, Ask, AskKind, Verdict
from agentdash.sessions.rules.prompts.images import Picture

_MOST_PROMPTS = 10_000
_KEY_CHARACTERS = 200
_WITHDRAW, _INTERRUPT = "withdraw-", "interrupt-"
_MOVES = (b'"EnterWorktree"', b'"ExitWorktree"')
_SETTERS = {"model": ("set_model", "model"), "mode": ("set_permission_mode", "mode")}


class _Message(Struct):
    content: Raw = NULL


class _Line(Held):
    """The fields of all lines that say something about the dialogue."""

    type: str = ""
    subtype: str = ""
    uuid: Words = ""
    is_replay: bool | None = field(default=None, name="isReplay")
    timestamp: Words | None = None
    message: _Message | None = None
    command_uuid: Words = ""
    cwd: Words = ""
    mode: str | None = field(default=None, name="permissionMode")
    request_id: Words = ""
    request: Request | None = None
    response: Response | None = None


class _Open(Struct):
    """An ask that waits, with the request from which its answer is made."""

    ask: Ask
    request: Request


class ClaudeDialogue(Dialogue):
    """The state of one claude process, from its output."""

    resends = True
    steers = True

    _decoder = TolerantDecoder[_Line](_Line)

    def __init__(self, opening: Sequence[str] = ()) -> None:
        super().__init__(opening)
        self._asks: dict[str, _Open] = {}
        self._prompts: dict[str, Delivery] = {}
        """The newest word about each prompt."""
        self._unread: dict[str, None] = {}
        """The prompts that were written or accepted, and are not seen: the next turn may begin with them."""
        self._running = False
        self._ended = False
        """True once a turn has ended."""
        self._starting: str | None = None
        """The prompt that is about to begin a turn."""
        self._held: dict[str, Ask] = {}
        self._showing = False
        """True once the line about held messages was returned, or claude has answered it."""
        self._cwd = ""
        self._moved = False
        """True if claude may work in another folder until it names its folder again: it can enter a worktree."""
        self._mode: str | None = None
        self._answered = {_INTERRUPT: 0, CHANGE: 0}
        """The number of responses to requests of these kinds."""
        self._handlers: dict[str, Callable[[_Line], list[Event]]] = {
            "system": self._system,
            "assistant": self._called,
            "result": self._result,
            "user": self._user,
            "command_lifecycle": self._lifecycle,
            "control_request": self._asked,
            "control_cancel_request": lambda read: self._settled(read.request_id, answered=False),
            "control_response": self._response,
        }

    @property
    def ready(self) -> bool:
        """True: prompts may be written at once."""
        return True

    def opening(self) -> list[bytes]:
        """Return the line that lets claude show held messages; 2.1.330 answers that it does not know it."""
        shown, self._showing = self._showing, True
        return [] if shown else [request_line(SHOWS, "set_peer_delivery", shows_held_messages=True)]

    def feed(self, line: bytes) -> list[Event]:
        """Read one line of the process's output without its newline; never raises."""
        known = (read for read in self._decoder.every(line) if read.type in self._handlers)
        return [event for read in known for event in self._handlers[read.type](read)]

    def prompt(self, key: str, attempt: int, text: str) -> bytes:  # noqa: ARG002
        """Return the line that sends a prompt; every attempt is the same line."""
        if self._prompts.get(key) is not Delivery.SEEN:
            self._unread[key] = None
        return prompt_line(key, text)

    def prompt_with(self, key: str, attempt: int, text: str, pictures: Sequence[Picture]) -> bytes:
        """Return the line that sends a prompt with images; they are in it as Base64."""
        self.prompt(key, attempt, text)
        return prompt_line(key, text, pictures)

    def withdraw(self, key: str) -> bytes:
        """Return the line that takes back a prompt that was not read."""
        return request_line(_WITHDRAW + key, "cancel_async_message", message_uuid=key)

    def interrupt(self) -> list[bytes]:
        """Return the line that ends the running turn and its command; prompts that wait run as the next turn.

        A prompt that was written, and whose turn claude has not reported, can be interrupted too.  Open forms are
        cancelled before it in the same write: 2.1.197 goes on waiting for them, and so does the server
        (docs/protocols/claude.md, "Interrupts").
        """
        if not self._running and self._starting is None and not self._unread:
            return []
        forms = [key for key, waiting in self._asks.items() if waiting.ask.kind is AskKind.FORM]
        cancelled = [response_line(key, CANCELLED) for key in forms if len(key) <= _KEY_CHARACTERS]
        request = request_line(f"{_INTERRUPT}{self._answered[_INTERRUPT] + 1}", "interrupt")
        return [b"".join((*cancelled, request))]

    def answer(self, key: str, answer: Answer) -> bytes | None:
        """Return the line that answers an ask; None if it is not open, or does not take this verdict.

        It stays open until claude has printed the answer, and a second answer is ignored.  A form that is cancelled
        does not end the turn, so an interrupt follows.
        """
        if (held := self._held.get(key)) is not None:
            return decision(held, answer)
        waiting = self._asks.get(key)
        response = response_to(waiting.ask, waiting.request, answer) if waiting is not None else None
        if waiting is None or response is None:
            return None
        ends = answer.verdict is Verdict.STOP and waiting.ask.kind is AskKind.FORM
        return b"".join((response_line(key, response), *(self.interrupt() if ends else ())))

    def hears_denial(self, ask: Ask) -> bool:
        """Return whether the answer has a field for words: that of a form has none."""
        return ask.kind is not AskKind.FORM and ask.key not in self._held

    def change(self, what: str, value: str) -> bytes | None:
        """Return the line that changes ``model`` or ``mode``; the next model call uses it."""
        if what not in _SETTERS:
            return None
        subtype, name = _SETTERS[what]
        return request_line(change_id(self._answered[CHANGE] + 1, what, value), subtype, **{name: value})

    def closing(self) -> bytes:
        """Return the line after which the idle process exits with 0."""
        return request_line("end", "end_session")

    def _system(self, read: _Line) -> list[Event]:
        if read.subtype == "status":
            return self._mode_is(read.mode)
        if read.subtype == "peer_message_hold":
            if read.state != "held":
                decided = read.state == "released" or read.outcome == "denied"  # by a person
                return [Settled(read.key, decided)] if self._held.pop(read.key, None) is not None else []
            ask = ask_of_held(read, self._cwd)
            if ask is None or read.key in self._held or len(self._held) >= MOST_OPEN_ASKS:
                return []
            self._held[read.key] = ask
            return [Asked(ask)]
        if read.subtype != "init":
            return []
        self._cwd, self._moved = read.cwd or self._cwd, self._moved and not read.cwd
        changed = self._mode_is(read.mode) if self._mode is not None else []
        self._mode = read.mode or self._mode
        return [*changed, *self._begin()]

    def _called(self, read: _Line) -> list[Event]:
        """Note that claude enters or leaves a worktree: only the next turn names the folder (2.1.332)."""
        content = bytes(read.message.content) if read.message is not None else b""
        self._moved = self._moved or any(name in content for name in _MOVES)
        return []

    def _begin(self) -> list[Event]:
        """Begin a turn unless one runs."""
        if self._running:
            return []
        key, self._starting, self._running = self._starting, None, True
        return [TurnBegan(key)]

    def _result(self, _: _Line) -> list[Event]:
        """End the turn; a start that fails prints nothing but its result, which is then a whole turn."""
        begun = self._begin()
        self._running, self._ended, self._starting = False, True, None
        return [*begun, TurnEnded()]

    def _user(self, read: _Line) -> list[Event]:
        content = text_of(read.message.content) if read.message is not None else ""
        if not read.is_replay or content.startswith(f'"{LOCAL_COMMAND}'):
            return []  # a repeated line with text in place of a list of blocks is claude's own
        if read.timestamp is None and (self._running or not self._ended or self._is_withdrawn(read.uuid)):
            # claude repeats a prompt whose key it knows at once, also one that it has not read, or has cancelled.
            return [] if self._is_withdrawn(read.uuid) else self._received(read.uuid, Delivery.ACCEPTED)
        received = self._received(read.uuid, Delivery.SEEN)
        if received and self._ended and not self._running and self._starting is None:
            # Of several prompts that waited, all but the last are repeated before the turn that they begin together.
            self._starting = read.uuid
        return received

    def _is_withdrawn(self, key: str) -> bool:
        return self._prompts.get(key) is Delivery.WITHDRAWN

    def _lifecycle(self, read: _Line) -> list[Event]:
        key, state = read.command_uuid, read.state
        if state == "started" and not self._running and self._starting is None:
            self._starting = key
        elif state in ("completed", "cancelled") and self._starting == key:
            self._starting = None
        match state:
            case "queued":
                return self._received(key, Delivery.ACCEPTED)
            case "started":
                # Its transcript has the prompt up to 100 ms later, and no tool runs before the prompt is repeated.
                accepted = self._received(key, Delivery.ACCEPTED)
                self._unread.pop(key, None)
                return accepted
            case "completed":
                return self._received(key, Delivery.SEEN)
            case "cancelled":
                return self._received(key, Delivery.WITHDRAWN)
        return []

    def _received(self, key: str, delivery: Delivery) -> list[Event]:
        """Report the first word of a kind about a prompt; a prompt that was seen stays seen."""
        known = self._prompts.pop(key, None)
        if not key or len(key) > _KEY_CHARACTERS:
            return []
        self._prompts[key] = newest = known if known is Delivery.SEEN else delivery
        self._unread.pop(key, None)
        if newest is Delivery.ACCEPTED:
            self._unread[key] = None
        if len(self._prompts) > _MOST_PROMPTS:
            oldest = next(iter(self._prompts))
            del self._prompts[oldest]
            self._unread.pop(oldest, None)
        return [Received(key, delivery)] if known not in (delivery, Delivery.SEEN) else []

    def _asked(self, read: _Line) -> list[Event]:
        key, request = read.request_id, read.request
        if request is None or not key or key in self._asks:
            return []
        ask = ask_of(key, request, self._cwd, moved=self._moved)
        if ask is None:
            return []
        self._asks[key] = _Open(ask, request)
        dropped = self._settled(next(iter(self._asks)), answered=False) if len(self._asks) > MOST_OPEN_ASKS else []
        return [*dropped, Asked(ask)]

    def _settled(self, key: str, *, answered: bool) -> list[Event]:
        return [Settled(key, answered)] if self._asks.pop(key, None) is not None else []

    def _response(self, read: _Line) -> list[Event]:
        """Read the answer to one of our requests, or the receipt of one of our answers."""
        response = read.response or Response()
        name, result = response.request_id, response.response
        if name in self._asks:
            return self._settled(name, answered=True)
        self._showing = self._showing or name == SHOWS
        lost = failed_decision(name) if response.subtype != "success" else None
        if lost is not None and self._held.pop(lost, None) is not None:
            return [Settled(lost, False)]
        for kind in self._answered:
            self._answered[kind] += name.startswith(kind)
        if name.startswith(_WITHDRAW) and result is not None and result.cancelled:
            return self._received(name.removeprefix(_WITHDRAW), Delivery.WITHDRAWN)
        return self._adjusted(name, response)

    def _adjusted(self, name: str, response: Response) -> list[Event]:
        """Read the answer to :meth:`change`."""
        asked = changed_setting(name)
        if asked is None:
            return []
        what, value = asked
        if response.subtype != "success":
            return [NotChanged(what, value, response.error)]
        self._mode = value if what == "mode" else self._mode
        return [Changed(what, value)]

    def _mode_is(self, mode: str | None) -> list[Event]:
        if not mode or mode == self._mode:
            return []
        self._mode = mode
        return [Changed("mode", mode)]
