"""Letters of another keyboard layout act as the keys of their place, if the terminal reports it; else that is said."""

import pytest
from textual import events

from agentdash.sessions.rules.asks.model import Answer, Verdict
from agentdash.tui.dialogs.asking.confirm import ConfirmScreen
from agentdash.tui.dialogs.log import LogScreen
from agentdash.tui.dialogs.processes import ProcessesScreen
from agentdash.tui.dialogs.starting.new_session import NewSessionScreen
from agentdash.tui.dialogs.table.pick import PickScreen
from agentdash.tui.keys.keymap import keymap
from agentdash.tui.screens.usage import UsageScreen
from agentdash.tui.terminal.escape_keys import mark_place, together
from pilot.examples import EVERY, command
from pilot.test_asks import drawn as drawn_card

SAYS = "switch the keyboard's layout"


async def press(d, letter, place="", *, burst=False):
    """Press the key of a letter; ``place`` is the US key there, if the terminal reports it."""
    key = events.Key(letter, letter if len(letter) == 1 else None)
    mark_place(key, place)
    if burst:
        together([key])
    d.app.post_message(key)
    await d.settled()


@pytest.mark.parametrize("letter", ["т", "ν", "מ", "ن", "น"])  # noqa: RUF001 - letters of other scripts
async def test_a_letter_of_another_script_is_the_key_of_its_place(dashboard, letter):
    async with dashboard() as d:
        await press(d, letter, "n")
        await d.screen(NewSessionScreen)
        assert SAYS not in d.text()


async def test_shift_counts_and_signs_are_keys_too(dashboard):
    async with dashboard() as d:
        await press(d, "Д", "L")
        await d.screen(LogScreen)
        await press(d, "й", "q")
        await d.until(lambda: d.app.screen is d.main)
        await press(d, "ж", ":")
        await d.shows("Tab complete")


async def test_a_letter_decides_in_a_dialog_but_not_in_a_burst(dashboard, manager, monkeypatch):
    monkeypatch.setattr("agentdash.tui.dialogs.asking.ask_card.UNREAD_SECONDS", -1e9)
    number = manager.ask("running1", command(verdicts=EVERY))
    async with dashboard() as d:
        await press(d, "ж", ";")
        await drawn_card(d)
        await press(d, "н", "y", burst=True)
        await d.shows("Keys of a burst decide nothing")
        assert manager.answers() == []
        await press(d, "н", "y")
        await d.answered(number, Answer(verdict=Verdict.ALLOW))


async def test_in_text_it_is_the_letter_and_with_ctrl_the_key(dashboard, manager):
    async with dashboard() as d:
        await d.select("done0001")
        await press(d, "ш", "i")
        await press(d, "ч", "x")
        await press(d, "ctrl+о", "j")  # noqa: RUF001
        await press(d, "Ч", "X")
        assert d.main.detail.prompt.input.text == "ч\nЧ"
        assert SAYS not in d.text()


async def test_a_letter_that_is_bound_keeps_its_action(dashboard):
    async with dashboard(keymap=keymap({"log": "т"})) as d:
        await press(d, "т", "n")
        await d.screen(LogScreen)


async def test_a_latin_letter_of_another_layout_is_no_other_key(dashboard, manager):
    manager.ask("running1", command(verdicts=EVERY))
    async with dashboard() as d:
        await press(d, "ö", ";")
        await d.shows(SAYS)
        assert d.app.screen is d.main


DIALOGS = {"x": ConfirmScreen, "s": PickScreen, "dollar_sign": UsageScreen, "p": ProcessesScreen}


@pytest.mark.parametrize("opens", DIALOGS)
async def test_without_a_place_each_screen_and_dialog_says_so_once(dashboard, opens):
    async with dashboard() as d:
        await d.select("running1")
        await press(d, "т")
        await d.shows(SAYS)
        await press(d, "т")
        assert SAYS not in d.text()
        await d.press(opens)
        await d.screen(DIALOGS[opens])
        await press(d, "т")
        await d.shows(SAYS)
        await press(d, "т")
        assert SAYS not in d.text()


@pytest.mark.parametrize("letter", ["ctrl+т", "ั", "١"])  # noqa: RUF001
async def test_what_is_typed_with_ctrl_and_marks_and_digits_are_named_too(dashboard, letter):
    async with dashboard() as d:
        await press(d, letter)
        await d.shows(SAYS)
