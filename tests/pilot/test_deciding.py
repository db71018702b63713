"""Keys that arrive in one burst, as from a paste without brackets, decide nothing in any dialog."""

import pytest
from textual.widgets import Input

from agentdash.sessions.rules.asks.model import Answer, Verdict
from agentdash.tui.dialogs.asking.confirm import ConfirmScreen
from agentdash.tui.terminal.escape_keys import together
from pilot.conftest import key_event
from pilot.examples import EVERY, command
from pilot.test_asks import opened

REFUSED = "Keys of a burst decide nothing"


async def pasted(d, text):
    """Keys that one read of the terminal brought."""
    keys = [key_event({"\n": "enter"}.get(character, character)) for character in text]
    together(keys)
    for key in keys:
        d.app.post_message(key)
    await d.settled()


@pytest.mark.parametrize("text", ["hello y", "y", "hello s", "D", "\n\n", "d\n"])
async def test_a_burst_over_the_card_of_an_ask_decides_nothing_and_says_so(dashboard, manager, text, monkeypatch):
    monkeypatch.setattr("agentdash.tui.dialogs.asking.ask_card.UNREAD_SECONDS", -1e9)
    number = manager.ask("running1", command(verdicts=EVERY, always="Bash"))
    async with dashboard() as d:
        await opened(d)
        await pasted(d, text)
        await d.shows(REFUSED)
        assert manager.answers() == []
        await d.press("y")
        await d.answered(number, Answer(verdict=Verdict.ALLOW))


async def test_a_burst_is_text_in_a_field_and_its_enter_sends_nothing(dashboard, manager, monkeypatch):
    monkeypatch.setattr("agentdash.tui.dialogs.asking.ask_card.UNREAD_SECONDS", -1e9)
    manager.ask("running1", command(verdicts=EVERY))
    async with dashboard() as d:
        await opened(d)
        await d.press("d")
        await pasted(d, "say why\n")
        await d.shows(REFUSED)
        assert isinstance(d.app.focused, Input)
        assert d.app.focused.value == "say why"
        assert manager.answers() == []


@pytest.mark.parametrize("opens", ["x", "D"])
async def test_a_burst_confirms_nothing(dashboard, manager, opens):
    async with dashboard() as d:
        await d.select("running1")
        before = manager.rows()
        await pasted(d, f"{opens}y")
        await d.screen(ConfirmScreen)
        await d.shows(REFUSED)
        assert manager.rows() == before
