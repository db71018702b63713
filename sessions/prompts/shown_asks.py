"""The asks that the command line printed whole: a caller allows by its number only an ask that it could read.

The record is an empty file for each ask and caller, beside those of notifications.  An hour later the caller reads it
again.
"""

import hashlib
import os
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from ..asks.recorded import RecordedAsk
from ..asks.sentence import title_is_whole

KEPT_SECONDS = 3_600


class ShownAsks:
    """The asks that one caller was shown.

    Args:
        folder: the folder of the files; created when it is needed.
        caller: the session from inside which the caller comes; empty for the user.
    """

    def __init__(self, folder: Path, caller: str) -> None:
        self._folder = folder
        self._caller = caller

    def note(self, asks: Iterable[RecordedAsk]) -> None:
        """Record that these asks were printed whole; a folder that cannot be written records nothing."""
        with suppress(OSError):
            self._folder.mkdir(mode=0o700, exist_ok=True)
            for one in asks:
                os.close(os.open(self._path(one), os.O_CREAT | os.O_WRONLY, 0o600))
                os.utime(self._path(one))

    def has(self, recorded: RecordedAsk) -> bool:
        """Return whether the caller knows all of an ask: it was printed whole, or its title says everything."""
        if title_is_whole(recorded.ask):
            return True
        with suppress(OSError):
            return self._path(recorded).stat().st_mtime > time.time() - KEPT_SECONDS
        return False

    def _path(self, one: RecordedAsk) -> Path:
        # After a rebuild of the database another ask can have the number.
        name = f"ask\0{one.session}\0{one.id}\0{one.asked_at}\0{one.ask.body}\0{self._caller}"
        return self._folder / hashlib.sha256(name.encode(errors="replace")).hexdigest()[:32]
