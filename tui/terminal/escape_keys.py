"""Keys as the terminal sends them: Esc before a key or Alt with it, their place on the keyboard, and bursts of keys.

A terminal sends Alt+J as the two characters that Esc and J send.  Textual (8.2) takes them for Alt+J if they arrive
within 100 ms.  If the second character is not a letter, it drops the Esc.  Fast typing, one packet of an SSH
connection and a tmux that delays each Esc (its ``escape-time``) all join the two, and both keys would be lost.
"""

import math
import re
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import suppress
from typing import Any

from textual import events
from textual.message import Message

from agentdash.sessions.model.clock import monotonic
from agentdash.tui._textual_hacks import KeyParser, ParseEOF, ParseTimeout

ASK = "\x1b[=4;2u"
"""Adds alternate keys to what Textual asked for; the end of Textual's request ends it too.

They name the place of a key on the keyboard beside the typed letter (kitty's keyboard protocol).  Textual (8.2.8) asks
for all keys as sequences, ``CSI codepoint ; modifiers ; text u``, but not for the place; its parser takes no sequence
that has one: ``CSI codepoint:shifted:place ; modifiers ; text u``.
"""

_KEY = re.compile(r"(\x1b\[\d{1,7})(?::\d{0,7})?(?::(\d{0,7}))?((?:;(\d{0,4}))?(?:;[\d:]*)?u)")

_SHIFT, _CAPS_LOCK = 1, 64
_UNSHIFTED, _SHIFTED = "`1234567890-=[]\\;',./", '~!@#$%^&*()_+{}|:"<>?'
_WITH_SHIFT = str.maketrans(_UNSHIFTED, _SHIFTED)
"""The characters of a US keyboard: that is the layout in which a terminal names a place."""


def without_alternates(sequence: str) -> tuple[str, str]:
    """Return a key's sequence as Textual takes it, and the character that a US keyboard has at the key's place.

    The character is empty if the terminal does not report the place, as for a key of a Latin layout at its usual place.
    """
    match = _KEY.fullmatch(sequence)
    if match is None:
        return sequence, ""
    beginning, place, rest, modifiers = match.groups()
    held = int(modifiers or 1) - 1
    return beginning + rest, _typed(int(place), held) if place else ""


def _typed(codepoint: int, held: int) -> str:
    """Return the character that a key types with the modifiers that are held; empty if it is not on a keyboard."""
    if not 0x21 <= codepoint <= 0x7E:
        return ""
    character = chr(codepoint)
    if character.isalpha():
        return character.upper() if bool(held & _SHIFT) is not bool(held & _CAPS_LOCK) else character.lower()
    return character.translate(_WITH_SHIFT) if held & _SHIFT else character


_PLACE = "place_on_keyboard"


def mark_place(key: object, character: str) -> None:
    """Note the character of a US keyboard at the place of a key."""
    setattr(key, _PLACE, character)


def place_of(key: object) -> str:
    """Return the character of a US keyboard at the place of a key; empty if the terminal did not report it."""
    return str(getattr(key, _PLACE, ""))


GAP_SECONDS = 0.02
"""Keys that arrive closer together are one burst; the repetition of a held key is slower."""


class Bursts:
    """Marks the keys of each burst: a paste in a terminal that does not bracket it, or keys that a slow line held back.

    A person who decides presses one key and has seen the question.  What the terminal sent together was not typed for
    it.
    """

    def __init__(self) -> None:
        self._last = -math.inf

    def mark(self, keys: Sequence[Message], now: float) -> None:
        """Mark the keys that one read of the terminal brought, if they came at once or right behind others.

        ``now`` is the time of the read, in seconds on a clock that never goes back.
        """
        if keys:
            if len(keys) > 1 or now - self._last < GAP_SECONDS:
                together(keys)
            self._last = now


_BURST = "came_in_a_burst"


def together(keys: Sequence[Message]) -> None:
    """Mark keys that arrived together."""
    for key in keys:
        setattr(key, _BURST, True)


def in_burst(event: events.Event) -> bool:
    """Return whether a key arrived together with others."""
    return bool(getattr(event, _BURST, False))


ESC = "\x1b"
_INTRODUCERS = "[O"
"""The characters after the Esc of a key that sends a sequence: an arrow, F5, the mouse, a paste."""
_LONGEST = 32
"""Length in characters at which Textual abandons a sequence."""
_PASTE_BEGINS, _PASTE_ENDS = "\x1b[200~", "\x1b[201~"


class EscapedKey(events.Event, bubble=False):
    """An Esc immediately followed by a key: Alt and the key if that is bound, else the two keys in order."""

    def __init__(self, names: tuple[str, ...], key: events.Key) -> None:
        """``names`` are the alternatives to Esc and ``key``, in Textual's notation."""
        super().__init__()
        self.names = names
        self.key = key

    def meant(self, bound: Callable[[str], bool]) -> list[events.Key]:
        """Return the keys that were pressed; ``bound`` returns True for the name of a key that does something."""
        name = next(filter(bound, self.names), None)
        if name is not None:
            return [events.Key(name, None)]
        keys = [events.Key("escape", ESC), self.key]
        together(keys)
        return keys


class EscapeParser(KeyParser):
    """Textual's parser; emits an :class:`EscapedKey` at once if the character after Esc cannot continue a sequence."""

    def __init__(self, debug: bool = False) -> None:
        super().__init__(debug)
        self._bursts = Bursts()

    def encoded(self, sequence: str, *, alt: bool = False) -> list[events.Key]:
        """Return the keys that a sequence encodes, each with its place on the keyboard if that is known."""
        plain, place = without_alternates(sequence)
        keys = super().encoded(plain, alt=alt)
        for key in keys:
            mark_place(key, place)
        return keys

    def feed(self, data: str) -> Iterator[Message]:
        """Yield what one read of the terminal brought; its keys are marked if they came together."""
        heard = list(super().feed(data))
        self._bursts.mark([event for event in heard if isinstance(event, events.Key | EscapedKey)], monotonic())
        yield from heard

    def parse(self, token_callback: Callable[[Message], None]) -> Generator[Any, str, None]:
        """Pass characters to Textual's parser, but take back an Esc that it would join to the next key."""
        heard: list[Message] = []
        inner = super().parse(heard.append)
        awaiting = next(inner)
        held = recent = ""
        pasting = False
        while True:
            try:
                character = yield awaiting
            except ParseTimeout as timeout:
                awaiting = inner.throw(timeout)
                if len(held) > 1 and not pasting:
                    heard[:] = self._pressed(held)
                held = character = ""
            except ParseEOF as end:
                with suppress(StopIteration):
                    inner.throw(end)
                return
            given_up, character = ("", character) if pasting else _split(held, character)
            if given_up:
                awaiting = inner.throw(ParseTimeout())
                heard[:] = self._pressed(given_up)
                held = ""
            if character:
                awaiting = inner.send(character)
                held = "" if awaiting.timeout is None else ESC if character == ESC else held + character
                recent = (recent + character)[-len(_PASTE_BEGINS) :]
                pasting = recent == _PASTE_BEGINS or (pasting and recent != _PASTE_ENDS)
            for message in heard:
                token_callback(message)
            heard.clear()

    def _pressed(self, sequence: str) -> list[Message]:
        """Return the keys of an Esc and one or more characters that are not a key's sequence."""
        first, rest = sequence[1], sequence[2:]
        plain = self.encoded(first)
        later = [key for character in rest for key in self.encoded(character)]
        if len(plain) != 1:
            return [events.Key("escape", ESC), *plain, *later]
        return [EscapedKey(tuple(self._names(first, plain[0])), plain[0]), *later]

    def _names(self, character: str, plain: events.Key) -> Iterator[str]:
        """Yield the names that Esc and a character can have: Alt and the key, and Textual's own interpretation."""
        yield f"alt+{plain.key}"
        if character.isupper():
            yield f"alt+shift+{character.lower()}"
        # Alt+F is Ctrl+Right in a text field; a character (Alt+1 is "¡" on some keyboards) is not the name of a key.
        yield from (key.key for key in self.encoded(ESC + character) if key.character is None)


def _split(held: str, character: str) -> tuple[str, str]:
    """Return the held text to give up now, and the next character for the parser; either can be empty."""
    if held == ESC and character and character not in f"{_INTRODUCERS}{ESC}":
        return held + character, ""
    if len(held) > 1 and (character == ESC or len(held) >= _LONGEST):
        return held, character
    return "", character
