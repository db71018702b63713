"""The settings of a project in the dashboard: their line in the dialog of a start, and the dialog that trusts them."""

from pathlib import Path

import pytest

from agentdash.sessions.service.projects.file import NAME
from agentdash.tui.dialogs.starting.new_session import NewSessionScreen
from agentdash.tui.dialogs.starting.trust import TrustScreen
from pilot.house import here

TEXT = '[agents.codex]\nsandbox = "read-only"\n[limits]\ntokens = 900\n[presets.look]\nprompt = "Look."\n'


@pytest.fixture
def write(manager):
    """Writes the file of the project, and trusts what it was before."""
    path = Path(here("/home/ann/code/api")) / NAME

    def written(text, *, before=None):
        for content in (before, text):
            if content is not None:
                path.write_text(content)
                path.chmod(0o600)
            if content is before is not None:
                trust(manager)

    return written


def project(manager):
    """The settings of the project."""
    return manager.reader.settings.project_of(here("/home/ann/code/api"))


def trust(manager):
    """Trust them, as another front end does."""
    manager.projects.trust(project(manager))


@pytest.mark.parametrize("size", [(160, 45), (80, 24), (50, 20)])
async def test_the_dialog_shows_an_untrusted_project_and_trusts_it(dashboard, write, size):
    write(TEXT)
    async with dashboard(size=size) as d:
        await d.press("n")
        await d.screen(NewSessionScreen)
        await d.shows("F4")
        await d.shows("[workspace-write]")
        await d.press("f4")
        await d.screen(TrustScreen)
        await d.shows('2: agents.codex.sandbox = "read-only"')
        await d.press("y")
        await d.screen(NewSessionScreen)
        await d.until(lambda: "not trusted" not in d.text())
        await d.shows("[read-only]")
        await d.shows("[(none)]")
        await d.shows("in force.")
        assert project(d.manager).state == "trusted"


async def test_a_mode_that_the_user_chose_stays_when_the_project_is_trusted(dashboard, write):
    write(TEXT)
    async with dashboard() as d:
        await d.press("n")
        await d.screen(NewSessionScreen)
        await d.press(*"go", "tab", "tab", "right")
        await d.shows("[danger-full-access]")
        await d.press("f4")
        await d.screen(TrustScreen)
        await d.press("y")
        await d.shows("in force.")
        await d.shows("[danger-full-access]")
        await d.press("enter")
        await d.begun("go", "codex", None, "/home/ann/code/api", {"sandbox": "danger-full-access"})


@pytest.mark.parametrize("key", ["n", "escape", "q", "enter", "x"])
async def test_only_y_trusts(dashboard, write, key):
    write(TEXT)
    async with dashboard() as d:
        await d.press("f4")
        await d.screen(TrustScreen)
        await d.press(key, "escape")
        await d.until(lambda: d.app.screen is d.main)
        assert project(d.manager).state == "untrusted"


async def test_a_change_is_shown_as_a_diff_and_no_character_hides_another(dashboard, write):
    write(TEXT + "# \u202ehidden\n", before=TEXT)
    async with dashboard() as d:
        await d.press("f4")
        await d.screen(TrustScreen)
        await d.shows("changed since you")
        await d.shows("+# ")
        assert "\u202e" not in d.text()
        await d.press("f")
        await d.until(lambda: d.app.screen is d.main)
        assert project(d.manager).state == "untrusted"


async def test_a_long_value_is_shown_whole(dashboard, write):
    write(f'[agents.codex]\ninstructions = "{"be good, " * 60}nothing_is_hidden"\n')
    async with dashboard() as d:
        await d.press("f4")
        await d.screen(TrustScreen)
        await d.shows("nothing_is_hidden")


async def test_a_file_that_cannot_be_in_force_shows_the_reason_and_cannot_be_trusted(dashboard, write):
    write('[agents.codex]\nbin = "/bin/sh"\n')
    async with dashboard() as d:
        await d.press("n")
        await d.screen(NewSessionScreen)
        await d.shows("cannot be used")
        await d.press("f4")
        await d.screen(TrustScreen)
        await d.shows("agents.codex.bin: A project cannot set it.")
        assert "y trust" not in d.text()
        await d.press("y", "f")
        assert isinstance(d.app.screen, TrustScreen)
        await d.press("escape")
        await d.screen(NewSessionScreen)
        assert d.manager.projects.trusted() == []


async def test_a_trusted_project_is_in_force_and_can_be_forgotten(dashboard, write, manager):
    write(TEXT)
    trust(manager)
    async with dashboard() as d:
        await d.press("n")
        await d.screen(NewSessionScreen)
        await d.shows("[read-only]")
        await d.press("f4")
        await d.screen(TrustScreen)
        await d.press("f")
        await d.screen(NewSessionScreen)
        await d.shows("not trusted")
        await d.shows("[workspace-write]")
