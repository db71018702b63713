"""A session that another program puts away while the user reads it or writes to it, or that cannot be read here."""

import pytest
from msgspec import structs

from agentdash.tui.app import Dashboard
from agentdash.tui.dialogs.gone import GoneScreen
from pilot.conftest import Driver
from pilot.examples import SESSIONS


def put_away(manager, how):
    """Put a session away, as another program does."""
    {"delete": manager.delete, "archive": manager.housekeeping.archive}[how]("done0001")


@pytest.mark.parametrize("size", [(160, 45), (80, 24), (50, 20)])
@pytest.mark.parametrize(("how", "says"), [("delete", "moved it to the trash"), ("archive", "archived it")])
async def test_it_is_said_and_the_next_keys_change_no_other_session(dashboard, size, how, says):
    async with dashboard(size=size) as d:
        await d.select("done0001")
        await d.press("enter")
        put_away(d.manager, how)
        await d.screen(GoneScreen)
        await d.shows('Gone: "write the migration"')
        await d.until(lambda: says in " ".join(d.text().replace("│", " ").split()))
        before = d.manager.rows()
        await d.press("X", "D", "y", "A", "j", "k", "g", "G", "down", "end", "pagedown", "q", "enter")
        assert isinstance(d.app.screen, GoneScreen)
        await d.press("escape")
        await d.until(lambda: d.app.screen is d.main)
        assert d.app.focused is d.main.table
        assert d.manager.rows() == before


async def test_the_text_for_it_is_kept_and_goes_to_no_other_session(dashboard):
    async with dashboard() as d:
        await d.select("done0001")
        await d.press("i", *"and then")
        d.manager.delete("done0001")
        await d.screen(GoneScreen)
        await d.shows("The prompt that you were writing is kept with it.")
        await d.press(*" jog quickly and run the tests", "enter", "escape")
        await d.until(lambda: d.app.screen is d.main)
        assert d.main.detail.prompt.input.text == ""
        assert {one.id for one in d.manager.reader.sessions()} == {one.id for one in SESSIONS} - {"done0001"}
        assert not any(d.manager.asked_of(one.id) for one in SESSIONS)
        assert d.app.drafts.get("done0001") == "and then"


async def test_what_the_user_puts_away_and_what_is_not_read_is_not_said(dashboard):
    async with dashboard() as d:
        await d.select("done0001")
        d.manager.delete("stopped1")
        await d.until(lambda: d.main.table.session("stopped1") is None)
        await d.press("enter", "A")
        await d.until(lambda: d.main.table.session("done0001") is None)
        await d.settled()
        assert d.app.screen is d.main


async def test_watch_says_it_too(manager, calls, painting):
    app = Dashboard(manager, watched=[SESSIONS[2]])
    async with app.run_test(size=(160, 45)) as pilot:
        d = Driver(app, pilot, manager, calls, painting)
        d.manager.delete("done0001")
        await d.screen(GoneScreen)
        await d.shows("moved it to the trash")
        await d.press("escape")
        await d.settled()
        assert not isinstance(d.app.screen, GoneScreen)


async def test_why_the_steps_of_an_agent_of_another_version_are_not_shown_is_said_in_their_place(dashboard, manager):
    manager.put(structs.replace(manager.get("done0001"), agent="other"))
    async with dashboard() as d:
        steps = d.main.detail.steps
        d.main.table.select("done0001")
        await d.until(lambda: steps.note.startswith("Unknown agent 'other'."))
        await d.press("j", "k")  # the message goes with the next key
        await d.until(lambda: d.main.table.selected.id == "done0001" and steps.note.startswith("Unknown agent"))
        await d.press("enter", "escape")
        told = len(d.app.requests.log.newest_first())
        d.main.turn_files_grew(frozenset(), sweep=True)
        await d.settled()
        assert d.text().count("Unknown agent 'other'.") == 1
        assert len(d.app.requests.log.newest_first()) == told
        d.main.table.select("waiting1")
        await d.shows("also add a regression test")
        assert "Unknown agent" not in d.text()
