"""Every screen beside the steps, made smaller twice, as text and styles; renewed like ``test_snapshots.py``."""

import pytest
from factories import T0
from msgspec import structs

from agentdash.sessions.model.session import Status
from agentdash.tui.state.message_log import MessageLog
from pilot.examples import SESSIONS, session
from pilot.test_snapshots import drawn, fixed_words, ready, screen

__all__ = ["fixed_words", "screen"]

SIZES = ((160, 45), (80, 24), (50, 24))
SCROLLED = ("columns", "log", "settings", "help")
"""Where these are scrolled to depends on the size in which they were opened."""

SCREENS = {
    "filter": (["slash", *"state:failed,done !web"], "1 of 5"),
    "filter-wrong": (["slash", *"stat:failed"], "did you mean"),
    "nothing": (["5"], "Nothing is queued."),
    "marks": (["v", "j", "j", "v"], "3 marked"),
    "folders": (["T", "T", "G"], "code/web  1 session"),
    "sort": (["s"], "most expensive"),
    "columns": (["C"], "Space toggle"),
    "views": (["V"], "most expensive"),
    "several": (["asterisk", "x"], "Stop 2 sessions?"),
    "processes": (["p"], "codex exec"),
    "rename": (["r"], "Rename"),
    "command": (["colon", *"sto"], ":sto"),
    "log": (["t", "L"], "Theme: light"),
    "settings": (["comma"], "default_agent"),
    "help": (["question_mark", *"mark"], "mark all"),
    "quick": (["1"], "2 of 5"),
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


@pytest.fixture
def fixed_log(tmp_path, monkeypatch):
    """Nothing that is told depends on where and when the test runs."""
    (tmp_path / "config.toml").unlink()
    monkeypatch.chdir(tmp_path)  # where a session would start is said in some screens
    monkeypatch.setattr("agentdash.tui.services.background.MessageLog", lambda: MessageLog(lambda: T0))


async def bring_up(d, name):
    """Press the keys that lead to a screen, and wait until nothing on it changes any more."""
    keys, text = SCREENS[name]
    await ready(d)
    await d.press(*keys)
    await d.shows(text)
    await the_same_on_both_sides(d)
    d.app.requests.message.clear()
    await d.until(lambda: "Theme: light" not in d.text() or name == "log")


@pytest.mark.usefixtures("fixed_log")
@pytest.mark.parametrize("name", [name for name in SCREENS if name not in SCROLLED])
async def test_screen(dashboard, screen, name):
    async with dashboard() as d:
        await bring_up(d, name)
        await check_sizes(d, screen)


@pytest.mark.usefixtures("fixed_log")
@pytest.mark.parametrize("size", SIZES, ids="{0[0]}x{0[1]}".format)
@pytest.mark.parametrize("name", SCROLLED)
async def test_screen_that_scrolls(dashboard, screen, name, size):
    async with dashboard(size=size) as d:
        await bring_up(d, name)
        assert drawn(d.app) == screen


async def test_a_family_with_what_is_stuck_denied_and_pinned(dashboard, screen, manager):
    manager.put(session("child001", Status.RUNNING, "extract users", created=0, parent="stopped1"))
    manager.put(structs.replace(SESSIONS[3], stuck="`pytest -q` failed 4 times in a row", stuck_at=T0 - 9000))
    manager.put(structs.replace(SESSIONS[2], denied=2, reason="2 permissions denied: Bash, Write"))
    manager.put(structs.replace(SESSIONS[4], pinned_at=T0))
    async with dashboard() as d:
        await d.press("T")
        await d.shows("extract users")
        await check_sizes(d, screen)


BESIDE = {"beside": (["space", "j", "space", "vertical_line"], "task of running1")}


@pytest.mark.parametrize("name", [*SCREENS, *BESIDE])
async def test_every_screen_in_ascii(dashboard, name):
    keys, text = (SCREENS | BESIDE)[name]
    async with dashboard(plain_ascii=True) as d:
        await ready(d)
        await d.press(*keys)
        await d.shows(text)
        for size in SIZES:
            await d.resize(*size)
            assert d.text().isascii(), d.text()
