"""Rename, pin, and what a session that needs the user shows, by keys."""

from factories import T0
from msgspec import structs

from agentdash.sessions.model.session import Status
from agentdash.tui.dialogs.asking.naming import RenameScreen


async def test_r_renames_the_selected_session(dashboard):
    async with dashboard() as d:
        await d.select("done0001")
        await d.press("r")
        screen = await d.screen(RenameScreen)
        field = screen.query_one("#rename-title")
        assert field.value == "write the migration"
        field.value = "the [bold] release"
        await d.press("enter")
        await d.until(lambda: d.app.screen is d.main)
        assert d.manager.get("done0001").title == "the [bold] release"
        await d.shows("the [bold] release")


async def test_an_empty_title_gives_the_automatic_one_back(dashboard):
    async with dashboard() as d:
        d.manager.put(structs.replace(d.manager.get("done0001"), title="my own"))
        await d.shows("my own")
        await d.select("done0001")
        await d.press("r", "ctrl+u", "enter")
        await d.shows("write the migration")
        assert d.manager.get("done0001").title == "write the migration"


async def test_escape_keeps_the_title_and_a_refused_title_keeps_the_dialog(dashboard):
    async with dashboard() as d:
        await d.select("done0001")
        await d.press("r")
        await d.screen(RenameScreen)
        await d.press(*"x" * 201, "enter")
        await d.shows("the maximum is 200")
        assert isinstance(d.app.screen, RenameScreen)
        await d.press("escape")
        await d.until(lambda: d.app.screen is d.main)
        assert d.main.table.session("done0001").title == "write the migration"


async def test_P_pins_and_unpins(dashboard):
    async with dashboard() as d:
        await d.select("done0001")
        await d.press("P")
        await d.shows('Pinned "write the migration"')
        await d.until(lambda: d.main.table.session("done0001").pinned_at is not None)
        await d.press("P")
        await d.until(lambda: d.main.table.session("done0001").pinned_at is None)


async def test_P_pins_all_that_are_marked(dashboard):
    async with dashboard() as d:
        await d.select("failed01")
        await d.press("space")
        await d.select("done0001")
        await d.press("space", "P")
        await d.shows("2 sessions")
        await d.press("y")
        await d.shows("Pinned 2 sessions: ")
        assert {one.id for one in d.manager.reader.sessions() if one.pinned_at} == {"failed01", "done0001"}


async def test_a_loop_stands_below_its_row_as_long_as_it_lasts(dashboard):
    async with dashboard() as d:
        running = d.manager.get("running1")
        d.manager.put(structs.replace(running, stuck="`pytest -q` failed 4 times in a row", stuck_at=T0))
        await d.shows("`pytest -q` failed 4 times in a row")
        d.manager.put(running)
        await d.until(lambda: "failed 4 times" not in d.text())


async def test_a_denied_permission_is_shown_below_its_row(dashboard):
    async with dashboard() as d:
        done = structs.replace(d.manager.get("done0001"), denied=2, reason="2 permissions denied: Bash, Write")
        assert done.status is Status.DONE
        d.manager.put(done)
        await d.shows("2 permissions denied: Bash, Write")
