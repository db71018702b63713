"""Cleaning of bytes that come in pieces, with the same result as :func:`.sanitize.clean` of the whole."""

import codecs

from .sanitize import clean

HELD_CHARACTERS = 1 << 20
"""The most characters of an unfinished line that are held back for the rest of a sequence."""

_INTRODUCERS = "\x1b\x90\x98\x9b\x9d\x9e\x9f\r"
"""Characters that may begin a sequence, or a line end, whose rest comes with the next piece."""


class StreamCleaner:
    """Cleans UTF-8 bytes piece by piece.

    No sequence goes beyond its line, so whole lines are cleaned at once.  In a line that has not ended, the text from
    the first introducer on waits for the rest.  After ``HELD_CHARACTERS`` it is cleaned as it is, which leaves text but
    no control character.
    """

    def __init__(self) -> None:
        self._decode = codecs.getincrementaldecoder("utf-8")("replace").decode
        self._held = ""

    def feed(self, data: bytes) -> str:
        """Return the cleaned text that is complete with these bytes."""
        text = self._held + self._decode(data)
        end = self._complete(text)
        self._held = text[end:]
        return clean(text[:end])

    def finish(self) -> str:
        """Return the cleaned rest, after the last bytes."""
        text, self._held = self._held + self._decode(b"", True), ""
        return clean(text)

    def _complete(self, text: str) -> int:
        """Return the number of characters that no later piece can change."""
        line = text.rfind("\n") + 1
        first = min((at for at in (text.find(sign, line) for sign in _INTRODUCERS) if at >= 0), default=len(text))
        return first if len(text) - first < HELD_CHARACTERS else len(text)
