"""Esc and a key that arrive together: in the table, in dialogs, in the prompt box, in the filter line."""

import pytest
from textual.events import Key

from agentdash.tui.dialogs.asking.confirm import ConfirmScreen
from agentdash.tui.dialogs.command import CommandScreen
from agentdash.tui.dialogs.starting.new_session import NewSessionScreen
from agentdash.tui.keys.keymap import keymap
from agentdash.tui.screens.palette import Palette
from agentdash.tui.terminal.escape_keys import EscapeParser
from agentdash.widgets.inputs.prompt_box import PromptInput


@pytest.fixture
def typed():
    """Send characters as a terminal sends them, in one packet."""

    def send(d, packet):
        for message in EscapeParser().feed(packet):
            d.app.post_message(message)

    return send


async def test_from_the_steps_to_the_table_and_on(dashboard, typed):
    async with dashboard() as d:
        await d.select("waiting1")
        await d.press("enter")
        await d.until(lambda: d.main.detail.steps.has_focus)
        typed(d, "\x1bjj")
        await d.until(lambda: d.main.table.selected.id == "running1")
        assert d.main.table.has_focus


async def test_out_of_a_dialog(dashboard, typed):
    async with dashboard() as d:
        await d.select("running1")
        await d.press("x")
        await d.screen(ConfirmScreen)
        typed(d, "\x1bi")
        await d.until(lambda: isinstance(d.app.focused, PromptInput))
        assert d.manager.requests("running1") == []


async def test_out_of_the_prompt_box_the_text_stays_and_the_key_is_a_command(dashboard, typed):
    async with dashboard() as d:
        await d.select("done0001")
        await d.press("i", *"half")
        typed(d, "\x1bj")
        await d.until(lambda: d.main.table.selected.id != "done0001")
        await d.select("done0001")
        assert d.main.detail.prompt.input.text == "half"


async def test_two_escs_and_a_key(dashboard, typed):
    async with dashboard() as d:
        await d.select("running1")
        await d.press("enter", "i", *"half")
        typed(d, "\x1b\x1bn")
        await d.screen(NewSessionScreen)


async def test_out_of_the_filter_line(dashboard, typed):
    async with dashboard() as d:
        await d.press("slash", *"migration")
        await d.until(lambda: d.main.table.selected.id == "done0001")
        typed(d, "\x1bn")
        await d.screen(NewSessionScreen)


@pytest.mark.parametrize(("key", "kind"), [("colon", CommandScreen), ("ctrl+p", Palette)])
async def test_out_of_the_command_line_and_the_palette(dashboard, typed, key, kind):
    async with dashboard() as d:
        await d.press(key)
        await d.screen(kind)
        typed(d, "\x1bn")
        await d.screen(NewSessionScreen)


async def test_a_bound_alt_key_is_no_esc(dashboard, typed):
    async with dashboard(keymap=keymap({"new_session": "alt+j"})) as d:
        await d.press("enter")
        await d.until(lambda: d.main.detail.steps.has_focus)
        typed(d, "\x1bj")
        await d.screen(NewSessionScreen)


async def test_a_bound_alt_key_that_makes_no_sense_now_is_no_esc_either(dashboard, typed):
    async with dashboard(keymap=keymap({"retry": "alt+r"})) as d:
        await d.select("running1")
        await d.press("enter")
        await d.until(lambda: d.main.detail.steps.has_focus)
        typed(d, "\x1br")
        d.app.post_message(Key("g", "g"))
        await d.until(lambda: d.main.detail.steps.cursor == 0)
        assert d.main.detail.steps.has_focus


async def test_alt_enter_begins_a_line_and_alt_b_goes_back_a_word_in_the_prompt(dashboard, typed):
    async with dashboard() as d:
        await d.select("done0001")
        await d.press("i", *"one two")
        typed(d, "\x1bb\x1b\r")
        await d.until(lambda: d.main.detail.prompt.input.text == "one \ntwo")
