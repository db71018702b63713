"""Completing a folder while it is typed: recent ones first, then what is on disk."""

import asyncio
import os
from collections.abc import Sequence
from pathlib import Path

from textual.suggester import Suggester

from ...widgets.drawing.short_forms import place


class FolderSuggester(Suggester):
    """Suggests the rest of a folder's path; looks at the disk in a thread, which a dead network folder may block."""

    def __init__(self, recent: Sequence[str]) -> None:
        super().__init__(use_cache=False, case_sensitive=True)
        self._recent = list(recent)

    async def get_suggestion(self, value: str) -> str | None:
        """The whole path, or None."""
        return await asyncio.to_thread(completed, value, self._recent)


def completed(text: str, recent: Sequence[str]) -> str | None:
    """The first recent folder that begins with the text, else the first folder on disk that does."""
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
    """Folders whose names begin so; hidden ones only where the text asks for them."""
    try:
        with os.scandir(parent) as entries:
            return [e.name for e in entries if _wanted(e, start)]
    except (OSError, RuntimeError):
        return []


def _wanted(entry: os.DirEntry[str], start: str) -> bool:
    hidden = entry.name.startswith(".") and not start.startswith(".")
    return entry.name.startswith(start) and not hidden and entry.is_dir()
