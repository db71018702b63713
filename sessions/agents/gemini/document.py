"""Gemini CLI's older chats, one JSON document of many lines, as the lines that newer versions write.

The document is an object with ``messages``.  It is read line by line, so that one message at a time is in memory.
"""

import re

from msgspec import Struct

_TOKEN = re.compile(rb'"(?:[^"\\]++|\\.?)*+(?:"|\Z)|[\[\]{}]', re.DOTALL)
_MESSAGES = b'"messages"'

LONGEST = 16 << 20
"""Bytes; a message that is longer is left out."""


def begins(line: bytes) -> bool:
    """Return whether a line begins such a document."""
    return line.strip() == b"{"


class Document(Struct):
    """The position in a document."""

    depth: int = 0
    """Brackets that are open."""
    part: bytes = b""
    """The text so far of the open message, or of the fields around the messages."""
    name: bytes = b""
    """The last text of the outermost object: the name of a field, before its value."""
    inside: bool = False
    """True between the messages' brackets."""

    def read(self, line: bytes) -> list[bytes]:
        """Return the objects that end in a line: the fields before the messages, a message, or the fields behind."""
        ended: list[bytes] = []
        at = 0
        for token in _TOKEN.finditer(line):
            if token[0] in (b"{", b"["):
                self.depth += 1
                if self.depth == 2 and token[0] == b"[" and self.name == _MESSAGES:
                    ended.append(self.part + line[at : token.end()] + b"]}")
                    self.part, self.inside = b"", True
                elif self.depth == 3 and self.inside:
                    at = token.start()
            elif token[0] in (b"}", b"]"):
                self.depth -= 1
                if self.depth == 2 and self.inside:
                    ended.append(self.part + line[at : token.end()])
                    self.part = b""
                elif self.depth == 1 and self.inside:
                    self.part, self.inside, self.name, at = b'{"messages":[]', False, b"", token.end()
                elif self.depth == 0:
                    ended.append(self.part + line[at : token.end()])
                    self.part = b""
            elif self.depth == 1:
                self.name = token[0]
        if self.depth > 2 or (self.depth > 0 and not self.inside):
            self.part = (self.part + line[at:] + b"\n")[: LONGEST + 1]
        return [one for one in ended if len(one) <= LONGEST]
