"""The scripted agent's own record of a conversation: its prompts, in a file of the state folder."""

import contextlib
import time
from pathlib import Path

import msgspec
from msgspec import Struct

from agentdash.sessions.agents.parsing.json_lines import UNREADABLE
from agentdash.sessions.storage.paths import write_atomic


class KeptPrompt(Struct, frozen=True, kw_only=True):
    """One prompt."""

    key: str = ""
    """Names the prompt of a live agent; empty for the prompt of a process of one turn."""
    text: str
    at: int = 0
    """Time at which it became part of the conversation, UTC ms."""


_DECODER = msgspec.json.Decoder(list[KeptPrompt | str])


class Conversation:
    """The prompts of one conversation; a file that cannot be read has none.

    Args:
        home: the state folder.
        name: the conversation.
    """

    def __init__(self, home: Path, name: str) -> None:
        self._path = home / "scripted" / f"{name}.json"
        self.kept = self._read()

    @property
    def prompts(self) -> list[str]:
        """The texts of all prompts, oldest first."""
        return [one.text for one in self.kept]

    def has(self, key: str) -> bool:
        """Return whether a prompt with this key is part of the conversation."""
        return key != "" and any(one.key == key for one in self.kept)

    def add(self, text: str, key: str = "") -> None:
        """Add a prompt; an agent that cannot write continues without the file.

        The file is read again: a second agent, whose runner was killed, may have added prompts to it.
        """
        recorded = self._read()
        self.kept = [*recorded, *(one for one in self.kept if one not in recorded)]
        self.kept.append(KeptPrompt(key=key, text=text, at=time.time_ns() // 1_000_000))
        with contextlib.suppress(OSError):
            self._path.parent.mkdir(mode=0o700, exist_ok=True)
            write_atomic(self._path, msgspec.json.encode(self.kept))

    def _read(self) -> list[KeptPrompt]:
        try:
            entries = _DECODER.decode(self._path.read_bytes())
        except (OSError, *UNREADABLE):
            return []
        return [KeptPrompt(text=entry) if isinstance(entry, str) else entry for entry in entries]
