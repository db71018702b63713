"""One notification for all front ends that share a terminal: panes of one tmux hear the same news at the same time.

A claim is an empty file that only one of them can make.  Where none can be made, all of them tell: better twice than
never.
"""

import hashlib
import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from .transitions import Notice

KEPT_SECONDS = 3_600
"""All hear within seconds; what is older is only cleared away."""

_SHARED = ("TMUX", "ZELLIJ_SESSION_NAME", "STY")
"""Names a session of tmux, of zellij, of screen: what all of its panes have, and no other terminal."""


class Claims:
    """Takes news for one terminal.

    Args:
        folder: where claims lie; made when it is needed.
        env: of the terminal; outside of a multiplexer every front end has one for itself.
    """

    def __init__(self, folder: Path, env: Mapping[str, str]) -> None:
        self._folder = folder
        self._terminal = next((f"{name}={env[name]}" for name in _SHARED if env.get(name)), None)

    def take(self, notice: Notice) -> bool:
        """Whether it is ours to tell."""
        if self._terminal is None:
            return True
        said = f"{self._terminal}\0{notice.session}\0{notice.event}\0{notice.episode}"
        claim = self._folder / hashlib.sha256(said.encode(errors="replace")).hexdigest()[:32]
        with suppress(OSError):
            self._folder.mkdir(mode=0o700)
        try:
            os.close(os.open(claim, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        except FileExistsError:
            return False
        except OSError:
            return True
        with suppress(OSError):  # several may clear at the same time
            self._clear(claim.stat().st_mtime - KEPT_SECONDS)
        return True

    def _clear(self, before: float) -> None:
        for claim in self._folder.iterdir():
            if claim.stat().st_mtime < before:
                claim.unlink()
