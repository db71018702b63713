"""Completes a folder while the user types it: recent folders first, then those on disk."""

import asyncio
import os
from collections.abc import Sequence
from pathlib import Path

from textual.suggester import Suggester

from agentdash.widgets.drawing.short_forms import place


class FolderSuggester(Suggester):
    """Suggests the rest of a folder's path; reads the disk in a thread, because a dead network folder blocks."""

    def __init__(self, recent: Sequence[str]) -> None:
        super().__init__(use_cache=False, case_sensitive=True)
        self._recent = list(recent)

    async def get_suggestion(self, value: str) -> str | None:
        """Return the whole path, or None."""
        return await asyncio.to_thread(completed, value, self._recent)


def completed(text: str, recent: Sequence[str]) -> str | None:
    """Return the first recent folder that begins with the text, else the first such folder on disk."""
    if not text:
        return None
    for folder in map(place, recent):
        if folder.startswith(text) and folder != text:
            return folder
    head, slash, start = text.rpartition("/")
    if not slash:
        return None
    names = sorted(_folders(Path(head + "/").expanduser(), start))
    return f"{head}/{names[0]}/" if names else None


def _folders(parent: Path, start: str) -> list[str]:
    """Return the folders whose names begin with ``start``; hidden ones only if it begins with a dot."""
    try:
        with os.scandir(parent) as entries:
            return [e.name for e in entries if _wanted(e, start)]
    except (OSError, RuntimeError):
        return []


def _wanted(entry: os.DirEntry[str], start: str) -> bool:
    hidden = entry.name.startswith(".") and not start.startswith(".")
    return entry.name.startswith(start) and not hidden and entry.is_dir()
