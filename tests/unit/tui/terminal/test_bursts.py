"""Keys that one read of the terminal brings, or that come right behind others, are a burst."""

import pytest
from textual import events

from agentdash.tui.terminal.escape_keys import GAP_SECONDS, EscapedKey, EscapeParser, in_burst


@pytest.fixture
def typed(monkeypatch):
    """Read pieces of input, each some seconds after the one before; return which of their keys are of a burst."""
    parser, now = EscapeParser(), [100.0]
    monkeypatch.setattr("agentdash.tui.terminal.escape_keys.monotonic", lambda: now[0])

    def read(*pieces):
        found = []
        for later, text in pieces:
            now[0] += later
            found += [one for one in parser.feed(text) if isinstance(one, events.Key | EscapedKey)]
        return [in_burst(one) for one in found]

    return read


def test_keys_of_one_read_are_a_burst_from_the_first_to_the_last(typed):
    assert typed((1, "hello y")) == [True] * 7


def test_a_key_that_is_read_alone_is_none(typed):
    assert typed((1, "y"), (1, "n"), (1, "\x1b[B"), (0.03, "y")) == [False] * 4


def test_the_rest_of_a_paste_that_was_read_later_belongs_to_it(typed):
    assert typed((1, "hello "), (GAP_SECONDS / 2, "y")) == [True] * 7


def test_esc_and_a_key_that_were_read_together_are_a_burst():
    [pair] = EscapeParser().feed("\x1by")
    assert isinstance(pair, EscapedKey)
    assert [in_burst(key) for key in pair.meant(lambda _: False)] == [True, True]
