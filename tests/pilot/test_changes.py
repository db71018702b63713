"""The screen of changed files."""

import pytest

from agentdash.sessions.service.changes.model import SessionChanges
from agentdash.tui.screens.changes import ChangesScreen
from pilot.gate import Gate


@pytest.mark.parametrize("size", [(160, 45), (80, 24), (50, 24)])
async def test_without_edits_it_says_so_and_is_not_reading_for_ever(dashboard, manager, monkeypatch, size):
    read = Gate()
    monkeypatch.setattr(
        manager.reader.steps, "changes_of", lambda ref: read.wait() and SessionChanges(session=ref, cwd="/home/ann")
    )
    async with dashboard(size=size) as d:
        await d.press("enter", "c")
        await d.screen(ChangesScreen)
        await d.shows("reading…")
        read.set()
        await d.shows("No edits by this agent.")
        await d.until(lambda: "reading" not in d.text())
