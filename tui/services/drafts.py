"""Drafts of the dashboard: updated in memory at each key, written to disk within a second and at exit."""

import asyncio
from collections.abc import Callable
from threading import Lock

from agentdash.sessions.storage.prompts.drafts import NO_SESSION, DraftFiles

WRITE_SECONDS = 1.0
"""Delay after the first key that is not on disk yet, so that a draft is written at most once a second."""

_AT_ONCE_SECONDS = 0.001
"""A timer of Textual (8.2) divides by its time, which must not be 0."""


class Drafts:
    """Unsent prompts by session; shared by all prompt boxes of a dashboard.

    A full or read-only disk disturbs no key: the text stays in memory, and the next key tries again.
    """

    def __init__(self, files: DraftFiles, later: Callable[[float, Callable[[], object]], object]) -> None:
        """``later`` calls a function after a number of seconds."""
        self._files = files
        self._later = later
        self._texts: dict[str, str] = {}
        self._changed: set[str] = set()
        self._held: set[str] = set()
        """The drafts that are being sent: the file stays until the prompt is recorded."""
        self._waiting = False
        self._writing = Lock()

    def get(self, session_id: str | None) -> str:
        """Return the draft for a session; None means a new session."""
        key = session_id or NO_SESSION
        if key not in self._texts:
            self._texts[key] = self._files.read(key)
        return self._texts[key]

    def put(self, session_id: str | None, text: str) -> None:
        """Store a draft; an empty text removes it."""
        key = session_id or NO_SESSION
        if text == self.get(session_id):
            return
        self._texts[key] = text
        self._changed.add(key)
        if not self._waiting:
            self._waiting = True
            self._later(WRITE_SECONDS, self._save_soon)

    def hold(self, session_id: str | None) -> None:
        """Keep the file of a draft as it is: its text is being sent."""
        self._held.add(session_id or NO_SESSION)

    def release(self, session_id: str | None) -> None:
        """Write a draft that was held: its text was sent, or was given back."""
        self._held.discard(session_id or NO_SESSION)
        self._later(_AT_ONCE_SECONDS, self._save_soon)

    async def _save_soon(self) -> None:
        self._waiting = False
        await asyncio.to_thread(self.save)

    def save(self) -> str | None:
        """Write the changed drafts; return the reason if one could not be written."""
        reason = None
        with self._writing:
            changed = self._changed - self._held
            self._changed &= self._held
            for key in sorted(changed):
                try:
                    self._files.write(key, self._texts[key])
                except OSError as error:
                    self._changed.add(key)
                    reason = error.strerror or str(error)
        return reason
