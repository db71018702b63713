"""Whether the file of the settings is another one than before: a look at its facts, as cheap as it is seldom."""

from pathlib import Path


class SettingsWatch:
    """Remembers how the file was; an editor may replace it, and it may come and go."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._before = self._facts()

    def changed(self) -> bool:
        """Whether it is another one since the last call."""
        before, self._before = self._before, self._facts()
        return before != self._before

    def _facts(self) -> tuple[int, int, int] | None:
        try:
            stat = self._path.stat()
        except OSError:
            return None
        return stat.st_ino, stat.st_size, stat.st_mtime_ns
