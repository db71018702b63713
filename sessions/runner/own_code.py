"""Keep the modules that this process may need later: an upgrade may replace or remove their files while it lives.

Modules are imported where they are used, so that processes stay small and start soon.  Their sources take a third of
the memory of the loaded modules, and a tenth of the time (6 ms for a runner; loading all takes 90).
"""

import os
import sys
from collections.abc import Iterable, Iterator
from importlib.machinery import ModuleSpec, SourceFileLoader
from importlib.util import spec_from_file_location
from pathlib import Path
from typing import Any

from msgspec import Struct

ROOT = Path(__file__).parents[2]
PACKAGE = __name__.partition(".")[0]

EVERYTHING = ("sessions", "widgets", "tui")
SERVES_TURNS = tuple(
    f"sessions/{room}" for room in ("agents", "model", "rules", "runner", "storage", "text", "transcript")
)
"""The folders with all that a process can need that runs agents or serves the queue."""


def keep(folders: Iterable[str] = SERVES_TURNS) -> None:
    """Keep the sources of all modules in these folders that are not loaded; only the first call has an effect.

    They are then imported as they are now, also if their files have changed or are gone.  A file that cannot be read is
    left out.
    """
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        kept = {name: file for folder in folders for name, file in _files(ROOT / folder)}
        sys.meta_path.insert(0, _Finder(kept))


class _File(Struct, frozen=True):
    """A module's file as it was."""

    path: str
    source: bytes
    mtime: float
    size: int


def _files(folder: Path) -> Iterator[tuple[str, _File]]:
    """Yield the modules of a folder that are not loaded, by their full names."""
    for place, _, names in os.walk(folder):
        parent = ".".join((PACKAGE, *Path(place).relative_to(ROOT).parts))
        for file in names:
            stem, dot, ending = file.partition(".")
            name = parent if stem == "__init__" else f"{parent}.{stem}"
            if dot + ending == ".py" and name not in sys.modules and (read := _read(f"{place}/{file}")) is not None:
                yield name, read


def _read(path: str) -> _File | None:
    try:
        with open(path, "rb") as file:
            stat = os.fstat(file.fileno())
            return _File(path, file.read(), stat.st_mtime, stat.st_size)
    except OSError:
        return None


class _Finder:
    """Finds the modules that were kept, before any other finder does; the import system asks it."""

    def __init__(self, files: dict[str, _File]) -> None:
        self._files = files

    def find_spec(self, name: str, path: object = None, target: object = None) -> ModuleSpec | None:  # noqa: ARG002
        """Return where a module comes from; None if it was not kept.  A module is imported once, and then dropped."""
        file = self._files.pop(name, None)
        if file is None:
            return None
        inside = [os.path.dirname(file.path)] if file.path.endswith("/__init__.py") else None  # noqa: PTH120
        loader = _Loader(name, file)
        return spec_from_file_location(name, file.path, loader=loader, submodule_search_locations=inside)


class _Loader(SourceFileLoader):
    """Loads a module from its source, or from the compiled file that belongs to exactly this source."""

    def __init__(self, name: str, file: _File) -> None:
        super().__init__(name, file.path)
        self._file = file

    def path_stats(self, path: str) -> dict[str, float]:  # noqa: ARG002
        """Return the time and the size of the source that was kept, to which a compiled file has to fit."""
        return {"mtime": self._file.mtime, "size": self._file.size}

    def get_data(self, path: str) -> bytes:
        """Return the source that was kept, or the compiled file."""
        return self._file.source if path == self._file.path else super().get_data(path)

    def set_data(self, path: str, data: Any, *, _mode: int = 0o666) -> None:
        """Write nothing: the folder may be another version's."""
