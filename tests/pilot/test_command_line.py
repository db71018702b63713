"""The command line of the dashboard."""

import pytest
from textual.events import Key
from textual.widgets import Input

from agentdash.tui.dialogs.asking.confirm import ConfirmScreen
from agentdash.tui.dialogs.asking.naming import SaveScreen
from agentdash.tui.dialogs.command import CommandScreen
from agentdash.tui.dialogs.log import LogScreen
from agentdash.tui.keys.actions import TABLE_ACTIONS, VIEWER_ACTIONS
from agentdash.tui.screens.palette import Palette
from agentdash.widgets.inputs.prompt_box import PromptInput


async def test_a_command_does_what_its_key_does(dashboard):
    async with dashboard() as d:
        await d.select("running1")
        await d.press(*":stop", "enter")
        await d.screen(ConfirmScreen)
        await d.shows('Stop "split')


async def test_a_command_in_one_burst_is_a_command(dashboard):
    async with dashboard() as d:
        await d.select("running1")
        d.app.post_message(Key("colon", ":"))
        d.burst("kill\n")
        await d.requested("running1", "kill")


async def test_a_text_is_sent_to_the_selected_session(dashboard):
    async with dashboard() as d:
        await d.select("done0001")
        await d.press(*":inject and quit", "enter")
        await d.sent("done0001", "and quit")
        assert d.app.is_running
        await d.press(*":inject", "enter")
        await d.until(lambda: isinstance(d.app.focused, PromptInput))


async def test_a_theme_by_its_name(dashboard):
    async with dashboard() as d:
        await d.press(*":theme lig", "tab", "enter")
        await d.until(lambda: d.app.theme == "agentdash-light")
        await d.press(*":theme pink", "enter")
        await d.shows("Unknown theme 'pink'. Choose one of: dark, light")


async def test_go_and_search(dashboard):
    async with dashboard() as d:
        await d.shows("also add a regression test")
        await d.press(*":go 1.2", "enter")
        steps = d.main.detail.steps
        await d.until(lambda: steps.cursor == 2)
        assert d.app.focused is steps
        await d.press(*":search regression", "enter")
        await d.shows("/regression  1 of 2")


async def test_save_to_a_path(dashboard, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    async with dashboard() as d:
        await d.press(*f":export {tmp_path}/a.json", "enter")
        await d.shows("Exported ")
        assert (tmp_path / "a.json").exists()
        await d.press(*":export a.json", "enter")
        await d.shows("already exists; not overwritten")


async def test_quit(dashboard):
    async with dashboard() as d:
        await d.press(*":q", "enter")
        await d.until(lambda: not d.app.is_running)


async def test_an_unknown_command_stays_and_says_what_is_near(dashboard):
    async with dashboard() as d:
        await d.press(*":thme", "enter")
        await d.shows("Unknown command 'thme'. Did you mean theme?")
        await d.press("escape")
        await d.until(lambda: d.app.screen is d.main)
        await d.shows("n new")


async def test_tab_completes_and_goes_round(dashboard):
    async with dashboard() as d:
        await d.press(*":q", "tab")
        screen = await d.screen(CommandScreen)
        written = lambda: screen.query_one("#command-input").value  # noqa: E731
        assert written() == "quit"
        await d.press("tab")
        assert written() == "q"
        await d.press("shift+tab")
        assert written() == "quit"
        await d.press(*["backspace"] * 4, *"table.pag", "tab")
        assert written() == "table.page_"
        await d.shows("table.page_down  table.page_up")


async def test_up_recalls(dashboard):
    async with dashboard() as d:
        await d.press(*":theme light", "enter")
        await d.until(lambda: d.app.theme == "agentdash-light")
        await d.press("colon", "up")
        screen = await d.screen(CommandScreen)
        assert screen.query_one("#command-input").value == "theme light"


async def test_what_cannot_be_done_now_says_why_like_its_key(dashboard):
    async with dashboard() as d:
        await d.select("done0001")
        await d.press(*":stop")
        await d.shows(" is not running.")
        await d.press("enter")
        await d.screen(CommandScreen)
        assert "is not running." in d.text()
        await d.press("escape")
        await d.select("running1")
        await d.press(*":archive", "enter")
        await d.shows(" is not finished yet.")
        assert d.manager.archived() == set()


async def test_what_a_line_may_become_is_cut_between_two_names(dashboard):
    async with dashboard(size=(50, 24)) as d:
        await d.select("running1")
        await d.press(*":st")
        screen = await d.screen(CommandScreen)
        hint = screen.query_one("#command-hint")
        await d.until(lambda: "stop" in hint.content.plain)
        *names, rest = hint.content.plain.split("  ")
        assert "stop" in names
        assert names == sorted(names, key=lambda name: "." in name)
        assert set(names) <= set(screen._commands.completions("st"))
        assert rest in ("…", *screen._commands.completions("st"))
        assert len(hint.content.plain) <= 50


async def test_motions_have_names_too(dashboard):
    async with dashboard() as d:
        await d.press(*":table.last", "enter")
        await d.until(lambda: d.main.table.selected.id == "stopped1")


async def test_the_table_is_filtered_sorted_grouped_and_viewed_by_name(dashboard):
    async with dashboard() as d:
        shown = lambda: [one.id for one in d.main.table.on_screen]  # noqa: E731
        await d.press(*":filter state:fa", "tab", "enter")
        await d.until(lambda: shown() == ["failed01"])
        await d.press(*":filter", "enter")
        await d.until(lambda: len(shown()) == 5)
        await d.press(*":sort what", "enter")
        await d.until(lambda: shown()[0] == "failed01")
        await d.press(*":group fol", "tab", "enter")
        await d.shows("~/code/web  1 session")
        await d.press(*":view all", "enter")
        await d.until(lambda: shown()[0] == "waiting1")
        await d.press(*":sort size", "enter")
        await d.shows("Unknown sort 'size'. Choose one of: attention, created")
        await d.press(*":needs_you", "enter")
        await d.shows("Unknown command 'needs_you'")
        await d.press(*["backspace"] * 9, *"table.needs_you", "enter")
        await d.until(lambda: len(shown()) == 2)


async def test_the_palette_offers_what_the_table_and_the_viewer_can_do(dashboard):
    async with dashboard() as d:
        await d.select("done0001")
        await d.press("ctrl+p", *"table: filter")
        await d.shows("table: filter (/)")
        await d.press("enter")
        await d.until(lambda: d.app.screen is d.main and isinstance(d.app.focused, Input))
        await d.press(*"state:failed", "enter")
        await d.until(lambda: [one.id for one in d.main.table.on_screen] == ["failed01"])
        await d.press("ctrl+p", *"steps: search")
        await d.shows("steps: search (/)")
        await d.press("enter")
        await d.shows("/ search all steps")
        await d.press("escape", "ctrl+p", *"steps: export")
        await d.shows("steps: export (m s)")
        await d.press("enter")
        await d.screen(SaveScreen)


async def test_the_palette_shows_what_was_run_last_above_the_others(dashboard):
    async with dashboard() as d:
        await d.press("ctrl+p")
        palette = await d.screen(Palette)
        assert palette._found[0].title == "new (n)"
        await d.press(*"log", "enter")
        await d.screen(LogScreen)
        await d.press("escape", "ctrl+p")
        palette = await d.screen(Palette)
        assert palette._found[0].title == "log (g l)"
        await d.press("down", "up", "enter")
        await d.screen(LogScreen)


async def test_the_palette_finds_nothing_and_runs_nothing(dashboard):
    async with dashboard() as d:
        await d.press("ctrl+p", *"no such thing", "enter")
        palette = await d.screen(Palette)
        assert palette._found == []
        await d.press("escape")
        assert d.app.screen is d.main


@pytest.mark.parametrize("size", [(160, 45), (80, 24), (50, 24)])
async def test_the_palette_is_a_dialog_like_the_others_at_every_size(dashboard, size):
    async with dashboard(size=size) as d:
        await d.press("ctrl+p")
        await d.screen(Palette)
        await d.shows("╭─ Commands ─")
        await d.shows("Enter run")
        assert "🔎" not in d.text()


async def test_every_action_of_the_panes_is_in_the_palette(dashboard):
    async with dashboard() as d:
        offered = [command.help for command in d.app.get_system_commands(d.main)]
        assert set(offered) >= {action.help for action in (*TABLE_ACTIONS, *VIEWER_ACTIONS)}
        await d.press("space", "vertical_line")
        await d.until(lambda: d.app.screen is not d.main)
        beside = {command.help for command in d.app.get_system_commands(d.app.screen)}
        of_steps = {action.help for action in VIEWER_ACTIONS}
        assert beside >= of_steps
        assert not (beside - of_steps) & {action.help for action in TABLE_ACTIONS}


async def test_the_help_beside_other_sessions_has_no_keys_of_a_table(dashboard):
    async with dashboard(size=(160, 120)) as d:
        await d.press("space", "vertical_line")
        await d.until(lambda: d.app.screen is not d.main)
        await d.press("question_mark", "question_mark")
        await d.shows("search all steps")
        assert "move the session to the trash" not in d.text()
        assert "next session" not in d.text()


async def test_a_search_by_command_beside_other_sessions_brings_up_no_prompt(dashboard):
    async with dashboard() as d:
        await d.press("space", "vertical_line")
        await d.until(lambda: d.app.screen is not d.main)
        await d.press(*":search", "enter")
        await d.until(lambda: d.app.focused is not None and d.app.focused.id == "ask")
        assert not d.app.screen.detail.prompt.display
        await d.press("escape", "i")
        await d.until(lambda: d.app.screen.detail.prompt.display)


async def test_the_command_line_beside_other_sessions(dashboard):
    async with dashboard() as d:
        await d.press("space", "vertical_line")
        await d.until(lambda: d.app.screen is not d.main)
        await d.press(*":follow", "enter")
        await d.until(lambda: not d.app.screen.detail.steps.following)
        await d.press(*":quit", "enter")
        await d.until(lambda: d.app.screen is d.main)
