"""The screen with all settings, and the editor behind it."""

from contextlib import nullcontext
from pathlib import Path

import pytest

from agentdash.sessions.settings.place import config_path
from agentdash.tui.screens.settings import SettingsScreen
from agentdash.tui.terminal import state
from agentdash.tui.themes import THEMES

FILE = '[dashboard]\ntheme = "light"\n\n[stop]\nafter_turn = "sweep"\n'


@pytest.fixture
def editor(tmp_path, monkeypatch):
    """What vim is given, and what it leaves in the file (None: nothing changed)."""

    class Editor:
        told: list[str] | None = None
        leaves: str | None = None

        def __call__(self, argv, cwd=None):
            self.told = argv
            if self.leaves is not None:
                Path(argv[-1]).write_text(self.leaves)
            return 0

    fake = Editor()
    monkeypatch.setenv("VISUAL", "vim")
    monkeypatch.setattr("agentdash.tui.services.external_programs.run", fake)
    monkeypatch.setattr("agentdash.tui.services.external_programs.shutil.which", lambda name: name)
    monkeypatch.setattr("agentdash.tui.app.Dashboard.suspend", lambda self: nullcontext())
    return fake


async def opened(d):
    await d.press("comma")
    return await d.screen(SettingsScreen)


async def test_all_settings_are_shown_with_value_origin_and_what_they_do(dashboard):
    config_path().write_text(FILE)
    async with dashboard() as d:
        await opened(d)
        await d.shows("Agent to start by default.")
        await d.press(*"theme")
        await d.shows("[dashboard]")
        await d.shows("config.toml:2")
        await d.shows("dashboard.theme: Colour theme")
        await d.shows('default: "dark"')
        assert "max_running" not in d.text()
        await d.press("escape")
        await d.shows("[orchestration]")
        assert "dashboard.theme: Colour theme" in d.text()
        await d.press("escape")
        await d.until(lambda: d.app.screen is d.main)


async def test_the_cursor_stays_with_its_setting_while_one_filters(dashboard):
    async with dashboard() as d:
        screen = await opened(d)
        await d.until(lambda: screen._all)
        await d.press("down")
        await d.shows("agents.codex.bin: Command to run")
        await d.press("pagedown", "pagedown", "down", "up")
        chosen = screen._chosen.setting
        await d.press(*chosen.path[-1][:4])
        await d.until(lambda: screen._filter.value == chosen.path[-1][:4] and screen._chosen.setting == chosen)
        await d.press(*"zzz")
        await d.shows("no setting matches")
        await d.press("enter", "escape")
        await d.until(lambda: screen._chosen is not None)


async def test_enter_opens_the_file_where_the_setting_stands(dashboard, editor):
    config_path().write_text(FILE)
    async with dashboard() as d:
        await opened(d)
        await d.press(*"dashboard.theme", "enter")
        await d.until(lambda: editor.told == ["vim", "+2", str(config_path())])
        await d.press("escape", *"dashboard.mouse", "enter")
        await d.until(lambda: editor.told == ["vim", "+3", str(config_path())])
        assert config_path().read_text() == FILE


async def test_what_can_be_applied_at_once_is(dashboard, editor, monkeypatch):
    written = []
    async with dashboard() as d:
        assert d.app.theme == THEMES["dark"].name
        monkeypatch.setattr(d.app._driver, "write", written.append)
        await opened(d)
        editor.leaves = '[dashboard]\ntheme = "safe-light"\nmouse = true\n'
        await d.press(*"dashboard.theme", "enter")
        await d.until(lambda: d.app.theme == THEMES["safe-light"].name)
        await d.until(lambda: state.MOUSE_ON in written)
        await d.shows('"safe-light"')


async def test_a_theme_chosen_by_key_stays_while_the_file_says_the_same(dashboard, editor):
    async with dashboard() as d:
        await d.press("t")
        chosen = d.app.theme
        await opened(d)
        editor.leaves = "[stop]\ninterrupt_seconds = 9.5\n"
        await d.press(*"stop.interrupt_seconds", "enter")
        await d.shows("9.5")
        assert d.app.theme == chosen != THEMES["dark"].name


async def test_the_first_file_is_made_when_it_is_opened(dashboard, editor):
    config_path().unlink()
    async with dashboard() as d:
        await opened(d)
        await d.shows("no config file, using defaults")
        await d.press(*"dashboard.theme", "enter")
        await d.until(lambda: editor.told)
        line = int(editor.told[1].removeprefix("+"))
        assert config_path().read_text().split("\n")[line - 1] == '# theme = "dark"'


async def test_an_error_names_file_line_and_key_and_enter_goes_there(dashboard, editor):
    async with dashboard() as d:
        screen = await opened(d)
        editor.leaves = '# mine\n[dashboard]\ntheme = "pink"\n'
        await d.press(*"dashboard.theme", "enter")
        await d.shows("config.toml:3: dashboard.theme: Invalid enum value 'pink'.")
        assert d.app.theme == THEMES["dark"].name
        editor.leaves = FILE
        await d.press("enter")
        await d.until(lambda: editor.told == ["vim", "+3", str(config_path())])
        await d.until(lambda: not screen._error.display)


async def test_keys_that_cannot_be_used_are_an_error_of_the_file_too(dashboard, editor):
    async with dashboard() as d:
        await opened(d)
        editor.leaves = '[profiles.mine.keys]\nstop = "n"\n'
        await d.press(*"dashboard.theme", "enter")
        await d.shows("config.toml:2: profiles.mine.keys.stop: n cannot be bound to stop")
        await d.press("enter")
        await d.until(lambda: editor.told == ["vim", "+2", str(config_path())])


async def test_broken_settings_are_told_from_the_start(dashboard, editor):
    config_path().write_text("[stop]\nwait = 1\n")
    async with dashboard() as d:
        await opened(d)
        await d.shows("config.toml:2: stop.wait: Unknown key.")
        await d.shows("the settings file is not valid")
        await d.press("enter")
        await d.until(lambda: editor.told == ["vim", "+2", str(config_path())])


async def test_the_environment_is_no_part_of_the_file(dashboard, editor):
    config_path().unlink()
    async with dashboard() as d:
        await opened(d)
        await d.press(*"AGENTDASH_CONFIG", "enter")
        await d.shows("AGENTDASH_CONFIG is an environment variable: set it in your shell.")
        assert editor.told is None
        assert not config_path().exists()


@pytest.mark.parametrize("size", [(160, 45), (80, 24), (50, 18)])
async def test_it_fits_every_screen(dashboard, size):
    config_path().write_text(FILE)
    async with dashboard(size=size) as d:
        await opened(d)
        await d.press(*"after_turn")
        await d.shows("[agents.codex.stop]")
        await d.shows('"sweep"')
        await d.shows("Esc")


async def test_a_narrow_screen_tells_the_line_of_the_file_and_cuts_nothing_in_two(dashboard):
    config_path().write_text(FILE)
    async with dashboard(size=(46, 24)) as d:
        await opened(d)
        await d.shows("Enter edit   Esc back   type filter")
        assert "Up" not in d.text().splitlines()[-1]
        await d.press(*"dashboard theme")
        await d.shows("dashboard.theme: Colour theme")
        row = next(line for line in d.text().splitlines() if '"light"' in line)
        assert row.rstrip().endswith(":2")
        await d.until(lambda: "config.toml:2" in "".join(line.strip() for line in d.text().split("\n")))
        await d.shows('default: "dark"')
