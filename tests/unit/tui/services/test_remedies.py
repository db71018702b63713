"""Errors name a key in the dashboard, and a command on the command line."""

import pytest

from agentdash.sessions.model.errors import AgentdashError, Remedy, SessionBusyError
from agentdash.tui.keys.keymap import DEFAULT, keymap
from agentdash.tui.services.background import worded


@pytest.mark.parametrize("remedy", Remedy)
def test_every_remedy_is_worded_without_a_shell_command(remedy):
    error = AgentdashError("It failed.", remedy, "`agentdash mend 12` mends it.")
    assert str(error) == "It failed. `agentdash mend 12` mends it."
    words = worded(error, DEFAULT)
    assert "`" not in words
    assert words.endswith(".")


def test_the_key_is_the_one_in_force():
    busy = SessionBusyError("Session 12 is running.", Remedy.WAIT_OR_STOP, "Wait for it.")
    assert "x to stop it" in worded(busy, DEFAULT)
    assert "Z to stop it" in worded(busy, keymap({"stop": "Z"}))


def test_an_error_without_a_remedy_is_its_text():
    assert worded(AgentdashError("It failed."), DEFAULT) == "It failed."
