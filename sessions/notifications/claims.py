"""One notification for all front ends that are seen together: panes of one window of tmux hear the same news at once.

A claim is an empty file that only one of them can make.  Where none can be made, all of them tell: better twice than
never.
"""

import hashlib
import math
import os
import subprocess
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path

from .events import Notice

KEPT_SECONDS = 3_600
"""All hear within seconds; what is older is only cleared away."""

CLEAR_SECONDS = 600
"""One front end looks for old claims at most so often, for that reads the whole folder."""

ANSWER_SECONDS = 1.0
"""A tmux that takes longer has not answered."""

_WINDOW = "#{?window_zoomed_flag,,#{window_id}}"
"""Unique in one server, in however many sessions the window is; nothing where a zoomed pane hides the others."""

_AROUND = ("STY", "ZELLIJ_SESSION_NAME")
"""Windows of screen and tabs of zellij hide each other, and nobody can ask which of them is which."""


class Claims:
    """Takes news for one window.

    Args:
        folder: where claims lie; made when it is needed.
        env: of the terminal; outside of tmux every front end has one for itself.
    """

    def __init__(self, folder: Path, env: Mapping[str, str]) -> None:
        self._folder = folder
        self._env = env
        self._clear_from = -math.inf

    def take(self, notices: Iterable[Notice]) -> list[Notice]:
        """Those of a batch that are ours to tell, in their order.

        Asks tmux and makes files, so it belongs in a thread.
        """
        window = _window(self._env)  # each time anew, for a pane can be moved
        if window is None:
            return list(notices)
        with suppress(OSError):
            self._folder.mkdir(mode=0o700)
        ours = [notice for notice in notices if self._make(self._path(window, notice))]
        if ours:
            self._clear(self._path(window, ours[-1]))
        return ours

    def _path(self, window: str, notice: Notice) -> Path:
        said = f"{window}\0{notice.session}\0{notice.event}\0{notice.episode}"
        return self._folder / hashlib.sha256(said.encode(errors="replace")).hexdigest()[:32]

    def _make(self, claim: Path) -> bool:
        try:
            os.close(os.open(claim, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        except FileExistsError:
            return False
        except OSError:
            return True
        return True

    def _clear(self, newest: Path) -> None:
        """Clear what is old; the newest claim says what time the file system has."""
        with suppress(OSError):
            now = newest.stat().st_mtime
            if now < self._clear_from:
                return
            self._clear_from = now + CLEAR_SECONDS
            for claim in self._folder.iterdir():
                with suppress(FileNotFoundError):  # several may clear at the same time
                    if claim.lstat().st_mtime < now - KEPT_SECONDS:
                        claim.unlink()


def _window(env: Mapping[str, str]) -> str | None:
    """The window of tmux that we are in, by its server and id; None where there is none or nobody says which.

    What is wrapped for the terminal around gets through from all panes of a window that is shown, and from no other
    (tmux 3.3a, ``allow-passthrough on``).
    """
    server = env.get("TMUX", "").rpartition(",")[0]  # socket,pid,session
    pane = env.get("TMUX_PANE")
    if not server or not pane or any(env.get(name) for name in _AROUND):
        return None
    try:
        asked = subprocess.run(
            ["tmux", "display-message", "-p", "-t", pane, _WINDOW],
            env=dict(env), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            check=True, timeout=ANSWER_SECONDS,
        )  # fmt: skip
    except (OSError, subprocess.SubprocessError):
        return None
    window = asked.stdout.decode(errors="replace").strip()
    return f"{server} {window}" if window else None
