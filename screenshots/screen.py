"""What the scenes of the pictures share: the screen as text, waiting for words on it, and the selected session."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from textual.pilot import Pilot

from agentdash.tui.app import Dashboard

Scene = Callable[[Dashboard, Pilot[Any]], Awaitable[None]]
"""Brings a dashboard to the state of a picture."""

Picture = tuple[tuple[int, int], str, Scene]
"""The size, the theme and the scene."""


def select(app: Dashboard, words: str) -> None:
    """Put the cursor on a session."""
    app.home.table.select(next(s.id for s in app.home.table._rows if words in s.task))


async def shown(app: Dashboard, pilot: Pilot[Any], *words: str) -> None:
    """Wait until the screen shows the words."""

    async def poll() -> None:
        while not all(word in text(app) for word in words):
            await pilot.pause(0.05)

    await asyncio.wait_for(poll(), 20)


def text(app: Dashboard) -> str:
    """Return the screen as text."""
    strips = app.screen._compositor.render_strips()
    return "\n".join("".join(segment.text for segment in strip) for strip in strips)
