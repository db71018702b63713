"""The mode of a session that exists: the list of modes, and what a choice does."""

from msgspec import structs

from agentdash.tui.dialogs.table.pick import PickScreen
from agentdash.tui.screens.main import MainScreen

MODES = {"acceptEdits": "a", "bypassPermissions": "c"}


async def choose(d, mode):
    await d.press("E")
    await d.screen(PickScreen)
    await d.press(MODES[mode])
    if mode == "bypassPermissions":
        await d.shows("Change the mode to bypassPermissions?")
        await d.press("y")
    await d.screen(MainScreen)


async def adjusted(d, *modes):
    """Wait until these changes of the mode are recorded, and no other."""
    recorded = lambda: [one.value for one in d.manager.reader.adjustments("done0001") if one.what == "mode"]  # noqa: E731
    await d.until(lambda: recorded() == list(modes), f"{modes} to be recorded")


async def test_a_mode_that_was_widened_can_be_taken_back_before_the_next_prompt(dashboard):
    async with dashboard() as d:
        await d.select("done0001")
        await choose(d, "bypassPermissions")
        await adjusted(d, "bypassPermissions")
        await d.shows('Changed the mode of "write the migration" to bypassPermissions: from turn 4 on')
        await d.press("E")
        await d.shows("bypassPermissions (no limits, next prompt)")
        await d.press("a")
        await adjusted(d, "bypassPermissions", "acceptEdits")


async def test_a_mode_without_limits_is_asked_for_first(dashboard):
    async with dashboard() as d:
        await d.select("done0001")
        await d.press("E")
        await d.screen(PickScreen)
        await d.press(MODES["bypassPermissions"])
        await d.shows("will be asked for or refused")
        await d.press("enter")
        await d.screen(MainScreen)
        await adjusted(d)


async def test_the_mode_of_the_next_prompt_can_be_sent_again(dashboard):
    async with dashboard() as d:
        await d.select("done0001")
        await d.press("E")
        await d.shows("acceptEdits (next prompt)")
        await d.press("enter")
        await adjusted(d, "acceptEdits")


async def test_the_mode_of_an_agent_that_this_version_does_not_have_is_not_offered(dashboard, manager):
    manager.put(structs.replace(manager.get("done0001"), agent="other"))
    async with dashboard() as d:
        d.main.table.select("done0001")
        await d.shows("Unknown agent 'other'.")
        await d.press("E")
        await d.shows("This version of agentdash does not have the agent other.")
        await d.press("ctrl+p", *"mode")
        await d.shows("permission mode")
        await d.press("escape", "colon", *"mode ")
        await d.shows(":mode")
