"""Esc followed by a key, or Alt and the key: decided only when the key is dispatched, where the bound keys are known.

A terminal sends Alt+J as the two characters that Esc and J send.  Textual (8.2) takes them for Alt+J if they arrive
within 100 ms.  If the second character is not a letter, it drops the Esc.  Fast typing, one packet of an SSH
connection and a tmux that delays each Esc (its ``escape-time``) all join the two, and both keys would be lost.
"""

from collections.abc import Callable, Generator, Iterator
from contextlib import suppress
from typing import Any

from textual import events
from textual.message import Message

from agentdash.sessions.model.clock import monotonic
from agentdash.tui._textual_hacks import KeyParser, ParseEOF, ParseTimeout
from agentdash.tui.terminal.alternate_keys import mark_place, without_alternates
from agentdash.tui.terminal.bursts import Bursts, together

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
        plain = self.keys(first)
        later = [key for character in rest for key in self.keys(character)]
        if len(plain) != 1:
            return [events.Key("escape", ESC), *plain, *later]
        return [EscapedKey(tuple(self._names(first, plain[0])), plain[0]), *later]

    def _names(self, character: str, plain: events.Key) -> Iterator[str]:
        """Yield the names that Esc and a character can have: Alt and the key, and Textual's own interpretation."""
        yield f"alt+{plain.key}"
        if character.isupper():
            yield f"alt+shift+{character.lower()}"
        # Alt+F is Ctrl+Right in a text field; a character (Alt+1 is "¡" on some keyboards) is not the name of a key.
        yield from (key.key for key in self.keys(ESC + character) if key.character is None)


def _split(held: str, character: str) -> tuple[str, str]:
    """Return the held text to give up now, and the next character for the parser; either can be empty."""
    if held == ESC and character and character not in f"{_INTRODUCERS}{ESC}":
        return held + character, ""
    if len(held) > 1 and (character == ESC or len(held) >= _LONGEST):
        return held, character
    return "", character
