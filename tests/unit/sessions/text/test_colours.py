"""Which terminals are written to in colour."""

import pytest

from agentdash.sessions.text.terminal import has_colours


@pytest.mark.parametrize(
    "term", ["xterm", "xterm-256color", "linux", "screen", "tmux-256color", "foot", "alacritty", "x"]
)
def test_a_terminal_has_colours(term):
    assert has_colours({"TERM": term})
    assert has_colours({"TERM": term, "NO_COLOR": ""})
    assert not has_colours({"TERM": term, "NO_COLOR": "1"})


@pytest.mark.parametrize("term", ["vt100", "vt220", "vt102-w", "xterm-mono", "linux-m", "sun", "wy60", "dumb", ""])
def test_an_old_or_monochrome_terminal_has_none_unless_it_says_so(term):
    assert not has_colours({"TERM": term})
    assert has_colours({"TERM": term, "COLORTERM": "truecolor"})
