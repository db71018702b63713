"""The files of a folder for the completion of paths, listed in a thread and kept while the user types."""

import asyncio
from pathlib import Path

from agentdash.sessions.model.clock import monotonic

KEPT_SECONDS = 30.0
"""Age from which a list is read again; a word that begins reads it again too."""


class PathFinder:
    """Keeps the files of the last folder."""

    def __init__(self) -> None:
        self._folder = ""
        self._read_at = 0.0
        self._listing: asyncio.Future[list[str]] | None = None

    async def paths(self, folder: str, letters: str, limit: int) -> list[str]:
        """Return the files of a folder that match the letters of a path, the best first."""
        from agentdash.sessions.service.prompts.file_paths import (  # the first screen needs no git
            best_paths,
            paths_below,
        )

        listing = self._listing
        if listing is None or folder != self._folder or (listing.done() and self._is_old(letters)):
            self._folder, self._read_at = folder, monotonic()
            listing = self._listing = asyncio.ensure_future(asyncio.to_thread(lambda: paths_below(_expanded(folder))))
        # The next key cancels this call, but not the list: a slow folder is read once.
        paths = await asyncio.shield(listing)
        return await asyncio.to_thread(best_paths, paths, letters, limit)

    def _is_old(self, letters: str) -> bool:
        return not letters or monotonic() - self._read_at > KEPT_SECONDS


def _expanded(folder: str) -> str:
    """Return a folder that the user typed with the home folder in place of ``~``."""
    return str(Path(folder).expanduser()) if folder.startswith("~") else folder
