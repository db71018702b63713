"""An app whose keys act one after the other, because typed text must never become commands."""

import asyncio
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TypeVar

from textual import events
from textual.app import App
from textual.message import Message
from textual.message_pump import MessagePump

from .._textual_hacks import is_bound
from ..terminal.driver import TerminalDriver
from ..terminal.escape_keys import EscapedKey

PATIENCE_SECONDS = 2.0
"""A key whose end is not seen for so long holds the next one no more."""

ROUNDS = 3
"""Ways through the queues that a key's effects may need: the key itself, the messages that its handlers posted, and
the new screen or focus that these brought."""

Result = TypeVar("Result")


class Handled(Message):
    """Follows a key through the same queues; back at the app it says that what stood before it has been handled."""

    def __init__(self, watch: int, rounds: int) -> None:
        super().__init__()
        self.watch = watch
        self.rounds = rounds


class KeysInOrder(App[Result]):
    """Hands out the next key or paste only when the former has been handled wholly.

    Textual (8.2) sends a key where the focus is when the key arrives.  Whoever types ``i`` and a text at once, over a
    slow line or on a busy machine, would have the text taken as commands of the table, because the focus moves only
    when ``i`` has been handled.
    """

    def __init__(self) -> None:
        super().__init__(driver_class=TerminalDriver)
        self._typed: deque[events.Event] = deque()
        self._busy = False
        self._watch = 0
        """Counts what was waited for: a message of an earlier watch says nothing any more."""
        self._holders = 0
        self._patience: asyncio.TimerHandle | None = None

    @contextmanager
    def keys_held(self) -> Iterator[None]:
        """What is typed inside of this waits, at most two seconds: a dialog is coming and it belongs there."""
        self._holders += 1
        try:
            yield
        finally:
            self._holders -= 1
            if self._busy:
                self._follow(self._target())

    async def on_event(self, event: events.Event) -> None:
        """Put what is typed in line; everything else goes its usual way."""
        if isinstance(event, events.Key | events.Paste | EscapedKey) and not event.is_forwarded:
            self._typed.append(event)
            if not self._busy:
                await self._hand_out()
        else:
            await super().on_event(event)

    async def on_handled(self, message: Handled) -> None:
        """Send it round again, or let the next key go."""
        message.stop()
        if message.watch == self._watch:
            if message.rounds < ROUNDS:
                self._post(self._target(), message.rounds + 1)
            elif not self._holders:
                await self._hand_out()

    async def _hand_out(self) -> None:
        if self._patience is not None:
            self._patience.cancel()
        self._busy = bool(self._typed)
        if self._typed:
            self._patience = asyncio.get_running_loop().call_later(PATIENCE_SECONDS, self._go_on)
            target = self._target()
            await super().on_event(self._next())
            self._follow(target)

    def _next(self) -> events.Event:
        """What was typed first; of an Esc with a key behind it the Esc, unless both are a key that is bound here."""
        event = self._typed.popleft()
        if isinstance(event, EscapedKey):
            event, *later = event.meant(self._is_bound)
            self._typed.extendleft(later)
        return event

    def _is_bound(self, key: str) -> bool:
        """Whether a key does something where the focus is now, or could do it."""
        return is_bound(self.screen, key)

    def _go_on(self) -> None:
        self.call_later(self._hand_out)

    def _follow(self, target: MessagePump) -> None:
        self._watch += 1
        self._post(target, 1)

    def _post(self, target: MessagePump, rounds: int) -> None:
        if not target.post_message(Handled(self._watch, rounds)):
            self.post_message(Handled(self._watch, rounds))

    def _target(self) -> MessagePump:
        return self.focused or self.screen
