"""What is mended in Textual: outdated sizes, and changes below a dialog; nothing if another Textual has other names."""

import pytest
from textual import _compositor
from textual.app import App
from textual.events import Resize
from textual.geometry import Size
from textual.screen import ModalScreen, Screen
from textual.widgets import Static

from agentdash.tui import _textual_hacks


class Two(App):
    """A screen whose layouts are counted."""

    def compose(self):
        yield Static("one", id="one")


async def test_a_size_that_is_not_the_terminals_is_dropped(monkeypatch):
    laid_out = []
    monkeypatch.setattr(Screen, "_screen_resized", lambda screen, size: laid_out.append(size))
    app = Two()
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        laid_out.clear()
        for size in (Size(160, 45), Size(80, 24), Size(50, 20)):
            app.screen.post_message(Resize(size, size))
            await pilot.pause()
        assert laid_out == [Size(80, 24)]


async def test_a_size_whose_place_in_the_queue_an_old_one_takes_is_laid_out(monkeypatch):
    app = Two()
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        app._size = Size(160, 45)
        for size in (Size(160, 45), Size(80, 24)):  # the last layout, of the old size, came before the terminal's event
            app.screen.post_message(Resize(size, size))
        await pilot.pause()
        assert app.screen._compositor.size == Size(160, 45)


async def test_a_change_below_a_dialog_is_not_the_whole_screen(monkeypatch):
    app = Two()
    async with app.run_test(size=(80, 24)) as pilot:
        await app.push_screen(ModalScreen())
        await pilot.pause()
        painted = []
        monkeypatch.setattr(app, "_display", lambda screen, update: painted.append(type(update)))
        for text in ("two", "six", "ten"):
            painted.clear()  # the first change can come with the picture of the dialog
            app.screen_stack[0].query_one(Static).update(text, layout=False)
            await pilot.pause()
            await pilot.pause()
        assert painted
        assert _compositor.LayoutUpdate not in painted


@pytest.mark.parametrize("name", ["LayoutUpdate", "ChopsUpdate"])
def test_another_textual_writes_as_it_does_by_itself(monkeypatch, name):
    monkeypatch.delattr(_compositor, name)
    app = Two()
    original = app._display
    _textual_hacks.write_changes(app, None)
    assert app._display == original
