"""Presets in the dialog that starts a session."""

import pytest
from msgspec import structs

from agentdash.sessions.model.errors import UsageError
from agentdash.tui.dialogs.starting.new_session import NewSessionScreen
from pilot.house import failing

PRESETS = """
[presets.review]
agent = "claude"
model = "opus"
cwd = "~/code/web"
prompt = "Review {prompt}. Change nothing."
options = { permission_mode = "plan", args = ["--verbose"] }
limits = { tokens = 500 }
[presets.fix]
prompt = "Fix the tests."
copies = 3
[presets.danger]
agent = "codex"
options = { full_danger = true }
"""
BRIEF = """
[presets.brief]
agent = "codex"
prompt = "go"
options = { instructions = "Be brief.\\nNever guess.", search = true }
"""


@pytest.fixture
def presets(manager):
    """Presets in the settings."""
    manager.configure(PRESETS)


async def test_without_presets_there_is_no_such_row(dashboard):
    async with dashboard() as d:
        await d.press("n")
        await d.screen(NewSessionScreen)
        await d.shows("New session")
        assert "(none)" not in d.text()


@pytest.mark.usefixtures("presets")
async def test_a_preset_fills_the_fields_and_the_text_goes_where_it_belongs(dashboard):
    async with dashboard() as d:
        await d.press("n")
        await d.screen(NewSessionScreen)
        await d.shows("[(none)]")
        await d.press(*"the diff", "shift+tab", "right")
        await d.shows("[review]")
        await d.shows("Review the diff. Change nothing.")
        await d.shows("[plan]")
        await d.press("tab", *" of today", "enter")
        options = {"permission_mode": "plan", "args": ["--verbose"], "limits": {"tokens": 500}}
        await d.begun("Review the diff of today. Change nothing.", "claude", "opus", "/home/ann/code/web", options)


async def test_the_instructions_and_the_search_of_a_preset_fill_their_fields_and_stay_as_they_are(dashboard, manager):
    own = {"instructions": "Be brief.\nNever guess.", "search": True}
    manager.configure(BRIEF)
    async with dashboard() as d:
        await d.press("n")
        await d.screen(NewSessionScreen)
        await d.press("shift+tab", "right")
        await d.shows("Be brief. Never guess.")
        await d.shows(" default  [on]  off")
        await d.press("enter")
        await d.begun("go", "codex", None, "/home/ann/code/api", own)


@pytest.mark.usefixtures("presets")
async def test_another_preset_takes_over_what_was_written(dashboard):
    async with dashboard() as d:
        await d.press("n")
        screen = await d.screen(NewSessionScreen)
        await d.press("shift+tab", "right", "tab", *"it", "shift+tab")
        await d.shows("Review it. Change nothing.")
        await d.press("right")
        await d.until(lambda: screen.fields.prompt.text == "Fix the tests.\n\nit")
        await d.shows("[codex]")
        await d.press("left", "left")
        await d.until(lambda: screen.fields.prompt.text == "it")
        await d.press("right", "right", "enter")
        await d.until(lambda: [one.task for one in d.manager.begun()] == ["Fix the tests.\n\nit"] * 3)


@pytest.mark.usefixtures("presets")
async def test_what_is_chosen_by_hand_wins_over_the_preset(dashboard):
    async with dashboard() as d:
        await d.press("n")
        screen = await d.screen(NewSessionScreen)
        await d.press(*"go", "shift+tab", "right", "right", "right")
        await d.shows("No sandbox, no approvals")
        await d.shows("[no-sandbox]")
        await d.press("tab", "tab", "tab", "right")  # the last value is an end
        await d.shows("[no-sandbox]")
        await d.press("left", "left", "left")
        await d.shows("[read-only]")
        await d.until(lambda: not screen._danger.display)
        await d.press("enter")
        await d.begun("go", "codex", None, "/home/ann/code/api", {"sandbox": "read-only"})


@pytest.mark.usefixtures("presets")
async def test_a_preset_whose_agent_is_missing_says_so(dashboard, tmp_path):
    (tmp_path / "programs" / "claude").unlink()
    async with dashboard() as d:
        await d.press("n")
        await d.screen(NewSessionScreen)
        await d.press("shift+tab", "right")
        await d.shows("claude is not installed: using another agent.")


async def test_a_limit_that_acts_late_is_told_above_the_keys_and_the_sentence_stays(dashboard, manager, monkeypatch):
    plan = manager.reader.plan
    warning = "The tokens limit is checked only when a turn ends."
    monkeypatch.setattr(manager.reader, "plan", lambda start: structs.replace(plan(start), warnings=(warning,)))
    async with dashboard() as d:
        await d.press("n")
        await d.screen(NewSessionScreen)
        await d.shows(warning)
        await d.shows("codex, a process for each turn")


async def test_a_limit_that_can_never_act_is_told_and_the_dialog_stays(dashboard, manager, monkeypatch):
    async with dashboard() as d:
        await d.press("n")
        await d.screen(NewSessionScreen)
        monkeypatch.setattr(manager, "spawn", failing(UsageError("The cost limit cannot work.")))
        await d.press(*"go", "enter")
        await d.shows("The cost limit cannot work.")
        dialog = await d.screen(NewSessionScreen)
        assert dialog.fields.prompt.text == "go"
