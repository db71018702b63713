"""A resize while another screen is open: the screens below it get the layout of the new size, too."""

import pytest
from textual.events import Resize
from textual.geometry import Size

from agentdash.tui.screens.main import MainScreen
from pilot.test_usage import month, queries, today

__all__ = ["month", "queries", "today"]

COVERS = {
    "help": ["question_mark"],
    "new session": ["n"],
    "log": ["L"],
    "stop": ["x"],
    "sort": ["s"],
    "columns": ["C"],
    "views": ["V"],
    "rename": ["r"],
    "command line": ["colon"],
    "palette": ["ctrl+p"],
    "usage": ["dollar_sign"],
    "settings": ["comma"],
    "changes": ["c"],
    "side by side": ["vertical_line"],
    "help of usage": ["dollar_sign", "question_mark"],
}
"""Dialogs and views that cover the dashboard, and the keys that open each."""

TURNS = [((160, 45), (80, 24)), ((80, 24), (160, 45)), ((160, 45), (50, 24)), ((50, 24), (120, 35))]


def layout(d):
    """What the size of the terminal decides: the classes of the first screen, and the place of its panes."""
    sizes = {"-wide", "-medium", "-narrow", "-low", "-tall", "-alone"}
    return d.main.classes & sizes, d.main.table.region, d.main.detail.region


async def back(d):
    """Close what is open."""
    while not isinstance(d.app.screen, MainScreen):
        before = d.app.screen
        await d.press("escape")
        await d.until(lambda before=before: d.app.screen is not before)
    await d.settled()


@pytest.mark.parametrize("name", COVERS)
async def test_what_is_below_has_the_layout_of_the_new_size(dashboard, month, name):
    for first, then in TURNS:
        async with dashboard(size=first) as d:
            await d.press(*COVERS[name])
            await d.until(lambda d=d: not isinstance(d.app.screen, MainScreen))
            await d.resize(*then)
            await back(d)
            resized = layout(d)
        async with dashboard(size=then) as d:
            await d.settled()
            assert resized == layout(d), (first, then)


async def test_one_resize_alone_is_enough(dashboard):
    """Of two that a screen below a dialog gets, one can take the place of the other before either is handled."""
    async with dashboard(size=(160, 45)) as d:
        await d.press("L")
        size = d.app._size = d.app._driver._size = Size(80, 24)
        d.main._screen_resized(size)
        d.main.post_message(Resize(size, size))
        await d.settled()
        assert d.main.has_class("-alone")
