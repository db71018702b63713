"""An app that handles keys one at a time, because typed text must never become commands; and the user's presence.

Some keys are not what they seem: those of a burst, which decide nothing, and letters of another keyboard layout.
"""

import asyncio
import unicodedata
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from textual import events
from textual.app import App
from textual.geometry import Size
from textual.message import Message
from textual.message_pump import MessagePump
from textual.screen import Screen
from textual.timer import Timer
from textual.widgets import Input, TextArea

from agentdash.sessions.model.clock import monotonic
from agentdash.sessions.model.session import Session
from agentdash.sessions.rules.attention import AttentionKind, kind_of_need
from agentdash.tui._textual_hacks import is_bound, lay_out, write_changes
from agentdash.tui.keys.key_names import textual_name
from agentdash.tui.keys.menu import PANEL_SECONDS, Menu
from agentdash.tui.terminal.driver import TerminalDriver
from agentdash.tui.terminal.escape_keys import EscapedKey, in_burst, place_of
from agentdash.tui.terminal.shown import Shown

BURST = "Keys of a burst decide nothing. Press it alone."
LAYOUT = "Keys are Latin letters: switch the keyboard's layout."


def to_its_place(screen: Screen[Any], key: events.Key) -> None:
    """Make a letter of another script the key at its place, where it is not text, if the terminal reported the place.

    A letter that is bound stays, and so does a Latin one: the user of such a layout has all Latin letters.
    """
    place = place_of(key)
    if not place or not _is_no_key(screen, key) or unicodedata.name(_letter(key), "LATIN").startswith("LATIN"):
        return
    *held, _ = key.key.split("+")
    name = textual_name("+".join([*held, place.lower()]) if held else place)
    if name is not None:
        key.key, key.character = name, None if held else place


def of_other_layout(screen: Screen[Any], event: events.Event) -> bool:
    """Return whether a key is a letter of a layout that no action has, typed where it is not text."""
    return isinstance(event, events.Key) and _is_no_key(screen, event)


def _is_no_key(screen: Screen[Any], key: events.Key) -> bool:
    letter = _letter(key)
    if not letter or letter.isascii() or unicodedata.category(letter)[0] not in "LMN":
        return False
    types = key.is_printable and isinstance(screen.focused, Input | TextArea)
    return not types and not is_bound(screen, key.key)


def _letter(key: events.Key) -> str:
    """Return the character that a key types, or would type without Ctrl and Alt; empty if it types none."""
    letter = key.character or key.key.rpartition("+")[2]
    return letter if len(letter) == 1 else ""


def decides_nothing(screen: Screen[Any], event: events.Event) -> bool:
    """Return whether a key must not decide in the dialog on top or the card, because it arrived together with others.

    A dialog or a card names its keys that decide in ``DECIDING``.  Text in a field stays text.
    """
    if not isinstance(event, events.Key) or not in_burst(event):
        return False
    places = screen.focused.ancestors_with_self if screen.focused is not None else [screen]
    is_text = event.is_printable and isinstance(screen.focused, Input | TextArea)
    return any(event.key in getattr(place, "DECIDING", ()) for place in places) and not is_text


DWELL_SECONDS = 2.0
"""Time for which an ended session must be on the screen: moving past a row is not reading it."""

AT_HAND_SECONDS = 60.0
"""Time after a key during which the user counts as present."""


class Presence:
    """Decides from keys and from the shown session what the user has seen.

    A session that needs a decision (failed, denied, a question) stays unread until the user opens it.

    Args:
        clock: returns seconds on a clock that never goes back.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._key_at = -AT_HAND_SECONDS
        self._shown: tuple[str, int] | None = None
        self._since = 0.0

    def key(self) -> None:
        """Note that the user pressed a key."""
        self._key_at = self._clock()

    def has_seen(self, session: Session | None) -> bool:
        """Return whether the user has seen the end of the session on the screen; asked again and again.

        ``session`` is the one whose last steps are on the screen; None if there is none.
        """
        now = self._clock()
        shown = (session.id, session.turn) if session is not None and session.status.ended else None
        if shown != self._shown:
            self._shown, self._since = shown, now
        if session is None or shown is None or session.all_opened or session.put_away:
            return False
        need = kind_of_need(session, session.last_sign_at)
        present = now - self._key_at < AT_HAND_SECONDS and now - self._since >= DWELL_SECONDS
        return present and need in (None, AttentionKind.DONE)


PATIENCE_SECONDS = 10.0
"""Maximum time that the next key waits for the end of the previous one."""

ROUNDS = 3
"""Passes through the queues that a key's effects may need: the key itself, the messages that its handlers posted, and
the new screen or focus that resulted from them."""

Result = TypeVar("Result")


class Handled(Message):
    """Follows a key through the same queues; when it returns to the app, everything before it has been handled."""

    def __init__(self, watch: int, rounds: int) -> None:
        super().__init__()
        self.watch = watch
        self.rounds = rounds


class KeysInOrder(App[Result]):
    """Passes on the next key or paste only when the previous one has been handled completely.

    Textual (8.2) sends a key to the widget that has the focus when the key arrives.  If a user typed ``i`` and a text
    at once, over a slow line or on a busy machine, the table would take the text as commands, because the focus moves
    only when ``i`` has been handled.  The next key also waits for a layout that the previous one made necessary: a pane
    that has just opened has no size before.
    """

    def __init__(self) -> None:
        super().__init__(driver_class=TerminalDriver)
        self.holds_pictures = False
        """True while nothing is drawn, because the first pictures are not complete."""
        self.shown = Shown()
        write_changes(self, self.shown.changes)
        self._typed: deque[events.Event] = deque()
        self._busy = False
        self._watch = 0
        """Number of the current wait; a message of an earlier wait is ignored."""
        self._holders = 0
        self._patience: asyncio.TimerHandle | None = None
        self.presence = Presence(monotonic)
        self.menu = Menu()
        self._panel: Timer | None = None
        """Shows the panel of the menu that is open."""
        self._resized = False
        """True once the terminal reported its size."""
        self.key_time = 0.0
        """When the key or paste that is being handled was typed, in seconds on a clock that never goes back."""

    @property
    def keys_wait(self) -> bool:
        """True if keys were typed that have not been handled yet."""
        return bool(self._typed)

    @contextmanager
    def keys_held(self) -> Iterator[None]:
        """Hold typed keys, at most :data:`PATIENCE_SECONDS`: they belong to a dialog that is about to open."""
        self._holders += 1
        try:
            yield
        finally:
            self._holders -= 1
            if self._busy:
                self._follow(self._target())

    async def on_event(self, event: events.Event) -> None:
        """Queue keys and pastes; all other events are handled as usual."""
        if isinstance(event, events.Key | events.Paste | EscapedKey) and not event.is_forwarded:
            self.presence.key()
            self._typed.append(event)
            if not self._busy:
                await self._hand_out()
        else:
            if isinstance(event, events.Resize):
                self._terminal_changed(event)
            await super().on_event(event)

    def _terminal_changed(self, event: events.Resize) -> None:
        """Paint all of the terminal again: it can have cut off lines, also if its size is the former one by now."""
        if event.size != self.size:
            self.terminal_resized(event.size)
        elif self._resized and not self.holds_pictures:  # at the start it is reported twice
            self.action_redraw()
        self._resized = True

    def action_menu(self, letter: str) -> None:
        """Let the next key be one of a menu, whose panel is shown if no key comes."""
        self.menu.open(self.screen, letter)
        self._panel = self.set_timer(PANEL_SECONDS, self.panel_due)

    def panel_due(self) -> None:
        """Show the panel of the menu that is open, unless the user has typed on."""
        if self.menu.is_on(self.screen) and not self.keys_wait:
            self.show_panel(self.menu.letter)

    def show_panel(self, letter: str) -> None:
        """Show the keys of a menu."""

    def terminal_resized(self, size: Size) -> None:
        """Prepare the screens for another size of the terminal."""

    def show_pictures(self) -> None:
        """Draw what is there now, and from now on each change."""
        self.holds_pictures = False
        if self.screen_stack:  # it can have been ended before its first picture
            self.screen.refresh()

    def action_redraw(self) -> None:
        """Write the whole picture again, whatever the terminal shows."""
        self.shown.forget()
        self.refresh()

    async def on_handled(self, message: Handled) -> None:
        """Send the message round again, or pass on the next key."""
        message.stop()
        if message.watch == self._watch:
            if message.rounds < ROUNDS:
                self._post(self._target(), message.rounds + 1)
            elif not self._holders:
                if self._typed and lay_out(self.screen):
                    self._post(self._target(), 1)  # widgets learn their new sizes by messages
                else:
                    await self._hand_out()

    async def _hand_out(self) -> None:
        if self._patience is not None:
            self._patience.cancel()
        self._busy = bool(self._typed)
        if self._typed:
            self._patience = asyncio.get_running_loop().call_later(PATIENCE_SECONDS, self.call_later, self._hand_out)
            target = self._target()
            event = self._next()
            self.key_time = event.time
            if not self.consumes(event):
                await super().on_event(event)
            self._follow(target)

    def consumes(self, event: events.Event) -> bool:  # noqa: ARG002 - for subclasses
        """Return whether a key or a paste ends here; called before it is handled."""
        return False

    def _next(self) -> events.Event:
        """Return the oldest key or paste.

        An Esc followed by a key counts as two keys, unless the pair is a key that is bound here.  A letter of another
        layout is the key at its place, if the terminal reports that.
        """
        event = self._typed.popleft()
        if isinstance(event, EscapedKey):
            event, *later = event.meant(lambda key: is_bound(self.screen, key))
            self._typed.extendleft(later)
        if isinstance(event, events.Key):
            to_its_place(self.screen, event)
        if self._panel is not None:
            self._panel.stop()
            self._panel = None
        self.menu.take(self.screen, event)
        return event

    def _follow(self, target: MessagePump) -> None:
        self._watch += 1
        self._post(target, 1)

    def _post(self, target: MessagePump, rounds: int) -> None:
        if not target.post_message(Handled(self._watch, rounds)):
            self.post_message(Handled(self._watch, rounds))

    def _target(self) -> MessagePump:
        return self.focused or self.screen
