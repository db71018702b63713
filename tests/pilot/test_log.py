"""Messages can be read again."""

from agentdash.sessions.model.errors import UsageError
from agentdash.tui.dialogs.log import LogScreen
from pilot.house import failing


async def test_messages_can_be_read_again_the_last_one_first(dashboard, monkeypatch):
    async with dashboard() as d:
        await d.select("failed01")
        monkeypatch.setattr(d.manager.prompts, "retry", failing(UsageError("no [such] luck")))
        await d.press("R")
        await d.shows("no [such] luck")
        await d.press("f2")
        await d.shows("Mouse on")
        await d.press("L")
        await d.screen(LogScreen)
        lines = [line for line in d.text().split("\n") if "Mouse on" in line or "no [such] luck" in line]
        assert ["Mouse on" in line for line in lines] == [True, False]
        await d.press("j", "y")
        await d.until(lambda: d.app.clipboard == "no [such] luck")
        await d.press("escape")
        await d.until(lambda: d.app.screen is d.main)


async def test_the_end_of_the_log_file_stands_below(dashboard):
    async with dashboard() as d:
        (d.manager.home / "dashboard.log").write_text("Traceback of [today]\n")
        await d.press("L")
        await d.screen(LogScreen)
        await d.shows("Traceback of [today]")
        await d.press("j", "y")
        await d.until(lambda: d.app.clipboard == "Traceback of [today]")


async def test_an_empty_log_says_so(dashboard):
    async with dashboard() as d:
        await d.press("L")
        await d.screen(LogScreen)
        await d.shows("No messages yet.")
