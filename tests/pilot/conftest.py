"""The dashboard over a fake manager, driven by keys."""

import asyncio

import pytest
from textual.events import Key

from agentdash.tui.app import Dashboard
from agentdash.tui.screens.main import MainScreen
from pilot.fakes import T0, FakeManager


@pytest.fixture
def manager(tmp_path, monkeypatch):
    monkeypatch.setattr("agentdash.tui.app.now_ms", lambda: T0)
    monkeypatch.setenv("HOME", "/home/ann")
    # A slow machine may draw the next frame only after a message would have gone.
    monkeypatch.setattr("agentdash.tui.requests.TOLD_SECONDS", 60)
    return FakeManager(tmp_path / "state")


class Driver:
    """A running dashboard: keys, and waiting until something is so."""

    def __init__(self, app, pilot, manager):
        self.app, self.pilot, self.manager = app, pilot, manager

    @property
    def main(self) -> MainScreen:
        return self.app.home

    async def until(self, condition, what="it"):
        async def poll():
            while not condition():
                await self.pilot.pause(0.01)

        try:
            await asyncio.wait_for(poll(), 10)
        except TimeoutError:
            pytest.fail(f"waited in vain for {what}; the screen:\n{self.text()}")
        await self.pilot.pause()

    async def press(self, *keys):
        await self.pilot.press(*keys)

    def burst(self, text):
        """Keys that all arrive before the first of them is handled, as over a slow line."""
        names = {"\n": "enter", "\x1b": "escape"}
        for character in text:
            self.app.post_message(Key(names.get(character, character), character))

    async def screen(self, kind):
        await self.until(lambda: isinstance(self.app.screen, kind) and self.app.screen.is_mounted)
        return self.app.screen

    def text(self):
        lines = self.app.screen._compositor.render_strips()  # what is painted, as text
        return "\n".join("".join(segment.text for segment in strip) for strip in lines)

    async def shows(self, text):
        await self.until(lambda: text in self.text(), repr(text))

    async def select(self, sid):
        self.main.table.select(sid)
        await self.until(lambda: self.main.table.selected.id == sid and self.manager.trajectories.get(sid))
        await self.pilot.pause()

    async def called(self, *call):
        await self.until(lambda: call in self.manager.calls)


@pytest.fixture
def dashboard(manager):
    """An async context: the dashboard with its five sessions on the screen."""

    class Running:
        def __init__(self, size=(160, 45), **options):
            self.app = Dashboard(manager, **options)
            self.context = self.app.run_test(size=size, notifications=True)

        async def __aenter__(self):
            driver = Driver(self.app, await self.context.__aenter__(), manager)
            if manager.changes(0).updated:
                await driver.until(lambda: driver.main.table.selected is not None)
            return driver

        async def __aexit__(self, *exc):
            return await self.context.__aexit__(*exc)

    return Running
