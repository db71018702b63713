"""Every screen beside the steps, made smaller twice, as text and styles; renewed like ``test_snapshots.py``."""

import pytest
from msgspec import structs

from agentdash.sessions.model import Status
from agentdash.tui.state.message_log import Log
from pilot.fakes import SESSIONS, T0, session
from pilot.test_snapshots import drawn, fixed_words, ready, screen

__all__ = ["fixed_words", "screen"]

SIZES = ((160, 45), (80, 24), (50, 24))
SCREENS = {
    "filter": (["slash", *"state:failed,done !web"], "1 of 5"),
    "filter-wrong": (["slash", *"stat:failed"], "did you mean"),
    "nothing": (["5"], "Nothing is queued."),
    "marks": (["v", "j", "j", "v"], "3 marked"),
    "folders": (["T", "T", "G"], "code/web  1 session"),
    "sort": (["s"], "most expensive"),
    "columns": (["C"], "Space shows"),
    "views": (["V"], "most expensive"),
    "several": (["asterisk", "x"], "Stop 2 sessions?"),
    "processes": (["p"], "codex exec"),
    "rename": (["r"], "Rename"),
    "command": (["colon", *"sto"], ":sto"),
    "log": (["t", "L"], "Theme: light"),
    "settings": (["comma"], "default_agent"),
    "help": (["question_mark", *"mark"], "mark all"),
    "quick": (["1"], "3 of 5"),
}
"""The keys that lead there, and a text by which it is known."""


async def the_same_on_both_sides(d):
    """Wait until the steps are those of the row under the cursor."""
    selected = d.main.table.selected
    await d.until(lambda: d.main.detail.prompt._session_id == (selected.id if selected else None))
    if selected and d.app.screen is d.main and d.main.detail.display:
        await d.shows("also add a regression" if selected.id == "waiting1" else f"task of {selected.id}")


async def check_sizes(d, screen):
    """Compare with the picture of each size."""
    for width, height in SIZES:
        await d.resize(width, height)
        await the_same_on_both_sides(d)
        assert drawn(d.app) == screen(name=f"{width}x{height}")


@pytest.mark.parametrize("name", SCREENS)
async def test_screen(dashboard, screen, name, manager, monkeypatch):
    monkeypatch.chdir(manager.home.parent)  # where a session would start is said in some of them
    monkeypatch.setattr("agentdash.tui.services.background.Log", lambda: Log(lambda: T0))
    keys, text = SCREENS[name]
    async with dashboard() as d:
        await ready(d)
        await d.press(*keys)
        await d.shows(text)
        await the_same_on_both_sides(d)
        d.app.clear_notifications()
        await d.until(lambda: "Theme: light" not in d.text() or name == "log")
        await check_sizes(d, screen)


async def test_a_family_with_what_is_stuck_denied_and_pinned(dashboard, screen, manager):
    manager.put(session("child001", Status.RUNNING, "extract users", created=0, parent="stopped1"))
    manager.put(structs.replace(SESSIONS[3], stuck="`pytest -q` failed 4 times in a row", stuck_at=T0 - 9000))
    manager.put(structs.replace(SESSIONS[2], denied=2, reason="2 permissions denied: Bash, Write"))
    manager.put(structs.replace(SESSIONS[4], pinned_at=T0))
    async with dashboard() as d:
        await d.press("T")
        await d.shows("extract users")
        await check_sizes(d, screen)


TEXTUALS = set("▁▂▃▄▅▆▇█")
"""What Textual draws its scrollbars with, whatever the terminal."""


BESIDE = {"beside": (["space", "j", "space", "vertical_line"], "task of done0001")}


@pytest.mark.parametrize("name", [*SCREENS, *BESIDE])
async def test_every_screen_in_ascii(dashboard, name):
    keys, text = (SCREENS | BESIDE)[name]
    async with dashboard(plain_ascii=True) as d:
        await ready(d)
        await d.press(*keys)
        await d.shows(text)
        for size in SIZES:
            await d.resize(*size)
            assert not {character for character in d.text() if not character.isascii()} - TEXTUALS, d.text()
