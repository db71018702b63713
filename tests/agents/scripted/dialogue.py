"""The dialogue with a live scripted agent.

It prints ``ready`` by itself, so its handshake has no lines.  It ignores a prompt whose key it has, and answers it with
the prompt's state.
"""

from collections.abc import Sequence

from msgspec import structs

from agentdash.sessions.agents.dialogue import (
    Asked,
    Changed,
    Delivery,
    Dialogue,
    Event,
    Failed,
    Ready,
    Received,
    Settled,
    TurnBegan,
    TurnEnded,
)
from agentdash.sessions.agents.parsing.tolerant_decoder import TolerantDecoder
from agentdash.sessions.rules.asks.model import Answer, Ask
from scripted import events, live_events, live_requests

_DECODER: TolerantDecoder[live_events.AnyLiveEvent] = TolerantDecoder(live_events.AnyLiveEvent)
_DELIVERIES = frozenset(Delivery)
_SETTINGS = frozenset({"model", "mode"})

MOST_OPEN = 1_000
"""Open asks that are remembered: the agent asks one after the other, and the limit bounds memory."""


class ScriptedDialogue(Dialogue):
    """The dialogue with one live process of the scripted agent."""

    resends = True
    steers = True

    def __init__(self, opening: Sequence[str] = ()) -> None:
        super().__init__(opening)
        self._ready = False
        self._running = False
        self._open: dict[str, None] = {}

    @property
    def ready(self) -> bool:
        """True after the line ``ready``."""
        return self._ready

    def opening(self) -> list[bytes]:
        """Return nothing: the agent is ready by itself."""
        return []

    def feed(self, line: bytes) -> list[Event]:
        """Read one line of the output; an event that fits no state is ignored."""
        return [event for read in _DECODER.every(line) for event in self._read(read)]

    def _read(self, event: live_events.AnyLiveEvent) -> list[Event]:
        match event:
            case live_events.Asked() | live_events.Answered() | live_events.AskCancelled():
                return self._about_ask(event)
            case live_events.PromptState() if event.state in _DELIVERIES:
                return [Received(event.key, Delivery(event.state), event.reason)]
            case live_events.Changed() if event.what in _SETTINGS:
                return [Changed(event.what, event.value)]
        return self._about_process(event)

    def prompt(self, key: str, attempt: int, text: str) -> bytes:
        """Return the line that sends a prompt; a second attempt is the same line."""
        return live_requests.request_line(live_requests.Prompt(key=key, text=text))

    def withdraw(self, key: str) -> bytes | None:
        """Return the line that takes back a prompt; the agent ignores it if it has read the prompt."""
        return live_requests.request_line(live_requests.Withdraw(key=key))

    def interrupt(self) -> list[bytes]:
        """Return the line that ends the running turn and its command; none if no turn runs."""
        return [live_requests.request_line(live_requests.Interrupt())] if self._running else []

    def answer(self, key: str, answer: Answer) -> bytes | None:
        """Return the line that answers an ask; None if it is not open."""
        if key not in self._open:
            return None
        values = {name: tuple(given) for name, given in answer.values.items()}
        request = live_requests.AnswerAsk(key=key, verdict=answer.verdict, message=answer.message, values=values)
        return live_requests.request_line(request)

    def change(self, what: str, value: str) -> bytes | None:
        """Return the line that changes ``model`` or ``mode``; None for another setting."""
        if what not in _SETTINGS:
            return None
        return live_requests.request_line(live_requests.Set(what=what, value=value))

    def closing(self) -> bytes | None:
        """Return the line that ends the process with exit code 0."""
        return live_requests.request_line(live_requests.Close())

    def _about_process(self, event: live_events.AnyLiveEvent | None) -> list[Event]:
        """Return what an event means that changes the state of the process."""
        match event:
            case live_events.Ready() if not self._ready:
                self._ready = True
                return [Ready(event.conversation)]
            case events.Ended() if not self._ready and not event.ok:
                return [Failed(event.error or "the scripted agent ended")]
            case live_events.TurnBegan() if not self._running:
                self._running = True
                return [TurnBegan(event.key, own=event.key is None)]
            case live_events.TurnEnded() if self._running:
                self._running = False
                return [*self._settle_all(), TurnEnded()]
        return []

    def _about_ask(self, event: live_events.Asked | live_events.Answered | live_events.AskCancelled) -> list[Event]:
        if isinstance(event, live_events.Asked):
            if event.key in self._open:
                return []
            dropped = self._settled(next(iter(self._open)), answered=False) if len(self._open) >= MOST_OPEN else []
            self._open[event.key] = None
            return [*dropped, Asked(Ask(**structs.asdict(event)))]
        return self._settled(event.key, answered=isinstance(event, live_events.Answered))

    def _settled(self, key: str, *, answered: bool) -> list[Event]:
        if key not in self._open:
            return []
        del self._open[key]
        return [Settled(key, answered)]

    def _settle_all(self) -> list[Event]:
        """Return the asks that the end of a turn leaves open as over, and forget them."""
        settled: list[Event] = [Settled(key, answered=False) for key in self._open]
        self._open.clear()
        return settled
