"""The field that has the keys can be seen: its name is bold, a bar stands before it, its choice is reversed."""

from itertools import cycle

import pytest

from agentdash.tui.dialogs.starting.new_session import NewSessionScreen
from agentdash.tui.dialogs.table.columns import ViewsScreen
from agentdash.tui.screens.watch import WatchScreen
from agentdash.tui.themes import THEMES
from pilot.terminal import strips

FIELDS = (
    "prompt",
    "agent",
    "sandbox",
    "folder",
    "model",
    "title",
    "limits",
    "instructions",
    "lead",
    "search",
    "arguments",
    "after",
    "copies",
)


def painted(app):
    """The lines of the screen as lists of a text and its style."""
    return [[(segment.text, segment.style) for segment in strip] for strip in strips(app)]


def bold_names(app):
    """The names of fields that are painted bold."""
    found = [text.strip() for line in painted(app) for text, style in line if style is not None and style.bold]
    return [name for name in found if name in FIELDS]


def barred(app, bar="▌"):
    """The names of the fields with a bar before them; a field of several lines once."""
    lines = ["".join(text for text, _ in line) for line in painted(app)]
    return [name for line in lines for name in FIELDS if f"{bar}{name} " in line]


async def test_the_field_with_the_keys_and_no_other_stands_out_in_every_theme(dashboard):
    themes = cycle(THEMES.values())
    async with dashboard() as d:
        await d.press("n")
        await d.screen(NewSessionScreen)
        for name in FIELDS:
            d.app.theme = next(themes).name
            await d.until(lambda name=name: bold_names(d.app) == [name], f"{name} to be bold")
            assert barred(d.app) == [name]
            await d.press("tab")
        await d.press("shift+tab", "shift+tab")
        await d.until(lambda: bold_names(d.app) == ["after"], "the way back")
        assert len(FIELDS) >= len(THEMES)


async def test_without_line_drawing_the_bar_is_a_character_that_every_terminal_has(dashboard):
    async with dashboard(plain_ascii=True) as d:
        await d.press("n", "tab")
        await d.screen(NewSessionScreen)
        await d.until(lambda: barred(d.app, "|") == ["agent"], "the bar")
        await d.shows("Left Right change")


async def test_the_chosen_value_is_reversed_while_the_keys_are_on_it_and_the_hint_names_them(dashboard):
    def style_of(text):
        return next(style for line in painted(d.app) for piece, style in line if text in piece)

    async with dashboard() as d:
        await d.press("n")
        await d.screen(NewSessionScreen)
        await d.shows("Ctrl+J new line   Up history")
        assert not style_of("[codex]").reverse
        await d.press("tab")
        await d.until(lambda: style_of("[codex]").reverse, "the choice to be reversed")
        await d.shows("←→ change")
        await d.press("tab")
        await d.until(lambda: style_of("[workspace-write]").reverse, "the next one")
        assert not style_of("[codex]").reverse
        await d.press("right", "right")
        await d.shows("[no-sandbox]")
        failure = d.app.theme_variables["text-error"]
        assert style_of("[no-sandbox]").color.name.lower() == failure.lower()


async def test_of_a_list_and_a_field_the_one_with_the_keys_has_the_bar(dashboard):
    def bars():
        lines = ["".join(text for text, _ in line) for line in painted(d.app)]
        return [
            word
            for line in lines
            for word in ("needs you", "name for the current view")
            if "│ ▌" in line and word in line
        ]

    async with dashboard() as d:
        await d.press("V")
        await d.screen(ViewsScreen)
        await d.until(lambda: bars() and "name for the current view" not in bars(), "the bar at the list")
        await d.press("tab")
        await d.until(lambda: bars() == ["name for the current view"], "the bar at the field")


HEADINGS = "    age"
TITLE = "fix the flaky login test   "


def style_of(app, text):
    """The style of the first piece of a line that begins with a text."""
    return next(style for line in painted(app) for piece, style in line if piece.startswith(text))


@pytest.mark.parametrize("theme", THEMES)
async def test_the_title_of_the_pane_with_the_keys_stands_out(dashboard, theme):
    async with dashboard() as d:
        d.app.theme = THEMES[theme].name
        await d.settled()
        assert style_of(d.app, HEADINGS).bold
        assert not style_of(d.app, TITLE).bold
        await d.press("enter")
        await d.until(lambda: style_of(d.app, TITLE).bold, "the title of the steps")
        assert not style_of(d.app, HEADINGS).bold
        accent, plain = style_of(d.app, TITLE).color, style_of(d.app, HEADINGS).color
        assert accent != plain
        await d.press("escape")
        await d.until(lambda: style_of(d.app, HEADINGS).bold, "the headings")
        assert not style_of(d.app, TITLE).bold


async def test_without_colours_it_is_reversed(dashboard, monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")
    async with dashboard() as d:
        assert style_of(d.app, HEADINGS).reverse
        await d.press("enter")
        await d.until(lambda: style_of(d.app, TITLE).reverse, "the title of the steps")
        assert not style_of(d.app, HEADINGS).reverse


async def test_of_four_panes_side_by_side_one_stands_out(dashboard):
    def outstanding():
        titles = ("fix the flaky", "add dark", "write the", "split")
        found = [piece for line in painted(d.app) for piece, style in line if style is not None and style.bold]
        return [title for title in titles if any(piece.startswith(title) for piece in found)]

    async with dashboard(size=(200, 50)) as d:
        for name in ("waiting1", "failed01", "done0001", "running1"):
            await d.select(name)
            await d.press("space")
        await d.press("vertical_line")
        await d.screen(WatchScreen)
        await d.until(lambda: outstanding() == ["fix the flaky"], "the first pane")
        await d.press("tab")
        await d.until(lambda: len(outstanding()) == 1 and outstanding() != ["fix the flaky"], "the second pane")


@pytest.mark.parametrize("keys", [(), ("enter",), ("n",), ("x",), ("question_mark",), ("s",), ("dollar_sign",)])
async def test_without_colours_nothing_has_one_and_the_cursor_is_reversed(dashboard, monkeypatch, keys):
    monkeypatch.setenv("NO_COLOR", "1")
    async with dashboard() as d:
        await d.select("running1")
        assert any(style.reverse for line in painted(d.app) for piece, style in line if "split [/red]" in piece)
        await d.press(*keys)
        assert not [style for line in painted(d.app) for _, style in line if style and (style.color or style.bgcolor)]


async def test_without_colours_there_are_no_themes(dashboard, monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")
    async with dashboard() as d:
        await d.press("t")
        await d.shows("excludes colours")
        assert not [style for line in painted(d.app) for _, style in line if style and style.color]
