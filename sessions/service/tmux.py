"""Facts that only tmux knows: the terminals around it, hidden by its variables (3.3a), and panes seen together.

Panes of one window get the same news at once, and one of them notifies for all.  A claim is an empty file that only one
front end can create.  If no claim can be created, all of them notify: better twice than never.
"""

import hashlib
import math
import os
import subprocess
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path

from agentdash.sessions.rules.notifications.events import Notice
from agentdash.sessions.rules.notifications.terminal_support import Env
from agentdash.sessions.storage.paths import TOLD_SECONDS

ANSWER_SECONDS = 5.0
"""A tmux that takes longer counts as silent.  On a loaded machine an answer can take over a second."""

_FORM = "#{client_termname}\t#{client_termtype}"
"""The ``TERM`` of a client, and the name with which its terminal answers: ``xterm-256color``, ``iTerm2 3.5.0``."""

_PROGRAMS = {"iterm2": "iTerm.app", "wezterm": "WezTerm", "ghostty": "ghostty"}


def outer_terminals(env: Mapping[str, str]) -> tuple[Env, ...]:
    """Return what the terminals that show our tmux session would have in their environment; empty outside tmux.

    Runs tmux, so it belongs in a thread.
    """
    pane = env.get("TMUX_PANE")
    if not env.get("TMUX") or not pane:
        return ()
    return tuple(map(_env_of, _asked(env, "list-clients", "-t", pane, "-F", _FORM).splitlines()))


def _env_of(line: str) -> Env:
    name, _, answered = line.partition("\t")
    words = answered.lower().replace("(", " ").split()
    program = _PROGRAMS.get(words[0], "") if words else ""
    known = {"TERM": "xterm-kitty" if words[:1] == ["kitty"] else name}
    return known | {"TERM_PROGRAM": program} if program else known


CLEAR_SECONDS = 600
"""Each front end searches for old claims at most once in this time, because a search reads the whole folder."""

_WINDOW = "#{?window_zoomed_flag,,#{window_id}}"
"""Unique in one server, even if the window is in several sessions; empty if a zoomed pane hides the others."""

_AROUND = ("STY", "ZELLIJ_SESSION_NAME")
"""Windows of screen and tabs of zellij hide each other, and neither program can report which one is which."""


class Claims:
    """Takes news for one window.

    Args:
        folder: the folder of the claims; created when it is needed.
        env: the terminal's environment; outside tmux every front end has a terminal of its own.
    """

    def __init__(self, folder: Path, env: Mapping[str, str]) -> None:
        self._folder = folder
        self._env = env
        self._clear_from = -math.inf

    def take(self, notices: Iterable[Notice]) -> list[Notice]:
        """Return the notices of a batch that this front end must send, in their order.

        Asks tmux and creates files, so it belongs in a thread.
        """
        window = _window(self._env)  # on each call, because a pane can be moved
        if window is None:
            return list(notices)
        with suppress(OSError):
            self._folder.mkdir(mode=0o700)
        ours = [notice for notice in notices if self._make(self._path(window, notice))]
        if ours:
            self._clear(self._path(window, ours[-1]))
        return ours

    def _path(self, window: str, notice: Notice) -> Path:
        event = f"{window}\0{notice.session}\0{notice.event}\0{notice.episode}"
        return self._folder / hashlib.sha256(event.encode(errors="replace")).hexdigest()[:32]

    def _make(self, claim: Path) -> bool:
        try:
            os.close(os.open(claim, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        except FileExistsError:
            return False
        except OSError:
            return True
        return True

    def _clear(self, newest: Path) -> None:
        """Delete old claims; the newest claim shows the time of the file system."""
        with suppress(OSError):
            now = newest.stat().st_mtime
            if now < self._clear_from:
                return
            self._clear_from = now + CLEAR_SECONDS
            for claim in self._folder.iterdir():
                with suppress(FileNotFoundError):  # several front ends may delete at the same time
                    if claim.lstat().st_mtime < now - TOLD_SECONDS:
                        claim.unlink()


def _window(env: Mapping[str, str]) -> str | None:
    """Return our tmux window, by its server and id; None outside tmux, or if the window is not known.

    Sequences wrapped for the outer terminal get through from all panes of a window that is shown, and from no other
    (tmux 3.3a, ``allow-passthrough on``).
    """
    server = env.get("TMUX", "").rpartition(",")[0]  # socket,pid,session
    pane = env.get("TMUX_PANE")
    if not server or not pane or any(env.get(name) for name in _AROUND):
        return None
    window = _asked(env, "display-message", "-p", "-t", pane, _WINDOW).strip()
    return f"{server} {window}" if window else None


def panes_beside(env: Mapping[str, str]) -> frozenset[str]:
    """Return the numbers of all panes of our tmux window, with our own; empty if tmux does not answer.

    Runs tmux, so it belongs in a thread.  Asked each time, because a pane can be moved.
    """
    listed = _asked(env, "list-panes", "-t", env.get("TMUX_PANE", ""), "-F", "#{pane_id}")
    return frozenset(pane.removeprefix("%") for pane in listed.split())


def _asked(env: Mapping[str, str], *command: str) -> str:
    """Return what tmux answers to a command; empty if it does not answer."""
    try:
        asked = subprocess.run(
            ["tmux", *command],
            env=dict(env), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            check=True, timeout=ANSWER_SECONDS,
        )  # fmt: skip
    except (OSError, subprocess.SubprocessError):
        return ""
    return asked.stdout.decode(errors="replace")
