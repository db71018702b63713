"""Ask tmux for the terminals around it: its own variables hide them (tmux 3.3a)."""

import subprocess
from collections.abc import Mapping

from .terminal_support import Env

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
    try:
        asked = subprocess.run(
            ["tmux", "list-clients", "-t", pane, "-F", _FORM],
            env=dict(env), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            check=True, timeout=ANSWER_SECONDS,
        )  # fmt: skip
    except (OSError, subprocess.SubprocessError):
        return ()
    return tuple(map(_env, asked.stdout.decode(errors="replace").splitlines()))


def _env(line: str) -> Env:
    name, _, answered = line.partition("\t")
    words = answered.lower().replace("(", " ").split()
    program = _PROGRAMS.get(words[0], "") if words else ""
    known = {"TERM": "xterm-kitty" if words[:1] == ["kitty"] else name}
    return known | {"TERM_PROGRAM": program} if program else known
