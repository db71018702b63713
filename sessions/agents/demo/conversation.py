"""The demo agent's own record of a conversation: its prompts, in a file of the state folder."""

import contextlib
import time
from pathlib import Path

import msgspec
from msgspec import Struct

from ...storage.paths import write_atomic
from ..parsing.json_lines import UNREADABLE


class Said(Struct, frozen=True, kw_only=True):
    """One prompt."""

    key: str = ""
    """Names the prompt of a live agent; empty for the prompt of a process of one turn."""
    text: str
    at: int = 0
    """Time at which it became part of the conversation, UTC ms."""


_DECODER = msgspec.json.Decoder(list[Said | str])


class Conversation:
    """The prompts of one conversation; a file that cannot be read has none.

    Args:
        home: the state folder.
        name: the conversation.
    """

    def __init__(self, home: Path, name: str) -> None:
        self._path = home / "demo" / f"{name}.json"
        self.said = self._read()

    @property
    def prompts(self) -> list[str]:
        """The texts of all prompts, oldest first."""
        return [said.text for said in self.said]

    def has(self, key: str) -> bool:
        """Return whether a prompt with this key is part of the conversation."""
        return key != "" and any(said.key == key for said in self.said)

    def add(self, text: str, key: str = "") -> None:
        """Add a prompt; a demo that cannot write continues without the file.

        The file is read again: a second agent, whose runner was killed, may have added prompts to it.
        """
        kept = self._read()
        self.said = [*kept, *(said for said in self.said if said not in kept)]
        self.said.append(Said(key=key, text=text, at=time.time_ns() // 1_000_000))
        with contextlib.suppress(OSError):
            self._path.parent.mkdir(mode=0o700, exist_ok=True)
            write_atomic(self._path, msgspec.json.encode(self.said))

    def _read(self) -> list[Said]:
        try:
            entries = _DECODER.decode(self._path.read_bytes())
        except (OSError, *UNREADABLE):
            return []
        return [Said(text=entry) if isinstance(entry, str) else entry for entry in entries]
