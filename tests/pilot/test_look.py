"""The look of every screen: the rule of the focus, the place of the cursor, margins, frames of dialogs."""

import re

import pytest
from msgspec import structs
from textual.color import Color

from agentdash.sessions.settings.config import DashboardSettings
from agentdash.tui.themes import THEMES
from pilot.examples import SESSIONS
from pilot.terminal import strips
from pilot.test_focus import painted
from pilot.test_usage import month, today

__all__ = ["month", "today"]

SIZES = [(160, 45), (120, 35), (80, 24), (50, 24)]
LONG = "find out why the build of the second branch fails on Tuesdays"


def lines(d):
    return d.text().split("\n")


def colour_of(d, text):
    """The colour of a text on the screen."""
    line = next(line for line in painted(d.app) if text in "".join(piece for piece, _ in line))
    return next(style.color for piece, style in line if text in piece)


def accent(theme):
    return Color.parse(THEMES[theme].accent).rich_color


def ruled(d, place):
    """The rule that ends with a place, from its first cell."""
    return re.search(rf"[━─]*\s+{place} [━─]", d.text())[0]


@pytest.mark.parametrize("theme", ["dark", "light", "safe-dark"])
@pytest.mark.parametrize("size", [(160, 45), (120, 35)])
async def test_the_pane_with_the_keys_has_a_heavy_rule_in_the_accent_colour(dashboard, size, theme):
    async with dashboard(size=size, settings=DashboardSettings(theme=theme)) as d:
        await d.shows("12/12")
        for keys, heavy, thin in (((), "1/5", "12/12"), (("enter",), "12/12", "1/5"), (("escape",), "1/5", "12/12")):
            await d.press(*keys)
            assert set(ruled(d, heavy)) & set("━─") == {"━"}
            assert set(ruled(d, thin)) & set("━─") == {"─"}
            assert colour_of(d, "━━━━") == accent(theme)
            assert colour_of(d, "────") != accent(theme)


async def test_the_rule_tells_the_focus_without_colours_and_in_ascii(dashboard):
    async with dashboard(plain_ascii=True) as d:
        await d.shows("12/12")
        assert d.text().isascii()
        before = d.text()
        await d.press("enter")
        rules = [one.split("\n")[1] for one in (before, d.text())]
        assert rules[0] != rules[1]


async def test_a_step_of_the_cursor_changes_only_the_digits_of_its_place(dashboard):
    async with dashboard() as d:
        await d.shows("12/12")
        for keys, place in ((("j",), "2/5"), (("k", "enter", "k"), "11/12")):
            *first, last = keys
            await d.press(*first)
            before = strips(d.app)[1].text
            await d.press(last)
            after = strips(d.app)[1].text
            assert place in after
            changed = [(a, b) for a, b in zip(before, after, strict=True) if a != b]
            assert all(a.isdigit() and b.isdigit() for a, b in changed[: len(changed) if last == "k" else 1])
            assert len(changed) == 1 or last == "j", changed


@pytest.mark.parametrize("size", [(80, 24), (50, 24)])
async def test_a_small_screen_has_the_places_at_the_ends_of_its_first_lines(dashboard, size):
    async with dashboard(size=size) as d:
        assert lines(d)[0].rstrip().endswith(" 1/5")
        await d.press("j")
        assert lines(d)[0].rstrip().endswith(" 2/5")
        await d.press("k", "enter")
        await d.until(lambda: lines(d)[1].rstrip().endswith("12/12"))


VIEWS = {
    "table": [],
    "steps": ["enter"],
    "usage": ["dollar_sign"],
    "changes": ["c"],
    "settings": ["comma"],
    "side by side": ["vertical_line"],
    "command line": ["colon"],
}
"""The views that fill the terminal, and the keys that open each."""


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", VIEWS)
async def test_every_view_has_a_blank_cell_at_both_sides(dashboard, month, name, size):
    async with dashboard(size=size) as d:
        await d.press(*VIEWS[name])
        await d.settled()
        assert [line for line in lines(d) if line[0] != " " or line[-1] != " "] == []


DIALOGS = {
    "stop": (["x"], "error"),
    "several": (["asterisk", "x"], "error"),
    "rename": (["r"], "accent"),
    "new session": (["n"], "accent"),
    "sort": (["s"], "accent"),
    "columns": (["C"], "accent"),
    "views": (["V"], "accent"),
    "palette": (["ctrl+p"], "accent"),
    "log": (["L"], "muted"),
    "processes": (["p"], "muted"),
    "help": (["question_mark"], "muted"),
}
"""Dialogs, the keys that open each, and the colour of its border."""


def box(d):
    """The lines of the dialog, from border to border."""
    found = d.app.screen.query_one(".dialog").region
    return [line[found.x : found.right] for line in lines(d)[found.y : found.bottom]]


@pytest.mark.parametrize("theme", ["dark", "light", "safe-dark"])
@pytest.mark.parametrize("name", DIALOGS)
async def test_the_border_of_a_dialog_has_the_colour_of_its_kind(dashboard, name, theme):
    keys, colour = DIALOGS[name]
    async with dashboard(settings=DashboardSettings(theme=theme)) as d:
        await d.press(*keys)
        await d.settled()
        chosen = THEMES[theme]
        wanted = chosen.variables["muted"] if colour == "muted" else getattr(chosen, colour)
        assert colour_of(d, "╰") == Color.parse(wanted).rich_color


@pytest.mark.parametrize("size", [*SIZES, (100, 30)])
@pytest.mark.parametrize("name", DIALOGS)
async def test_the_keys_of_a_dialog_are_bold_below_a_blank_line(dashboard, name, size):
    if name == "help" and size[1] < 32:
        return  # all of it is on one low screen, without a line to spare
    async with dashboard(size=size) as d:
        await d.press(*DIALOGS[name][0])
        await d.settled()
        region = d.app.screen.query_one(".dialog .keys").region
        above = lines(d)[region.y - 1][region.x : region.right]
        assert not above.strip(" ▌█▄▀"), above
        first = lines(d)[region.y][region.x : region.right].split()[0]
        line = painted(d.app)[region.y]
        assert any(first in text and style is not None and style.bold for text, style in line), first


async def test_a_dialog_is_as_wide_as_its_lines_and_cuts_no_title_while_cells_are_free(dashboard, manager):
    manager.put(structs.replace(SESSIONS[0], title=LONG))
    async with dashboard() as d:
        await d.press("asterisk", "x")
        await d.shows("Stop 2 sessions?")
        assert any(LONG in line for line in box(d))
        widest = max(len(line.strip("│ ")) for line in box(d)[1:-1])
        assert len(box(d)[0]) <= widest + 6
        await d.press("n", "escape", "x")
        await d.shows(f'Stop "{LONG}"?')
        await d.resize(50, 24)
        assert re.search(r'Stop "find out .*…"\?', box(d)[0])
