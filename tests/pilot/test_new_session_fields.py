"""The fields of the new-session dialog: a second group, limits, recent folders, and the choices of the last start."""

import pytest

from agentdash.tui.dialogs.starting.new_session import NewSessionScreen

LOW = (80, 24)
LIMITS = {"wall_seconds": 1800.0, "tokens": 500_000}


async def opened(d, key="n"):
    await d.press(key)
    return await d.screen(NewSessionScreen)


async def test_title_and_limits_go_with_the_start(dashboard):
    async with dashboard() as d:
        await opened(d)
        await d.press(*"go", *["tab"] * 5, *"night build", "tab", *"wall=30m tokens=500k", "enter")
        one = await d.begun("go", "codex", None, "/home/ann/code/api", {"limits": LIMITS})
        assert one.title == "night build"


async def test_limits_that_cannot_be_read_are_told_and_start_nothing(dashboard):
    async with dashboard() as d:
        screen = await opened(d)
        await d.press(*"go", *["tab"] * 6, *"time=3", "enter")
        await d.shows("The field expects wall=…")
        assert screen.fields.limits.has_focus
        assert d.manager.begun() == []


async def test_instructions_and_search_go_with_the_start_and_only_an_agent_that_takes_them_has_their_fields(dashboard):
    async with dashboard() as d:
        screen = await opened(d)
        await d.press(*"go", *["tab"] * 7, *"be brief", "tab")
        await d.shows("[default]  on   off")
        await d.press("tab", "right")
        await d.shows(" default  [on]  off")
        await d.press("enter")
        await d.begun("go", "codex", None, "/home/ann/code/api", {"instructions": "be brief", "search": True})
        await d.until(lambda: d.app.screen is d.main)
        screen = await opened(d)
        await d.press("tab", "right")
        await d.shows("[claude]")
        await d.until(lambda: "search " not in d.text())
        assert "instructions" in d.text()
        assert screen is d.app.screen


@pytest.mark.parametrize("size", [LOW, (160, 45)])
async def test_the_optional_fields_are_below_more_until_tab_reaches_them(dashboard, size):
    async with dashboard(size=size) as d:
        await opened(d)
        await d.shows("more ▸")
        assert "limits   " not in d.text()
        await d.press(*["tab"] * 5, *"a name")
        await d.shows("▌title        a name")
        await d.shows("limits   ")
        assert "more ▸" not in d.text()


async def test_one_sentence_says_what_will_run_and_a_key_shows_the_command(dashboard):
    async with dashboard() as d:
        await opened(d)
        await d.shows("codex, a process for each turn · workspace-write, refuses more · default model · in ")
        assert "$ codex" not in d.text()
        await d.press("ctrl+o")
        await d.will_run("$ codex exec")
        await d.press("ctrl+o")
        await d.until(lambda: "$ codex" not in d.text())


async def test_the_protocol_of_a_live_agent_is_shown_only_with_the_command(dashboard, manager):
    manager.reader.settings.path.write_text("[agents.codex]\nmodel = 'gpt-5.5'\n")
    async with dashboard() as d:
        await opened(d)
        await d.shows("codex, live · workspace-write, asks before more · gpt-5.5 · in ")
        assert "jsonrpc" not in d.text()
        assert "app-server" not in d.text()
        await d.press("ctrl+o")
        await d.shows("app-server")
        await d.shows('"sandbox":"workspace-write"')


async def test_the_folder_field_names_the_key_of_the_recent_folders(dashboard):
    async with dashboard() as d:
        screen = await opened(d)
        await d.press("tab", "tab", "tab")
        await d.shows("Up recent")
        before = screen.fields.folder.value
        await d.press("up")
        assert screen.fields.folder.value != before


@pytest.mark.parametrize("size", [LOW, (160, 45)])
async def test_the_next_dialog_has_the_choices_of_the_last_start_also_in_a_new_dashboard(dashboard, size):
    async with dashboard(size=size) as d:
        await opened(d)
        await d.press(*"go", "tab", "right", "tab", "right", "tab", "tab", *"opus", "enter")
        await d.until(lambda: d.app.screen is d.main)
        await opened(d)
        await d.shows("[claude]")
        await d.shows("[auto]")
        await d.shows("opus")
        await d.until((d.manager.home / "dashboard.toml").exists)
    async with dashboard(size=size) as d:
        await opened(d)
        await d.shows("[claude]")
        await d.shows("[auto]")


async def test_full_danger_is_chosen_each_time(dashboard):
    async with dashboard() as d:
        await opened(d)
        await d.press(*"go", "tab", "tab", "right", "right", "right")
        await d.shows("[no-sandbox]")
        await d.press("enter")
        await d.until(lambda: d.app.screen is d.main)
        screen = await opened(d)
        assert screen.fields.mode.value == "workspace-write"
