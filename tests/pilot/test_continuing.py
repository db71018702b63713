"""The dialog that continues a session in a new one, by any agent."""

import pytest
from msgspec import structs

from agentdash.sessions.model.session import Status
from agentdash.sessions.service.lifecycle.starts.continue_plan import GO_ON
from agentdash.tui.dialogs.starting.new_session import ContinueScreen
from agentdash.tui.keys.availability import possible
from pilot.examples import TALK, session


@pytest.fixture
def manager(manager):
    """The manager with a stopped session of three turns."""
    manager.tell("stopped1", TALK)
    return manager


async def opened(d, sid="stopped1"):
    await d.select(sid)
    await d.press("at")
    return await d.screen(ContinueScreen)


@pytest.mark.parametrize("size", [(160, 45), (80, 24), (50, 24)])
async def test_it_says_what_the_new_agent_reads_before_anything_starts(dashboard, size):
    async with dashboard(size=size) as d:
        await opened(d)
        await d.shows("Continue ")
        await d.shows("[claude]")
        words = "claude reads 6 messages of codex as text"
        await d.until(lambda: words in " ".join(d.text().replace("│", "").split()))
        assert d.manager.begun() == []


async def test_the_first_key_replaces_the_prompt_and_the_choices_go_with_the_start(dashboard):
    async with dashboard() as d:
        await opened(d)
        await d.shows("Continue from where the conversation ended.")
        await d.press(*"hi", "tab", "left")
        await d.shows("[codex]")
        await d.shows("codex reads 6 messages of codex as text")
        await d.press("enter")
        one = await d.begun("hi", "codex", None, "/home/ann/code/api", {})
        await d.until(lambda: d.app.screen is d.main)
        await d.until(lambda: d.main.table.selected.id == one.id)


async def test_the_limits_of_the_session_are_filled_in(dashboard, manager):
    manager.give("stopped1", {"sandbox": "read-only", "limits": {"tokens": 5}})
    async with dashboard() as d:
        await opened(d)
        await d.shows("limits       tokens=5")
        await d.press("enter")
        await d.begun(GO_ON, "claude", None, "/home/ann/code/api", {"limits": {"tokens": 5}})


async def test_a_prompt_that_was_not_sent_is_there_again(dashboard):
    async with dashboard() as d:
        await opened(d)
        await d.press(*"not yet", "escape")
        await d.until(lambda: d.app.screen is d.main)
        screen = await opened(d)
        assert screen.fields.prompt.text == "not yet"
        assert d.manager.begun() == []


async def test_a_folder_that_is_gone_is_said_and_can_be_replaced(dashboard, manager):
    manager.put(session("failed11", Status.FAILED, "gone", created=0, cwd="/gone"))
    async with dashboard() as d:
        await opened(d, "failed11")
        await d.shows("The folder /gone does not exist.")
        await d.press("enter")
        await d.until(lambda: isinstance(d.app.screen, ContinueScreen))
        assert d.manager.begun() == []


@pytest.mark.parametrize(
    ("facts", "can"),
    [
        ({}, True),
        ({"status": Status.FAILED}, True),
        ({"deleted_at": 1}, True),
        ({"archived_at": 1}, True),
        ({"status": Status.RUNNING}, False),
        ({"agent": "command"}, False),
    ],
)
def test_a_session_can_be_continued_if_it_has_ended_and_takes_prompts(facts, can):
    one = structs.replace(session("done0001", Status.DONE, "x", created=0), **facts)
    assert possible("continue", one) is can
    assert not possible("continue", one, read_only=True)


async def test_a_session_at_work_gives_the_reason(dashboard):
    async with dashboard() as d:
        await d.select("running1")
        await d.press("at")
        await d.shows("cannot be continued")


async def test_it_is_a_command_too(dashboard):
    async with dashboard() as d:
        await d.select("done0001")
        await d.press("colon", *"continue", "enter")
        await d.screen(ContinueScreen)
