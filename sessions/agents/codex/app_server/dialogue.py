"""The dialogue with ``codex app-server`` (codex-cli 0.169.0).

The ids of our requests follow from the prompts, so that a later dialogue recognizes the answers: 1 and 2 for the
handshake, ``prompt:KEY:ATTEMPT`` (also of a compaction), ``probe:KEY:ATTEMPT``, ``interrupt:TURN``, ``clean:TURN``,
``change:WHAT:VALUE``.

The item of a prompt is its only receipt, and a prompt that is written again is delivered again
(docs/protocols/codex.md, "Receipts").
"""

from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec import structs

from agentdash.sessions.agents.codex.app_server import events, items, lines
from agentdash.sessions.agents.codex.app_server.asks import LONGEST_ID, answer_line, ask_of, key_of, unknown_ask
from agentdash.sessions.agents.codex.app_server.items import changes_of
from agentdash.sessions.agents.codex.app_server.launching import MODES, mode_of
from agentdash.sessions.agents.codex.item_steps import readable_error
from agentdash.sessions.agents.dialogue import (
    Asked,
    Changed,
    Delivery,
    Dialogue,
    Event,
    Failed,
    NotChanged,
    Ready,
    Received,
    Settled,
    TurnBegan,
    TurnEnded,
)
from agentdash.sessions.agents.parsing.parser import remember
from agentdash.sessions.model.session import Change
from agentdash.sessions.rules.asks.model import Answer, Ask, Verdict
from agentdash.sessions.rules.prompts.images import Picture

MOST_OPEN = 1_000
"""Open requests of codex, and patches of the running turn, that are remembered."""

_PROMPT, _PROBE, _CHANGE = "prompt:", "probe:", "change:"


class CodexDialogue(Dialogue):
    """The requests of one app-server process and its answers."""

    wakes = False
    resends = False
    steers = True

    def __init__(self, opening: Sequence[str] = ()) -> None:
        super().__init__(opening)
        self._given = 0
        """Lines of the opening that were returned."""
        self._initialized = False
        self._thread: str | None = None
        self._turn: str | None = None
        self._ended: str | None = None
        self._cwd = ""
        """The folder of the thread: few requests name theirs."""
        self._model: str | None = None
        self._mode: str | None = None
        self._accepted: dict[str, str] = {}
        """The turn of each prompt that was accepted and is not part of the conversation yet."""
        self._seen: dict[str, None] = {}
        self._compacting: str | None = None
        """The key of the compaction that was asked for and has not begun."""
        self._answered: dict[str, None] = {}
        """The ids of our requests that were answered."""
        self._asks: dict[str, tuple[events.Asking | None, str | None]] = {}
        """The open requests of codex, each with its turn."""
        self._given_answer: set[str] = set()
        """The keys of the requests that were given an answer."""
        self._interrupted = False
        self._patches: dict[tuple[str | None, str], tuple[Change, ...]] = {}
        """The patches of running turns by thread and item: a sub-agent's patches are asked for as well."""

    @property
    def ready(self) -> bool:
        """True once the thread is started or resumed."""
        return self._thread is not None

    def opening(self) -> list[bytes]:
        """Return ``initialize``, and after its answer the other lines."""
        if self._initialized:
            begin = max(self._given, 1) if self._thread is None else len(self._opening)
            end = len(self._opening)
        else:
            begin, end = self._given, min(1, len(self._opening))
        self._given = max(self._given, end)
        return [line.encode() + b"\n" for line in self._opening[begin:end]]

    def feed(self, line: bytes) -> list[Event]:
        """Read one line of the output; a line that is not a message gives nothing."""
        return [
            event
            for message in lines.every(line)
            for event in (self._line(message) if isinstance(message, lines.Line) else self._event(message))
        ]

    def prompt(self, key: str, attempt: int, text: str) -> bytes:
        """Return ``turn/start``, which also adds to a running turn; ``turn/steer`` would fail if it ends just then."""
        return self.prompt_with(key, attempt, text, ())

    def prompt_with(self, key: str, attempt: int, text: str, pictures: Sequence[Picture]) -> bytes:
        """Return ``turn/start`` with the files of the images, which codex reads at once (0.169.0, 0.171.0)."""
        parts: list[dict[str, Any]] = [{"type": "text", "text": text, "text_elements": []}]
        parts += [{"type": "localImage", "path": one.path} for one in pictures]
        return self._request(f"{_PROMPT}{key}:{attempt}", "turn/start", clientUserMessageId=key, input=parts)

    def compact(self, key: str, attempt: int) -> bytes:
        """Return ``thread/compact/start``, which begins a turn with one ``contextCompaction`` item: the receipt."""
        self._compacting = key
        return self._request(f"{_PROMPT}{key}:{attempt}", "thread/compact/start")

    def probe(self, key: str, attempt: int) -> bytes:
        """Return ``thread/read``, which codex answers after each ``turn/start`` before it (180 of 180 pairs)."""
        return self._request(f"{_PROBE}{key}:{attempt}", "thread/read")

    def arrived(self, key: str, attempt: int) -> bool | None:
        """Return whether ``turn/start`` was answered, or its prompt seen."""
        if f"{_PROMPT}{key}:{attempt}" in self._answered or key in self._seen:
            return True
        return False if f"{_PROBE}{key}:{attempt}" in self._answered else None

    def hears_denial(self, ask: Ask) -> bool:  # noqa: ARG002
        """Return False: an answer has no field for words."""
        return False

    def interrupt(self) -> list[bytes]:
        """Return the end of the turn, and that of its commands, which outlive it."""
        turn = self._turn
        if turn is None:
            return []
        self._interrupted = True
        return [
            self._request(f"interrupt:{turn}", "turn/interrupt", turnId=turn),
            self._request(f"clean:{turn}", "thread/backgroundTerminals/clean"),
        ]

    def answer(self, key: str, answer: Answer) -> bytes | None:
        """Return the line that answers an open request; the same one again until codex has it.

        A form that is cancelled does not end the turn (0.169.0), so the lines that interrupt it follow.
        """
        if key not in self._asks:
            return None
        self._given_answer.add(key)
        asking = self._asks[key][0]
        ending = self.interrupt() if answer.verdict is Verdict.STOP and isinstance(asking, events.AskForm) else []
        return b"".join((answer_line(asking, key, answer), *ending))

    def change(self, what: str, value: str) -> bytes | None:
        """Return a change of the settings of the next turns: of the model, or of the sandbox as ``mode``."""
        if self._thread is None or (what == "mode" and value not in MODES):
            return None
        if what not in ("model", "mode"):
            return None
        settings = {"model": value} if what == "model" else {"sandboxPolicy": MODES[value]}
        return self._request(f"{_CHANGE}{what}:{value}", "thread/settings/update", **settings)

    def _request(self, request_id: str, method: str, **params: Any) -> bytes:
        request = {"id": request_id, "method": method, "params": {"threadId": self._thread or "", **params}}
        return msgspec.json.encode(request) + b"\n"

    def _line(self, line: lines.Line) -> list[Event]:
        if line.method is not None:
            if line.id is None:
                return []
            key = key_of(msgspec.Raw(lines.key_text(line.id).encode()))
            return [] if key is None else self._open(key, None, self._turn, unknown_ask(key, line.method, line.params))
        if line.id is None or (line.result is None and line.error is None):
            return []
        if isinstance(line.id, int):
            return self._handshake(line)
        remember(self._answered, line.id[:LONGEST_ID], None)
        if line.id.startswith(_CHANGE):
            return self._adjusted(line.id, line)
        is_prompt = line.id.startswith(_PROMPT) and len(line.id) <= LONGEST_ID
        return self._answer(line.id.removeprefix(_PROMPT).rpartition(":")[0], line) if is_prompt else []

    def _answer(self, key: str, line: lines.Line) -> list[Event]:
        """Read the answer to ``turn/start``."""
        if line.error is not None:
            return [Received(key, Delivery.REFUSED, readable_error(line.error.message))]
        if key in self._seen:
            return []
        turn = line.result.turn if line.result else None
        if turn is None:
            self._compacting = key  # a dialogue that did not write the request knows it by its answer
        remember(self._accepted, key, turn.id if turn else "")
        return [Received(key, Delivery.ACCEPTED)]

    def _adjusted(self, request_id: str, line: lines.Line) -> list[Event]:
        """Read the answer to :meth:`change`."""
        what, found, value = request_id.removeprefix(_CHANGE).partition(":")
        if not found or what not in ("model", "mode"):
            return []
        if line.error is not None:
            return [NotChanged(what, value, readable_error(line.error.message))]
        self._model, self._mode = (value, self._mode) if what == "model" else (self._model, value)
        return [Changed(what, value)]

    def _handshake(self, line: lines.Line) -> list[Event]:
        """Read the answer to one of the first requests; a second answer says nothing, because codex was asked twice."""
        if line.id == lines.INITIALIZED and not self._initialized:
            self._initialized = line.error is None
            return [Failed(readable_error(line.error.message))] if line.error else []
        if line.id != lines.OPENED or self._thread is not None:
            return []
        if line.result is None or line.result.thread is None or not line.result.thread.id:
            reason = readable_error(line.error.message) if line.error else "codex named no thread"
            return [Failed(reason)]
        self._initialized = True
        self._thread = line.result.thread.id
        self._model, self._mode = line.result.model, mode_of(line.result.sandbox)
        self._cwd = line.result.cwd
        return [Ready(self._thread)]

    def _event(self, event: lines.Message) -> list[Event]:
        if isinstance(event, events.Resolved):
            return self._settled(key_of(event.params.request_id))
        if isinstance(event, events.Asking):
            place = (event.params.thread_id or self._thread, getattr(event.params, "item_id", ""))
            ask = ask_of(event, self._patches.get(place, ()))
            return [] if ask is None else self._open(ask.key, event, event.params.turn_id or self._turn, ask)
        if isinstance(event, events.ItemStarted | events.ItemCompleted):
            item = event.params.item
            if isinstance(item, items.FileChange):
                remember(self._patches, (event.params.thread_id or self._thread, item.id), changes_of(item), MOST_OPEN)
        if event.params.thread_id not in (None, self._thread):
            return []  # a sub-agent's thread
        found: list[Event] = []
        match event:
            case events.TurnStarted():
                found = self._began(event.params.turn.id)
            case events.TurnCompleted():
                found = self._completed(event.params.turn)
            case events.ItemStarted() | events.ItemCompleted():
                found = self._item(event.params.item)
            case events.SettingsUpdated():
                found = self._changed(event.params.thread_settings)
        return found

    def _began(self, turn: str) -> list[Event]:
        if self._turn == turn:
            return []
        self._turn, self._interrupted = turn, False
        return [TurnBegan(next((key for key, begun in self._accepted.items() if begun == turn), None))]

    def _completed(self, turn: events.Turn) -> list[Event]:
        """End the turn; codex drops the prompts that an interrupted turn accepted and did not read."""
        if turn.id == self._ended or self._turn not in (None, turn.id):
            return []
        before: list[Event] = [TurnBegan()] if self._turn is None else []
        self._turn, self._ended = None, turn.id
        self._patches = {key: patch for key, patch in self._patches.items() if key[0] != self._thread}
        void = [key for key, (_, of) in self._asks.items() if of in (None, turn.id)]
        before += [event for key in void for event in self._settled(key, answered=False)]
        dropped: list[str] = []
        if turn.status != "completed":
            dropped = [key for key, of in self._accepted.items() if of == turn.id]
        for key in dropped:
            # What was answered about it is forgotten too: it may be sent again.
            del self._accepted[key]
            names = {f"{_PROMPT}{key}", f"{_PROBE}{key}"}
            for answered in [one for one in self._answered if one.rpartition(":")[0] in names]:
                del self._answered[answered]
        return [*before, TurnEnded(), *(Received(key, Delivery.WITHDRAWN) for key in dropped)]

    def _item(self, item: items.AnyItem) -> list[Event]:
        if isinstance(item, items.ContextCompaction) and self._compacting is not None:
            key, self._compacting = self._compacting, None
            return self._seen_now(key)
        if not isinstance(item, items.UserMessage) or not item.client_id or item.client_id in self._seen:
            return []
        return self._seen_now(item.client_id)

    def _seen_now(self, key: str) -> list[Event]:
        self._accepted.pop(key, None)
        remember(self._seen, key, None)
        return [Received(key, Delivery.SEEN)]

    def _open(self, key: str, asking: "events.Asking | None", turn: str | None, ask: Ask) -> list[Event]:
        if key in self._asks:
            return []
        dropped = self._settled(next(iter(self._asks)), answered=False) if len(self._asks) >= MOST_OPEN else []
        self._asks[key] = (asking, turn)
        return [*dropped, Asked(ask if ask.cwd else structs.replace(ask, cwd=self._cwd))]

    def _settled(self, key: str | None, *, answered: bool = True) -> list[Event]:
        """Close a request; codex also resolves those of a turn that is interrupted."""
        if key is None or self._asks.pop(key, None) is None:
            return []
        has_answer = key in self._given_answer
        self._given_answer.discard(key)
        return [Settled(key, answered and (has_answer or not self._interrupted))]

    def _changed(self, settings: events.Settings) -> list[Event]:
        found: list[Event] = []
        self._cwd = settings.cwd or self._cwd
        if settings.model is not None and settings.model != self._model:
            self._model = settings.model
            found.append(Changed("model", settings.model))
        mode = mode_of(settings.sandbox_policy)
        if mode is not None and mode != self._mode:
            self._mode = mode
            found.append(Changed("mode", mode))
        return found
