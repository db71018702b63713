"""Esc and then a key, told apart from Alt and the key only where that is known: at the keys that are bound.

A terminal sends Alt+J as the two characters that Esc and J send.  Textual (8.2) takes them for Alt+J if they arrive
within 100 ms, and for a character that is not a letter it drops the Esc.  Fast typing, one packet of an SSH connection
and a tmux that holds each Esc back (its ``escape-time``) all bring them together, and both keys would be lost.
"""

from collections.abc import Callable, Generator, Iterator
from contextlib import suppress
from typing import Any

from textual import events
from textual.message import Message

from .._textual_hacks import KeyParser, ParseEOF, ParseTimeout

ESC = "\x1b"
_INTRODUCERS = "[O"
"""What follows the Esc of a key that sends a sequence: an arrow, F5, the mouse, a paste."""
_LONGEST = 32
"""Characters after which Textual gives a sequence up."""
_PASTE_BEGINS, _PASTE_ENDS = "\x1b[200~", "\x1b[201~"


class EscapedKey(events.Event, bubble=False):
    """An Esc with a key right behind it: Alt and the key where that is bound, else one after the other."""

    def __init__(self, names: tuple[str, ...], key: events.Key) -> None:
        """``names`` are the keys that it can be beside Esc and ``key``, as Textual names them."""
        super().__init__()
        self.names = names
        self.key = key

    def meant(self, bound: Callable[[str], bool]) -> list[events.Key]:
        """The keys that were pressed, where ``bound`` knows which keys do something."""
        name = next(filter(bound, self.names), None)
        return [events.Key("escape", ESC), self.key] if name is None else [events.Key(name, None)]


class EscapeParser(KeyParser):
    """Textual's parser; an Esc and what cannot continue its sequence come out at once, as an :class:`EscapedKey`."""

    def parse(self, token_callback: Callable[[Message], None]) -> Generator[Any, str, None]:
        """Hand characters to Textual's parser, and take back an Esc that it would join to the key behind it."""
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
        """The keys of an Esc and one or more characters that are no sequence of a key."""
        first, rest = sequence[1], sequence[2:]
        plain = self.keys(first)
        later = [key for character in rest for key in self.keys(character)]
        if len(plain) != 1:
            return [events.Key("escape", ESC), *plain, *later]
        return [EscapedKey(tuple(self._names(first, plain[0])), plain[0]), *later]

    def _names(self, character: str, plain: events.Key) -> Iterator[str]:
        """The keys that Esc and a character can be: Alt and the key, and what Textual takes it for."""
        yield f"alt+{plain.key}"
        if character.isupper():
            yield f"alt+shift+{character.lower()}"
        # Alt+F is Ctrl+Right to those who edit a text; a character (Alt+1 is "¡" on some keyboards) is no key's name.
        yield from (key.key for key in self.keys(ESC + character) if key.character is None)


def _split(held: str, character: str) -> tuple[str, str]:
    """What the parser holds and has to give up now, and the character that it gets after that; either can be empty."""
    if held == ESC and character and character not in f"{_INTRODUCERS}{ESC}":
        return held + character, ""
    if len(held) > 1 and (character == ESC or len(held) >= _LONGEST):
        return held, character
    return "", character
