"""The keys and the mouse in dialogs with a list: the same in all of them."""

import pytest

from agentdash.tui.dialogs.dialog import ListDialog
from agentdash.tui.dialogs.table.pick import PickScreen

OFFERS = [(letter, f"offer {letter}") for letter in "abcdefhilmnoprstuvwxyz"]


async def opened(d, offers=OFFERS, at=0):
    picked = []
    d.app.push_screen(PickScreen("Menu", offers, at), picked.append)
    await d.screen(PickScreen)
    await d.shows(offers[at][1])
    return picked


@pytest.mark.parametrize(
    ("keys", "picked"),
    [
        (["j", "j", "k"], 1),
        (["down", "down", "up"], 1),
        (["up"], 21),
        (["G", "j"], 0),
        (["G"], 21),
        (["end", "k"], 20),
        (["G", "g", "j"], 1),
        (["end", "home"], 0),
        (["pagedown", "pageup"], 0),
    ],
)
async def test_keys_move_the_cursor_and_enter_takes_its_line(dashboard, keys, picked):
    async with dashboard() as d:
        answer = await opened(d)
        await d.press(*keys, "enter")
        await d.until(lambda: answer == [picked])


async def test_a_page_is_what_the_dialog_shows(dashboard):
    async with dashboard(size=(80, 24)) as d:
        answer = await opened(d)
        page = d.app.screen.list.size.height
        assert page < len(OFFERS)
        await d.press("pagedown", "enter")
        await d.until(lambda: answer == [page - 1])


async def test_the_letter_of_an_offer_wins_over_a_key_that_moves(dashboard):
    async with dashboard() as d:
        answer = await opened(d, [("h", "here"), ("g", "there")], at=1)
        await d.press("g")
        await d.until(lambda: answer == [1])


async def test_a_click_takes_its_line(dashboard):
    async with dashboard() as d:
        answer = await opened(d)
        await d.pilot.click(d.app.screen.list, offset=(4, 3))
        await d.until(lambda: answer == [3])


@pytest.mark.parametrize("key", ["s", "V", "C", "L", "ctrl+p"])
@pytest.mark.parametrize("size", [(160, 45), (80, 24), (50, 24)])
async def test_the_cursor_stays_in_sight_at_both_ends(dashboard, key, size):
    async with dashboard(size=size) as d:
        await d.press(key)
        await d.until(lambda: isinstance(d.app.screen, ListDialog) and d.app.screen.list.size.height)
        shown = d.app.screen.list
        await d.press(*["pagedown"] * 9)
        await d.until(lambda: shown.cursor == max(0, shown.count() - 1))
        assert not shown.count() or shown.cursor in shown.shown()
        await d.press(*["pageup"] * 9)
        assert shown.cursor == 0
        assert not shown.count() or 0 in shown.shown()
