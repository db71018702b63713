"""Sessions that wait for others: asked for in the dialog, shown in their rows, started by a key."""

import pytest
from msgspec import structs

from agentdash.sessions.model.session import Status
from agentdash.tui.dialogs.starting.new_session import NewSessionScreen
from agentdash.tui.dialogs.table.pick import PickScreen
from pilot.examples import session

REASON = "running1 failed: waits; retry it, or: agentdash start waits001"


def waiting(**facts):
    return session("waits001", Status.QUEUED, "shorten it", created=0, after="running1", **facts)


@pytest.mark.parametrize("size", [(160, 45), (80, 24), (50, 24)])
async def test_a_key_starts_a_session_after_the_selected_one(dashboard, manager, size):
    async with dashboard(size=size) as d:
        await d.select("running1")
        await d.press("ampersand")
        screen = await d.screen(NewSessionScreen)
        assert screen.fields.after.value == "running1"
        assert screen.has_class("-more")  # what is filled in can be seen
        await d.press(*"go", "enter")
        await d.until(manager.begun)
        assert [(one.task, one.after) for one in manager.begun()] == [("go", "running1")]


async def test_the_field_can_be_filled_in_and_emptied(dashboard, manager):
    async with dashboard() as d:
        await d.press("n")
        screen = await d.screen(NewSessionScreen)
        await d.press(*["tab"] * 5)  # to the line in place of the fields that are rarely used
        await d.shows("at once; or the id of a session")
        screen.fields.after.focus()
        await d.press(*"done0001")
        screen.fields.prompt.focus()
        await d.press(*"go", "enter")
        await d.until(manager.begun)
        assert [(one.task, one.followed) for one in manager.begun()] == [("go", "done0001")]
        await d.until(lambda: d.app.screen is d.main)
        await d.press("n")
        screen = await d.screen(NewSessionScreen)
        assert screen.fields.after.value == ""


async def test_the_row_names_what_it_waits_for_and_a_key_starts_it(dashboard, manager):
    manager.put(waiting(reason="after running1 (split [/red] the monolith into services)"))
    async with dashboard() as d:
        await d.shows("shorten it ↳ after runn")
        await d.shows("shorten it ↳ after runn · after running1 (split [/red] the…")
        await d.select("waits001")
        await d.press("m")
        await d.shows("S start")
        await d.press("S")
        await d.shows('Started "shorten it"')
        await d.until(lambda: "after runn" not in d.text().replace("after running1", ""))
        started = manager.get("waits001")
        assert (started.status, started.after, started.followed) == (Status.RUNNING, None, "running1")


async def test_one_that_cannot_start_by_itself_needs_the_user(dashboard, manager):
    manager.put(structs.replace(manager.get("running1"), status=Status.FAILED))
    manager.put(waiting(reason=REASON, blocked=True))
    async with dashboard() as d:
        await d.shows("waits; retry it, or: agentdash start")
        await d.press("1")
        await d.until(lambda: "rename the store" not in d.text())
        assert "shorten it" in d.text()


async def test_the_key_says_why_it_does_nothing(dashboard):
    async with dashboard() as d:
        await d.select("running1")
        await d.press("m", "S")
        await d.shows("waits for no time and no other session")


async def test_a_chain_is_a_branch_of_the_tree(dashboard, manager):
    manager.put(waiting())
    async with dashboard() as d:
        assert "└" not in d.text()
        await d.press("T")
        await d.shows("└ shorten it")


@pytest.mark.parametrize("size", [(160, 45), (80, 24), (50, 24)])
async def test_a_key_lets_the_user_choose_what_a_session_waits_for(dashboard, manager, size):
    manager.put(waiting(reason="after running1 (split [/red] the monolith into services)"))
    async with dashboard(size=size) as d:
        await d.select("waits001")
        await d.press("f6")
        screen = await d.screen(PickScreen)
        offers = [what for _, what in screen._offers]
        assert not any("waits001" in what for what in offers)  # never itself
        assert "running1" in offers[screen._at]  # the present one is marked
        number = next(number for number, what in enumerate(offers) if "stopped1" in what)
        await d.press(screen._offers[number][0])
        await d.shows('wait for "')
        assert manager.get("waits001").after == "stopped1"


async def test_a_session_that_does_not_wait_gets_no_list(dashboard):
    async with dashboard() as d:
        await d.select("running1")
        await d.press("f6")
        await d.shows("does not wait for another session")
