"""Detect changes of the settings file by its inode, size and time, which is a cheap check."""

from pathlib import Path


class SettingsWatch:
    """Remembers the file's state; an editor may replace it, and it may appear and disappear."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._before = self._facts()

    def changed(self) -> bool:
        """Return whether the file changed since the last call."""
        before, self._before = self._before, self._facts()
        return before != self._before

    def _facts(self) -> tuple[int, int, int] | None:
        try:
            stat = self._path.stat()
        except OSError:
            return None
        return stat.st_ino, stat.st_size, stat.st_mtime_ns
