"""The error of an interface that ends at once stays on the terminal until Enter."""

import os
import pty
import termios

import pytest

from agentdash.sessions.storage.turns.takeovers import ByHand
from agentdash.tui.services import own_interface


@pytest.mark.parametrize(
    ("code", "seconds", "held"), [(1, 0.2, True), (-6, 0.2, True), (0, 0.2, False), (1, 60, False), (None, 0.2, False)]
)
def test_an_error_at_once_is_held_until_enter(monkeypatch, capsys, code, seconds, held):
    terminal, ours = pty.openpty()
    with open(ours, encoding="utf-8") as stdin:
        monkeypatch.setattr("sys.stdin", stdin)
        monkeypatch.setattr(termios, "tcflush", lambda *_: os.write(terminal, b"\n"))
        own_interface._hold(ByHand(session="s", seconds=seconds, exit_code=code))
    os.close(terminal)
    assert ("Enter goes back" in capsys.readouterr().out) is held
