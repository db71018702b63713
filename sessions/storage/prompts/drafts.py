"""Prompts that are written but not sent: one small file each, so that they survive the front end.

Several front ends may write drafts of the same session.  None replaces or removes another's text: if the file has
changed since this front end last read or wrote it, the front end writes to a new file.
"""

import os
import uuid
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from agentdash.sessions.storage.paths import Layout, write_atomic

NEW_SESSION = "new"
"""The draft of the dialog that starts a session; the name is shorter than any session's id."""

FORK = "fork"
"""The draft of the dialog that forks a conversation."""

NO_SESSION = "none"
"""The draft of the prompt box while no session is selected."""

MOST_BYTES = 256 * 1024
"""Maximum size of one draft; a longer one is kept only in memory."""

MOST_FILES = 200
"""Maximum number of drafts; beyond that the oldest are removed."""


class DraftFiles:
    """The drafts of one front end, by session id or one of the names above.

    Reading never raises.  One thread may read while another writes, but not the same draft.

    Args:
        was_sent: returns whether a text was requested as a prompt since a time (UTC ms).  The file of such a draft
            outlived its front end, which was killed when the prompt was recorded.
    """

    def __init__(self, layout: Layout, was_sent: Callable[[str, int], bool] = lambda *_: False) -> None:
        self._layout = layout
        self._was_sent = was_sent
        self._folder = layout.drafts
        self._known: dict[str, tuple[Path, bytes]] = {}
        """The file of a draft, and what this front end last read from it or wrote to it."""
        self._on_disk = {name.partition(".")[0] for name in self._names()}

    def read(self, key: str) -> str:
        """Return the newest draft; empty if there is none."""
        if key not in self._on_disk:
            return ""
        drafts = [self._folder / name for name in self._names() if name.partition(".")[0] == key]
        for path in sorted(drafts, key=_written_at, reverse=True):
            with suppress(OSError, UnicodeDecodeError):
                data, written = _read(path), _written_at(path)
                if self._was_sent(data.decode(), written // 1_000_000):
                    path.unlink()
                    continue
                self._known[key] = (path, data)
                return data.decode()
        return ""

    def write(self, key: str, text: str) -> None:
        """Save a draft; remove it if it is empty or its session is gone.

        Raises:
            OSError: the draft cannot be written; the saved one stays.
        """
        data = text.encode("utf-8", "replace")
        if not text.strip() or not (key in (NEW_SESSION, FORK, NO_SESSION) or self._layout.session(key).path.is_dir()):
            self._remove(key)
            return
        if len(data) > MOST_BYTES:
            raise OSError(0, f"a draft of {len(data):,} bytes is too long to save")
        path, known = self._known.get(key, (self._folder / key, b""))
        with suppress(FileNotFoundError):
            if _read(path) != known:
                path = self._folder / f"{key}.{uuid.uuid4().hex[:8]}"
        self._folder.mkdir(mode=0o700, exist_ok=True)
        write_atomic(path, data)
        self._known[key] = (path, data)
        self._on_disk.add(key)
        self._forget_oldest()

    def _remove(self, key: str) -> None:
        """Remove this front end's file, unless another front end has written to it since."""
        path, known = self._known.pop(key, (None, b""))
        if path is not None:
            with suppress(FileNotFoundError):
                if _read(path) == known:
                    path.unlink()

    def _names(self) -> list[str]:
        try:
            return [name for name in os.listdir(self._folder) if not name.startswith(".")]
        except OSError:
            return []

    def _forget_oldest(self) -> None:
        names = self._names()
        if len(names) > MOST_FILES:
            oldest = sorted((self._folder / name for name in names), key=_written_at)
            for path in oldest[: len(names) - MOST_FILES]:
                path.unlink(missing_ok=True)


def forget_drafts(layout: Layout, session_id: str) -> None:
    """Remove every draft of a session that is gone for good; drafts that cannot be removed stay."""
    with suppress(OSError):
        for path in (layout.drafts / session_id, *layout.drafts.glob(f"{session_id}.*")):
            path.unlink(missing_ok=True)


def _read(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(MOST_BYTES)


def _written_at(path: Path) -> int:
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return 0
