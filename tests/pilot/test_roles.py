"""Texts are coloured by what they mean in the theme of now, and a change of the focus does not ask for that again."""

import pytest
from textual.color import Color
from textual.css.stylesheet import Stylesheet

from agentdash.tui.themes import THEMES
from agentdash.widgets.steps.trajectory import Trajectory
from agentdash.widgets.table.session_table import SessionTable
from pilot.test_focus import painted


def colours(d, text):
    """The colours of the line that holds a text."""
    line = next(line for line in painted(d.app) if text in "".join(piece for piece, _ in line))
    return {style.color for _, style in line if style is not None and style.color is not None}


@pytest.mark.parametrize(("one", "other"), [("dark", "safe-dark"), ("safe-light", "light"), ("dark", "terminal")])
async def test_another_theme_colours_rows_and_steps_also_where_the_ground_stays_the_same(dashboard, one, other):
    def in_both(theme):
        failure = Color.parse(THEMES[theme].error).rich_color
        return [failure in colours(d, text) for text in ("401 invalid api key", "pytest -q tests/login")]

    async with dashboard() as d:
        await d.shows("pytest -q tests/login")
        for theme, former in ((one, other), (other, one)):
            d.app.theme = THEMES[theme].name
            await d.until(lambda theme=theme: all(in_both(theme)), theme)
            assert not any(in_both(former))


@pytest.mark.parametrize("key", ["enter", "escape"])
async def test_a_key_that_moves_the_focus_styles_each_widget_once_or_twice(dashboard, monkeypatch, key):
    async with dashboard() as d:
        await d.press("enter")
        await d.until(lambda: isinstance(d.app.focused, Trajectory))
        if key == "enter":
            await d.press("escape")
            await d.until(lambda: isinstance(d.app.focused, SessionTable))
        styled, apply = [], Stylesheet.apply
        monkeypatch.setattr(Stylesheet, "apply", lambda *args, **more: (styled.append(args[1]), apply(*args, **more)))
        await d.press(key)
        await d.until(lambda: isinstance(d.app.focused, Trajectory if key == "enter" else SessionTable))
        assert len(styled) <= 2 * len(list(d.main.walk_children(with_self=True)))
