"""A screen that follows a table shows what is selected there."""

import os

import pytest

from agentdash.sessions.service.selected import Follower, Selected
from agentdash.tui.app import Dashboard
from agentdash.widgets.inputs.prompt_box import PromptInput
from pilot.conftest import Driver


@pytest.fixture
def table(manager):
    one = Selected(manager.home / "selected", {}, "left")
    yield one
    one.end()


@pytest.fixture
def following(manager, calls, painting):
    """Opens a screen that follows the table."""

    def start():
        return Dashboard(manager, following=Follower(manager.home / "selected", os.environ, "left"))

    return start


@pytest.fixture
def driven(manager, calls, painting, following):
    def drive(app, pilot):
        return Driver(app, pilot, manager, calls, painting)

    return drive


async def test_it_shows_one_session_after_the_other_and_says_that_there_is_no_table(following, driven, table):
    app = following()
    async with app.run_test(size=(100, 30)) as pilot:
        d = driven(app, pilot)
        await d.shows("No table with the name left runs.")
        table.show("waiting1")
        app.home.selection_changed()
        await d.shows("also add a regression test")
        table.show("done0001")
        app.home.selection_changed()
        await d.until(lambda: app.home.current is not None and app.home.current.id == "done0001")
        table.show(None)
        app.home.selection_changed()
        await d.shows("No session is selected in the table.")
        table.end()
        app.home.selection_changed()
        await d.shows("No table with the name left runs.")


async def test_a_session_under_a_prompt_stays_until_the_prompt_is_left(following, driven, table):
    table.show("done0001")
    app = following()
    async with app.run_test(size=(100, 30)) as pilot:
        d = driven(app, pilot)
        await d.until(lambda: app.home.current is not None)
        await d.press("i", "h", "o")
        assert isinstance(app.focused, PromptInput)
        table.show("waiting1")
        app.home.selection_changed()
        await d.settled()
        assert app.home.current.id == "done0001"
        await d.press("escape")
        await d.until(lambda: app.home.current.id == "waiting1")
        assert app.drafts.get("done0001") == "ho"


async def test_passing_by_leaves_a_session_unread(following, driven, table, manager):
    table.show("done0001")
    app = following()
    async with app.run_test(size=(100, 30)) as pilot:
        d = driven(app, pilot)
        await d.until(lambda: app.home.current is not None)
        before = manager.get("done0001")
        await d.settled()
        assert manager.get("done0001") == before


async def test_a_followed_session_that_is_deleted_opens_no_dialog(following, driven, table, manager):
    table.show("done0001")
    app = following()
    async with app.run_test(size=(100, 30)) as pilot:
        d = driven(app, pilot)
        await d.until(lambda: app.home.current is not None)
        manager.delete("done0001")
        table.show("waiting1")
        app.home.selection_changed()
        await d.shows("also add a regression test")
        assert app.screen is app.home
