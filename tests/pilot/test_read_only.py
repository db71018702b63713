"""A dashboard that only looks."""

from contextlib import nullcontext

import pytest
from textual.widgets import Input

from agentdash.sessions.rules.launch import Start
from agentdash.sessions.settings.config import DashboardSettings
from agentdash.tui.keys.action import Place
from agentdash.tui.keys.actions import ACTIONS, REGISTRY
from agentdash.tui.keys.availability import possible
from agentdash.tui.services.actions.session_actions import SessionActions
from agentdash.tui.services.external_programs import ExternalPrograms
from agentdash.widgets.inputs.prompt_box import PromptInput
from pilot.examples import SESSIONS

LOOK = DashboardSettings(read_only=True)


def keys_of_what_changes():
    return [key for action in ACTIONS if action.changes for key in action.acting]


async def test_no_key_changes_anything(dashboard):
    async with dashboard(settings=LOOK) as d:
        before = d.manager.rows()
        for one in SESSIONS:
            await d.select(one.id)
            await d.press(*keys_of_what_changes())
            assert d.app.screen is d.main
            assert d.app.focused is d.main.table
        assert d.manager.rows() == before


async def test_looking_does_not_even_mark_as_seen(dashboard):
    async with dashboard(settings=LOOK) as d:
        before = d.manager.get("done0001")
        await d.select("done0001")
        await d.press("enter", "G", "escape")
        await d.shows("1 done new")
        assert (d.manager.get("done0001"), before.seen_at) == (before, None)


@pytest.mark.parametrize("size", [(160, 45), (80, 24), (50, 24)])
async def test_it_says_so(dashboard, size):
    async with dashboard(settings=LOOK, size=size) as d:
        await d.shows("read-only")
        assert d.text().lstrip().startswith("read-only")
        await d.press("enter")
        await d.shows("read-only: prompts cannot be sent")
        assert "n new" not in d.text()
        assert "i prompt" not in d.text()


async def test_the_prompt_takes_no_text(dashboard):
    async with dashboard(settings=LOOK) as d:
        await d.press("tab", "tab", "i")
        assert not isinstance(d.app.focused, PromptInput)
        await d.pilot.click(d.main.detail.prompt.input)
        assert not isinstance(d.app.focused, PromptInput)


async def test_palette_and_command_line_do_not_offer_it(dashboard):
    async with dashboard(settings=LOOK) as d:
        before = d.manager.rows()
        await d.select("running1")
        offered = {command.title for command in d.app.get_system_commands(d.main)}
        assert not any(title.startswith(("stop", "kill", "new", "prompt")) for title in offered)
        for name in ("stop", "kill", "inject now", "new_session"):
            await d.press("colon", *name, "enter")
            await d.shows("The dashboard is read-only.")
            await d.press("escape")
            await d.until(lambda: d.app.screen is d.main)
        assert d.manager.rows() == before


async def test_no_operation_gets_through_to_the_manager(dashboard):
    async with dashboard(settings=LOOK) as d:
        before = d.manager.rows()
        asked: SessionActions = d.main.operations
        one = d.manager.get("failed01")
        await asked.putting_away.undo()
        assert not await asked.prompts.send(one, "hello")
        assert not await asked.prompts.say_instead(one, "hello")
        assert not await asked.prompts.retry_chosen([one], one)
        assert not await asked.prompts.change("hold", one, lambda queue: queue.hold(one.id))
        assert await asked.starting.spawn(Start("x", cwd="/")) is not None
        assert await asked.starting.spawn_copies(Start("x", cwd="/", copies=2)) is not None
        await asked.putting_away.archive(one)
        await asked.stopping.stop(one, now=True)
        await asked.seen(one)
        await d.shows("The dashboard is read-only: no stop.")
        assert d.manager.rows() == before


async def test_side_by_side_says_so_in_its_last_line(dashboard):
    async with dashboard(settings=LOOK) as d:
        await d.press("vertical_line")
        await d.until(lambda: d.app.screen is not d.main)
        await d.shows("read-only   ")
        assert "i prompt" not in d.text()


WRITERS = ["exclamation_mark", "ctrl+g", "e", "v", "s"]


@pytest.fixture
def ran(monkeypatch):
    """The programs that got the terminal, with their environment."""
    found = []
    monkeypatch.setattr(
        "agentdash.tui.services.external_programs.run",
        lambda argv, _=None, *, env=None: found.append((argv[0], (env or {}).get("LESSSECURE"))) or 0,
    )
    return found


@pytest.mark.parametrize("key", WRITERS)
async def test_no_key_opens_what_can_write(dashboard, ran, monkeypatch, key):
    monkeypatch.setenv("EDITOR", "true")
    async with dashboard(settings=LOOK) as d:
        await d.select("done0001")
        await d.press("enter", key)
        assert d.app.screen is d.main
        assert ran == []


async def test_no_key_of_the_registry_opens_more_than_a_pager_or_writes_a_file(dashboard, ran, monkeypatch):
    monkeypatch.setenv("EDITOR", "true")
    async with dashboard(settings=LOOK, size=(160, 45)) as d:
        before = d.manager.rows()
        for place in (Place.TABLE, Place.STEPS):
            for action in REGISTRY.values():
                if place not in action.where or action.id in ("quit", "suspend", "interrupt"):
                    continue
                d.main.table.select("done0001")
                d.main.give_keys(d.main.table if place is Place.TABLE else d.main.detail.steps)
                await d.press(action.keys.split(",")[0])
                for _ in range(5):
                    if d.app.screen is not d.main or isinstance(d.app.focused, Input):
                        await d.press("escape")
                assert d.app.screen is d.main, action.id
        assert d.manager.rows() == before
        assert {program for program, _ in ran} <= {"less"}
        assert all(not possible(one.id, SESSIONS[0], read_only=True) for one in REGISTRY.values() if one.writes)


async def test_the_settings_file_is_not_opened(dashboard, ran, monkeypatch):
    monkeypatch.setenv("EDITOR", "true")
    async with dashboard(settings=LOOK) as d:
        await d.press("comma")
        await d.until(lambda: d.app.screen is not d.main)
        await d.press("enter")
        await d.shows("The dashboard is read-only: no editor.")
        assert ran == []


def test_the_pager_is_kept_from_writing(ran, monkeypatch, tmp_path):
    class Requests:
        told = ""

        def show_refusal(self, words):
            self.told = words

    requests = Requests()
    monkeypatch.setattr("agentdash.tui.services.external_programs.shutil.which", lambda name: name)
    app = type("App", (), {"suspend": lambda self: nullcontext(), "screen": None})()
    programs = ExternalPrograms(app, requests, read_only=True)
    monkeypatch.delenv("PAGER", raising=False)
    programs.page(tmp_path)
    assert ran == [("less", "1")]
    monkeypatch.setenv("PAGER", "most")
    programs.page(tmp_path)
    assert (len(ran), "only less, not most" in requests.told) == (1, True)
