"""The screen of changes: the net result first, its keys, and a prompt about a place in a diff."""

import subprocess
from pathlib import Path

import pytest

from agentdash.sessions.model.session import Change, Step, StepKind, StepStatus
from agentdash.sessions.runner.git import start_state
from agentdash.sessions.service.changes.model import SessionChanges
from agentdash.sessions.settings.config import DashboardSettings
from agentdash.tui.dialogs.help import HelpScreen
from agentdash.tui.screens.changes import ChangesScreen
from pilot.examples import STEPS
from pilot.gate import Gate
from pilot.house import here

SIZES = [(160, 45), (120, 35), (80, 24), (50, 24)]


@pytest.mark.parametrize("size", [(160, 45), (80, 24), (50, 24)])
async def test_without_edits_it_says_so_and_is_not_reading_for_ever(dashboard, manager, monkeypatch, size):
    read = Gate()
    monkeypatch.setattr(
        manager.reader.steps, "changes_of", lambda ref: read.wait() and SessionChanges(session=ref, cwd="/home/ann")
    )
    async with dashboard(size=size) as d:
        await d.press("enter", "c")
        await d.screen(ChangesScreen)
        await d.shows("reading…")
        read.set()
        await d.shows("No changes.")
        await d.until(lambda: "reading" not in d.text())


def edit(index, path, diff):
    change = Change(path=path, kind="update", diff=diff)
    return Step(turn=1, index=index, kind=StepKind.FILE_CHANGE, changes=(change,), status=StepStatus.OK)


@pytest.fixture
def project(manager, monkeypatch, tmp_path, require_tool):
    """The repository of the session, which changed ``notes.txt`` in two edits, and made ``new.txt`` by a command."""
    require_tool("git")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "no-settings"))
    folder = Path(here("/home/ann/code/api"))
    (folder / "notes.txt").write_text("one\n")
    (folder / "mine.txt").write_text("of the user\n")
    for words in (["init", "-q"], ["add", "notes.txt"], ["commit", "-q", "-m", "first"]):
        who = ["-c", "user.name=Ann", "-c", "user.email=ann@example.org"]
        subprocess.run(["git", "-C", str(folder), *who, *words], check=True, capture_output=True)
    start_state.record(manager.layout.session("waiting1"), str(folder))
    (folder / "notes.txt").write_text("one\ntwo, edited\nthree\n")
    (folder / "new.txt").write_text("needle 1\nhay\nNeedle 2\n")
    edits = [
        edit(3, "notes.txt", "@@ -1 +1,3 @@\n one\n+two\n+three\n"),
        edit(4, "notes.txt", "@@ -2 +2 @@\n-two\n+two, edited\n"),
    ]
    manager.tell("waiting1", [*STEPS[:3], *edits])
    return folder


async def opened(d, *keys):
    """Open the screen from the table, and press further keys once the first diff is there."""
    await d.press("c")
    screen = await d.screen(ChangesScreen)
    await d.shows("notes.txt")
    await d.until(lambda: screen.pane.count() > 3, "the diff")
    await d.press(*keys)
    return screen


@pytest.mark.parametrize("size", SIZES)
async def test_the_net_result_comes_first_and_then_the_edits(dashboard, project, size):
    async with dashboard(size=size) as d:
        screen = await opened(d, "enter")
        await d.until(lambda: screen.pane.has_focus)
        await d.shows("net · +2 -0")
        text = d.text()
        assert text.index("net · +2 -0") < text.index("turn 1 step 3") < text.index("turn 1 step 4")
        assert "mine.txt" not in text
        if size[0] > 100:
            assert "net: 2 files  +5 -0  since the session's start" in text
            assert "by a command or others" in text


async def test_at_120_columns_the_list_is_as_high_as_its_files_and_the_title_is_whole(dashboard, project):
    async with dashboard(size=(160, 45)) as d:
        await opened(d)
        title = next(line for line in d.text().split("\n") if "net: 2 files" in line)
        assert "…" not in title
    async with dashboard(size=(120, 35)) as d:
        screen = await opened(d)
        await d.until(lambda: screen.files.size.height == 2)


async def test_j_and_k_go_to_the_other_file_from_both_parts(dashboard, project):
    async with dashboard() as d:
        screen = await opened(d, "J")
        await d.shows("needle 1")
        await d.press("K", "enter", "J")
        await d.until(lambda: screen.files.cursor == 1 and screen.pane.has_focus)
        await d.shows("needle 1")
        await d.press("K")
        await d.until(lambda: screen.files.cursor == 0 and screen.pane.has_focus)


@pytest.mark.parametrize("size", SIZES)
async def test_a_search_goes_from_match_to_match_and_escape_ends_it(dashboard, project, size):
    async with dashboard(size=size) as d:
        screen = await opened(d, "J")
        await d.until(lambda: screen.pane.count() == 6)
        await d.press("slash", *"needle", "enter")
        await d.shows("/ needle  1 of 2")
        await d.press("n")
        await d.shows("/ needle  2 of 2")
        await d.press("n")
        await d.shows("/ needle  1 of 2")
        await d.press("N")
        await d.shows("/ needle  2 of 2")
        await d.press("escape")
        await d.until(lambda: not screen.pane.needle and screen.pane.has_focus)
        await d.press("slash", *"Needle", "enter")
        await d.shows("/ Needle  1 of 1")
        await d.press("escape", "escape", "escape")
        await d.until(lambda: d.app.screen is d.main)


async def test_a_search_without_a_match_says_so_and_one_that_is_left_changes_nothing(dashboard, project):
    async with dashboard() as d:
        screen = await opened(d, "slash", *"nothing", "enter")
        await d.shows("/ nothing  not found in this file")
        await d.press("n", "escape", "slash", "x", "escape")
        await d.until(lambda: screen.pane.has_focus)
        assert not screen.pane.needle
        assert d.app.screen is screen


async def test_help_has_each_key_of_the_screen_once(dashboard, project):
    async with dashboard() as d:
        await opened(d, "question_mark")
        screen = await d.screen(HelpScreen)
        sections = dict(screen._sections)
        assert list(sections) == ["changed files", "diffs of a file", "always"]
        keys = [key for named, _ in sections["changed files"] for key in named.split("  ")]
        assert {"J", "K", "/", "n", "N", "i", "?"} <= set(keys)
        assert len(keys) == len(set(keys))
        await d.press("escape")
        await d.screen(ChangesScreen)


@pytest.mark.parametrize("size", SIZES)
async def test_a_prompt_quotes_the_file_and_the_lines_and_leads_back(dashboard, manager, project, size):
    async with dashboard(size=size) as d:
        screen = await opened(d, "enter", "i")
        box = screen.prompt.input
        quoted = "notes.txt:2\n> +two, edited\n> +three\n"
        await d.until(lambda: box.has_focus and box.text == quoted)
        assert box.cursor_location == (3, 0)
        await d.press(*"why", "escape")
        await d.until(lambda: screen.pane.has_focus)
        await d.until(lambda: d.app._operations.desk.drafts.get("waiting1") == quoted + "why")
        await d.press("escape", "escape")
        await d.until(lambda: d.app.screen is d.main)
        assert d.main.detail.prompt.input.text == quoted + "why"


async def test_a_prompt_is_sent_and_the_changes_are_shown_again(dashboard, manager, project):
    async with dashboard() as d:
        screen = await opened(d, "J")
        await d.until(lambda: screen.pane.count() == 6)
        await d.press("enter", "slash", *"hay", "enter")
        await d.shows("/ hay  1 of 1")
        await d.press("i", *"why?", "enter")
        await d.until(lambda: manager.asked_of("waiting1")[-1:] == ["new.txt:2\n> +hay\nwhy?"])
        await d.until(lambda: screen.pane.has_focus and d.app.screen is screen)
        assert screen.prompt.input.text == ""


async def test_a_quoted_line_names_no_file_that_the_agent_would_read(dashboard, manager, project):
    agent = manager.get("waiting1").agent
    sign = {"claude": "@/etc/passwd", "codex": "$skill"}[agent]
    (project / "notes.txt").write_text(f"one\nsee {sign}\n")
    async with dashboard() as d:
        screen = await opened(d, "i")
        await d.until(lambda: screen.prompt.input.text.startswith("notes.txt:2\n> +see "))
        assert sign not in screen.prompt.input.text


async def test_a_read_only_dashboard_writes_no_prompt_about_a_place(dashboard, project):
    async with dashboard(settings=DashboardSettings(read_only=True)) as d:
        screen = await opened(d, "i")
        await d.shows("read-only")
        assert not screen.has_class("-writing")


async def test_a_session_without_a_recorded_start_says_what_it_is_compared_with(dashboard, manager, project):
    manager.layout.session("waiting1").start.unlink()
    async with dashboard() as d:
        await opened(d)
        await d.shows("against HEAD (the session's start was not recorded)")
        await d.shows("mine.txt")
