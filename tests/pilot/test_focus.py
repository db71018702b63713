"""The field that has the keys can be seen: its name is bold, a bar stands before it, its choice is reversed."""

from itertools import cycle

from agentdash.tui.dialogs.new_session import NewSessionScreen
from agentdash.tui.dialogs.views import ViewsScreen
from agentdash.tui.themes import THEMES
from pilot.terminal import strips

FIELDS = ("prompt", "agent", "sandbox", "folder", "model", "arguments", "copies")


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
        await d.until(lambda: bold_names(d.app) == ["arguments"], "the way back")
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
