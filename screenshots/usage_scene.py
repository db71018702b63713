"""The pictures of the screen of usage: a month of invented figures, because a demo has used nothing yet."""

import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from textual.pilot import Pilot

from agentdash.sessions.service.manager import SessionManager
from agentdash.tui.app import Dashboard
from agentdash.tui.screens import usage

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))


async def _opened(_: Dashboard, pilot: Pilot[Any]) -> None:
    await pilot.press("dollar_sign")
    await pilot.pause(1.0)


SCENES: dict[str, tuple[tuple[int, int], str, Callable[[Dashboard, Pilot[Any]], Awaitable[None]]]] = {
    "usage": ((160, 34), "dark", _opened),
}
"""Pictures of usage by their names: size, theme, and what is pressed."""


def prepare(manager: SessionManager) -> None:
    """Record the figures of the tests in an empty state folder."""
    from pilot.month import MONTH, TODAY, record

    record(manager.store.database, MONTH)
    usage.day_of = lambda _: TODAY  # type: ignore[assignment]
