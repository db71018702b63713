"""What was written and not sent: there again in the next dashboard, and gone when it was sent."""

import pytest

from agentdash.sessions.model.errors import SessionBusyError
from agentdash.sessions.storage.prompts.drafts import DraftFiles
from agentdash.tui.dialogs.starting.new_session import NewSessionScreen
from agentdash.tui.services import drafts
from agentdash.widgets.inputs.prompt_box import PromptInput
from pilot.house import failing


@pytest.fixture
def files(manager, monkeypatch):
    """The drafts on disk; each key is written at once."""
    monkeypatch.setattr(drafts, "WRITE_SECONDS", 0.01)
    return lambda key: DraftFiles(manager.layout).read(key)


async def test_a_draft_is_on_disk_without_any_goodbye(dashboard, files):
    async with dashboard() as d:
        await d.select("done0001")
        await d.press("i", *"half a thou")
        await d.until(lambda: files("done0001") == "half a thou")
    async with dashboard() as d:
        await d.select("done0001")
        assert d.main.detail.prompt.input.text == "half a thou"
        await d.press("i", *"ght")
        assert d.main.detail.prompt.input.text == "half a thought"


async def test_many_keys_are_few_writes(dashboard, files, monkeypatch):
    monkeypatch.setattr(drafts, "WRITE_SECONDS", 3600)
    async with dashboard() as d:
        await d.select("done0001")
        await d.press("i", *"not yet")
        assert files("done0001") == ""
        assert d.app.drafts.save() is None
        assert files("done0001") == "not yet"


async def test_what_was_sent_or_emptied_is_no_draft(dashboard, files):
    async with dashboard() as d:
        await d.select("done0001")
        await d.press("i", *"send me")
        await d.until(lambda: files("done0001") == "send me")
        await d.press("enter")
        await d.until(lambda: files("done0001") == "")
        await d.sent("done0001", "send me")
        await d.press("i", "x")
        await d.until(lambda: files("done0001") == "x")
        await d.press("backspace")
        await d.until(lambda: files("done0001") == "")


async def test_what_could_not_be_sent_belongs_to_its_session(dashboard, files, manager, monkeypatch):
    async with dashboard() as d:
        await d.select("done0001")
        monkeypatch.setattr(manager.prompts, "inject", failing(SessionBusyError("It is running.")))
        await d.press("i", *"for the done one", "enter")
        await d.shows("It is running.")
        await d.until(lambda: files("done0001") == "for the done one")
        assert d.main.detail.prompt.input.text == "for the done one"


async def test_a_disk_that_takes_nothing_disturbs_nobody(dashboard, files, manager):
    manager.layout.drafts.touch()  # a file where the folder has to be
    async with dashboard() as d:
        await d.select("done0001")
        await d.press("i", *"half")
        await d.until(lambda: not d.app.drafts._waiting)
        await d.press(*" a thought")
        assert d.main.detail.prompt.input.text == "half a thought"
        assert not d.app.requests.message.text
        assert d.app.drafts.save() == "Not a directory"


async def test_the_dialog_has_its_text_again_after_a_crash(dashboard, files):
    async with dashboard() as d:
        await d.press("n")
        await d.screen(NewSessionScreen)
        await d.press(*"build the thing")
        await d.until(lambda: files("new") == "build the thing")
    async with dashboard() as d:
        await d.press("n")
        screen = await d.screen(NewSessionScreen)
        assert screen.query_one(PromptInput).text == "build the thing"
        await d.press("enter")
        await d.until(lambda: d.app.screen is d.main)
        await d.until(lambda: files("new") == "")


async def test_repeating_a_session_leaves_the_draft_of_the_dialog(dashboard, files):
    async with dashboard() as d:
        await d.press("n")
        await d.screen(NewSessionScreen)
        await d.press(*"mine", "escape")
        await d.select("stopped1")
        await d.press("N")
        await d.screen(NewSessionScreen)
        await d.press("x", "backspace", "enter")
        await d.until(lambda: d.app.screen is d.main)
        await d.until(lambda: files("new") == "mine")


async def test_what_is_written_side_by_side_is_there_in_the_main_screen(dashboard, files):
    async with dashboard() as d:
        await d.select("done0001")
        await d.press("|")
        await d.until(lambda: d.app.screen is not d.main)
        await d.press("i", *"from there", "escape", "escape")
        await d.until(lambda: d.app.screen is d.main)
        assert d.main.detail.prompt.input.text == "from there"
