"""The settings of a project in the dashboard: their line in the dialog of a start, and the dialog that trusts them."""

import pytest
from msgspec import structs

from agentdash.sessions.service.projects.file import NAME, read
from agentdash.sessions.service.projects.review import review
from agentdash.sessions.service.projects.trust import TrustStore
from agentdash.sessions.settings.config import read_settings
from agentdash.sessions.settings.sections import Preset
from agentdash.tui.dialogs.starting.new_session import NewSessionScreen
from agentdash.tui.dialogs.starting.trust import TrustScreen

TEXT = '[agents.codex]\nsandbox = "read-only"\n[limits]\ntokens = 900\n'


@pytest.fixture
def write(tmp_path, manager):
    """Writes the file of the project, and lets each folder have it."""
    path = tmp_path / NAME
    store = TrustStore(tmp_path / "trust-of-the-test")

    def written(text, *, before=None):
        for content in (before, text):
            if content is not None:
                path.write_text(content)
                path.chmod(0o600)
            if content is before is not None:
                store.put(read(path))
        manager.settings.project = review(path, store, read_settings(tmp_path / "none.toml", ""))

    return written


@pytest.fixture
def narrower(manager, monkeypatch):
    """Lets the agents have the project's sandbox, and the presets the project's, while it is trusted."""
    usual = manager.settings.agents

    def agents(folder=None):
        found = usual()
        trusted = manager.settings.project is not None and manager.settings.project.state == "trusted"
        return [structs.replace(found[0], mode="read-only"), *found[1:]] if trusted else found

    def presets(folder=None):
        return {"look": Preset(prompt="Look.")} if agents()[0].mode == "read-only" else {}

    monkeypatch.setattr(manager.settings, "agents", agents)
    monkeypatch.setattr(manager.settings, "presets", presets)


@pytest.mark.parametrize("size", [(160, 45), (80, 24), (50, 20)])
async def test_the_dialog_shows_an_untrusted_project_and_trusts_it(dashboard, write, narrower, size):
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
        assert [call[0] for call in d.manager.calls if call[0] in ("trust", "forget")] == ["trust"]


async def test_a_mode_that_the_user_chose_stays_when_the_project_is_trusted(dashboard, write, narrower):
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
        await d.called("spawn", "go", "codex", None, "/home/ann/code/api", {"sandbox": "danger-full-access"})


@pytest.mark.parametrize("key", ["n", "escape", "q", "enter", "x"])
async def test_only_y_trusts(dashboard, write, key):
    write(TEXT)
    async with dashboard() as d:
        await d.press("f4")
        await d.screen(TrustScreen)
        await d.press(key, "escape")
        await d.until(lambda: d.app.screen is d.main)
        assert not [call for call in d.manager.calls if call[0] == "trust"]


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
        assert [call[0] for call in d.manager.calls if call[0] in ("trust", "forget")] == ["forget"]


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
        assert not [call for call in d.manager.calls if call[0] in ("trust", "forget")]


async def test_a_trusted_project_is_in_force_and_can_be_forgotten(dashboard, write, manager, narrower):
    write(TEXT)
    manager.settings.project = structs.replace(manager.settings.project, state="trusted")
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
