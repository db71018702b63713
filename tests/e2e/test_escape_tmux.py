"""Esc and a key that a terminal brings together: over a real terminal, and through a tmux that holds Esc back."""

import shlex
import uuid

import pytest


@pytest.fixture
def three(manager):
    """Three commands that have ended, the newest first in the table."""
    for name in ("first", "second", "third"):
        manager.wait([manager.run(["true"], title=f"the {name} one").id], timeout=60)
    return manager


def test_esc_and_keys_in_one_packet_act_one_after_the_other(three, terminal):
    terminal.start("agentdash")
    terminal.shows("the first one", "the third one")
    terminal.keys("Enter")
    terminal.shows("/ search")
    terminal.type("\x1bjj")
    terminal.shows("/ filter")
    terminal.type("r")
    terminal.shows("Rename", "the first one")


def test_esc_esc_q_through_a_tmux_within_a_tmux_quits(three, terminal, require_tool):
    tmux = shlex.quote(require_tool("tmux"))
    inner = f"env -u TMUX {tmux} -L agentdash-inner-{uuid.uuid4().hex[:12]} -f /dev/null"
    start = "new-session 'agentdash; echo left $?; cat' ';' set -s escape-time 500 ';' set -g status off"
    terminal.start(f"{inner} {start}; {inner} kill-server")
    terminal.shows("the first one", "the third one")
    terminal.keys("Enter", "/")
    terminal.type("half")
    terminal.shows("half")
    terminal.keys("Escape", "Escape", "q")
    terminal.shows("left 0")
    terminal.keys("C-c")
    terminal.shows("exited")
