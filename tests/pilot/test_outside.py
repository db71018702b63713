"""Out of the dashboard and back: a shell and lazygit in the session's folder, and keys that act on a row."""

from contextlib import contextmanager
from pathlib import Path

import pytest
from msgspec import structs
from textual.app import App, SuspendNotSupported

from agentdash.sessions.model.session import Step, StepKind
from agentdash.sessions.settings.config import DashboardSettings
from agentdash.tui.dialogs.table.pick import PickScreen
from agentdash.tui.screens.changes import ChangesScreen
from agentdash.tui.screens.watch import WatchScreen
from agentdash.tui.services import external_programs
from pilot.examples import STEPS

SIZES = [(160, 45), (80, 24), (50, 24)]


class Outside:
    """The programs that had the terminal, each with its folder; the dashboard was suspended for each."""

    def __init__(self):
        self.ran = []
        self.suspensions = 0
        self.code = 0

    def run(self, argv, cwd=None):
        assert self.suspensions == len(self.ran) + 1
        self.ran.append((argv, cwd))
        return self.code


@pytest.fixture
def outside(monkeypatch, tmp_path, manager):
    found = Outside()

    @contextmanager
    def suspend(_):
        found.suspensions += 1
        yield

    monkeypatch.setattr(App, "suspend", suspend)
    monkeypatch.setattr(external_programs, "run", found.run)
    monkeypatch.setattr("agentdash.sessions.service.clipboard.usable_helper", lambda env: None)
    monkeypatch.setenv("SHELL", "/bin/bash")
    monkeypatch.setenv("PAGER", "cat")
    monkeypatch.setenv("VISUAL", "nano")
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    return found


@pytest.fixture
def installed(tmp_path):
    """Puts a program of this name into PATH."""

    def install(name):
        program = tmp_path / "bin" / name
        program.parent.mkdir(exist_ok=True)
        program.write_text("#!/bin/sh\n")
        program.chmod(0o755)

    for name in ("bash", "cat", "nano"):
        install(name)
    return install


@pytest.fixture
def folder(manager, tmp_path):
    """The folder of the first session."""
    work = tmp_path / "work"
    work.mkdir()
    manager.put(structs.replace(manager.get("waiting1"), cwd=str(work)))
    return work


def put_shell(monkeypatch, tmp_path):
    monkeypatch.setenv("SHELL", str(tmp_path / "bin" / "bash"))


@pytest.mark.parametrize("way", [(), ("enter",), ("enter", "enter")], ids=["table", "steps", "step"])
async def test_a_shell_opens_in_the_folder_and_leaves_the_keys_where_they_were(
    way, dashboard, outside, installed, folder, monkeypatch, tmp_path
):
    put_shell(monkeypatch, tmp_path)
    async with dashboard() as d:
        await d.shows("also add a regression test")
        await d.press(*way)
        focused = d.app.focused
        await d.press("exclamation_mark")
        await d.until(lambda: outside.ran == [([str(tmp_path / "bin" / "bash")], str(folder))])
        assert d.app.focused is focused


@pytest.mark.usefixtures("installed")
async def test_the_watch_screen_has_the_shell_of_the_focused_session(
    dashboard, outside, folder, monkeypatch, tmp_path, manager
):
    put_shell(monkeypatch, tmp_path)
    other = tmp_path / "other"
    other.mkdir()
    manager.put(structs.replace(manager.get("failed01"), cwd=str(other)))
    async with dashboard() as d:
        for sid in ("waiting1", "failed01"):
            await d.select(sid)
            await d.press("space")
        await d.press("vertical_line")
        await d.screen(WatchScreen)
        await d.press("exclamation_mark", "tab", "exclamation_mark")
        await d.until(lambda: [cwd for _, cwd in outside.ran] == [str(folder), str(other)])


async def test_the_changes_have_the_shell_and_lazygit_too(
    dashboard, outside, installed, folder, monkeypatch, tmp_path, manager
):
    put_shell(monkeypatch, tmp_path)
    installed("lazygit")
    (folder / ".git").mkdir()
    async with dashboard() as d:
        await d.press("c")
        screen = await d.screen(ChangesScreen)
        await d.press("exclamation_mark", "ctrl+g")
        await d.until(lambda: [cwd for _, cwd in outside.ran] == [str(folder)] * 2)
        assert d.app.screen is screen


@pytest.mark.usefixtures("installed", "folder")
async def test_a_shell_whose_last_command_failed_is_no_error(dashboard, outside, monkeypatch, tmp_path):
    put_shell(monkeypatch, tmp_path)
    outside.code = 1
    async with dashboard() as d:
        await d.press("exclamation_mark")
        await d.until(lambda: outside.ran)
        assert "exit code" not in d.text()


@pytest.mark.usefixtures("installed", "folder")
async def test_a_read_only_dashboard_opens_none_of_them(dashboard, outside, monkeypatch, tmp_path):
    put_shell(monkeypatch, tmp_path)
    async with dashboard(settings=DashboardSettings(read_only=True)) as d:
        await d.press("exclamation_mark", "ctrl+g")
        await d.shows("The dashboard is read-only.")
        assert not outside.ran


@pytest.fixture
def gone(manager, monkeypatch):
    """Remove the folder of the first session."""
    monkeypatch.chdir("/")
    Path(manager.get("waiting1").cwd).rmdir()


@pytest.mark.parametrize("key", ["exclamation_mark", "ctrl+g"])
@pytest.mark.usefixtures("gone")
async def test_a_folder_that_is_gone_is_named(key, dashboard, outside, installed):
    installed("lazygit")
    async with dashboard() as d:
        await d.press(key)
        await d.shows("No such folder: ~/code/api.")
        assert not outside.ran


async def test_lazygit_opens_in_a_repository(dashboard, outside, installed, folder):
    installed("lazygit")
    (folder.parent / ".git").mkdir()
    async with dashboard() as d:
        await d.press("ctrl+g")
        await d.until(lambda: outside.ran == [(["lazygit"], str(folder))])


@pytest.mark.usefixtures("outside", "folder")
async def test_lazygit_that_is_not_installed_is_named(dashboard, installed):
    async with dashboard() as d:
        await d.press("ctrl+g")
        await d.shows("lazygit is not installed")


@pytest.mark.usefixtures("outside")
async def test_a_folder_without_git_is_named(dashboard, installed, manager):
    installed("lazygit")
    manager.put(structs.replace(manager.get("waiting1"), cwd="/usr"))
    async with dashboard() as d:
        await d.press("ctrl+g")
        await d.shows("Not in a git repository: /usr.")


@pytest.mark.usefixtures("installed", "folder")
async def test_a_terminal_that_cannot_be_suspended_is_named(dashboard, outside, monkeypatch, tmp_path):
    put_shell(monkeypatch, tmp_path)

    def refuse(_):
        raise SuspendNotSupported

    monkeypatch.setattr(App, "suspend", refuse)
    async with dashboard() as d:
        await d.press("exclamation_mark")
        await d.shows("Cannot give the terminal to")
        assert not outside.ran


@pytest.fixture
def resumes(manager):
    """The command that resumes the first session."""
    manager.put(structs.replace(manager.get("waiting1"), agent_session="0199a213-2222-4333-8444-555555555555"))
    return manager.reader.resume_command("waiting1").command


async def test_the_copy_menu_has_the_command_that_resumes_the_session(dashboard, outside, resumes):
    async with dashboard() as d:
        await d.shows("also add a regression test")
        await d.press("Y")
        await d.screen(PickScreen)
        await d.shows("resume command   cd /")
        await d.press("up", "enter")
        await d.until(lambda: d.app.clipboard == resumes)
        assert " && codex resume " in resumes
        assert "0199a213" in resumes
        assert d.app.focused is d.main.table


async def test_the_command_line_copies_it_too(dashboard, outside, resumes):
    async with dashboard() as d:
        await d.press("colon", *"resume_command", "enter")
        await d.until(lambda: d.app.clipboard == resumes)


async def test_a_session_without_such_a_command_says_why(dashboard, outside, manager):
    manager.put(structs.replace(manager.get("waiting1"), agent="command"))
    async with dashboard() as d:
        await d.shows("also add a regression test")
        await d.press("Y")
        await d.screen(PickScreen)
        await d.press("up", "enter")
        await d.shows("A plain command has no conversation to resume.")
        assert not d.app.clipboard


@pytest.mark.parametrize("size", SIZES)
async def test_y_copies_the_last_answer_of_the_selected_row(size, dashboard, outside):
    async with dashboard(size=size) as d:
        await d.press("y")
        await d.until(lambda: d.app.clipboard.startswith("The test read the real clock."))
        assert d.app.clipboard.endswith("Nothing else depends on it.")
        assert d.app.focused is d.main.table


async def test_the_answer_is_the_agents_own_and_the_newest(dashboard, outside, manager):
    manager.tell("waiting1", [
        Step(turn=1, index=0, kind=StepKind.PROMPT, text="task"),
        Step(turn=1, index=1, kind=StepKind.MESSAGE, text="first"),
        Step(turn=2, index=0, kind=StepKind.PROMPT, text="more"),
        Step(turn=2, index=1, kind=StepKind.MESSAGE, text="second"),
        Step(turn=2, index=2, kind=StepKind.MESSAGE, text="of a sub-agent", parent="tool_1"),
        Step(turn=2, index=3, kind=StepKind.NOTICE, text="noise"),
    ])  # fmt: skip
    async with dashboard() as d:
        await d.press("y")
        await d.until(lambda: d.app.clipboard == "second")


@pytest.mark.usefixtures("outside")
async def test_an_answer_is_copied_as_it_is_although_a_screen_in_ascii_shows_twins(dashboard, manager):
    answer = "✓ größer → 修复 end"
    prompt = Step(turn=1, index=0, kind=StepKind.PROMPT, text="task")
    manager.tell("waiting1", [prompt, Step(turn=1, index=1, kind=StepKind.MESSAGE, text=answer)])
    async with dashboard(plain_ascii=True) as d:
        await d.shows("* + gr??er > ???? end")
        await d.press("y")
        await d.until(lambda: d.app.clipboard == answer)


async def test_without_an_answer_its_error_is_copied(dashboard, outside, manager):
    manager.tell("waiting1", [Step(turn=1, index=1, kind=StepKind.ERROR, text="401 invalid api key", fatal=True)])
    async with dashboard() as d:
        await d.press("y")
        await d.until(lambda: d.app.clipboard == "401 invalid api key")


@pytest.mark.parametrize("key", ["y", "o", "e"])
async def test_a_session_that_said_nothing_has_no_answer(key, dashboard, outside):
    async with dashboard() as d:
        await d.select("done0001")
        await d.press(key)
        await d.shows("No answer yet.")
        assert d.manager.get("done0001").seen_at is None
        assert not outside.ran
        assert not d.app.clipboard


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.usefixtures("installed")
async def test_pager_editor_and_file_open_from_the_table(size, dashboard, outside):
    async with dashboard(size=size) as d:
        for number, (key, program, file) in enumerate(
            [("o", "cat", "turn-1-step-6.txt"), ("e", "nano", ""), ("O", "cat", "waiting1/turns/turn_1.jsonl")], 1
        ):
            await d.press(key)
            await d.until(lambda count=number: len(outside.ran) == count)
            argv, _ = outside.ran[-1]
            assert (argv[0], argv[-1].endswith(file)) == (program, True)
        assert d.app.focused is d.main.table


@pytest.mark.parametrize("key", ["o", "e"])
@pytest.mark.usefixtures("installed")
async def test_an_answer_that_was_read_elsewhere_is_read(key, dashboard, outside, manager):
    manager.tell("done0001", [Step(turn=1, index=1, kind=StepKind.MESSAGE, text="Done.")])
    async with dashboard() as d:
        await d.select("done0001")
        await d.press("y")
        await d.until(lambda: d.app.clipboard == "Done.")
        assert manager.get("done0001").seen_at is None
        await d.press(key)
        await d.until(lambda: manager.get("done0001").seen_at is not None)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("close", ["escape", "equals_sign"])
async def test_why_opens_from_the_table_and_goes_back_there(close, size, dashboard):
    async with dashboard(size=size) as d:
        await d.press("equals_sign")
        await d.shows("the agent asked a question")
        await d.press(close)
        await d.until(lambda: d.app.focused is d.main.table)
        assert "the agent asked a question" not in d.text()
        await d.shows("add dark mode")


async def test_why_opens_also_from_a_table_that_is_alone(dashboard):
    async with dashboard(alone=True) as d:
        await d.press("equals_sign")
        await d.shows("the agent asked a question")
        await d.press("escape")
        await d.until(lambda: d.app.focused is d.main.table)
        await d.shows("add dark mode")


async def test_why_that_was_opened_from_the_steps_goes_back_there(dashboard):
    async with dashboard() as d:
        await d.press("equals_sign", "escape", "enter", "equals_sign")
        await d.shows("the agent asked a question")
        await d.press("escape")
        await d.until(lambda: d.app.focused is d.main.detail.steps)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("close", ["escape", "c"])
async def test_changes_open_from_the_table_and_go_back_there(close, size, dashboard, manager):
    manager.tell("waiting1", STEPS[:3])
    async with dashboard(size=size) as d:
        await d.press("c")
        await d.screen(ChangesScreen)
        await d.shows("No changes.")
        await d.press(close)
        await d.until(lambda: d.app.screen is d.main)
        assert d.app.focused is d.main.table


async def test_changes_that_were_opened_from_the_steps_go_back_there(dashboard):
    async with dashboard() as d:
        await d.press("enter", "c")
        await d.screen(ChangesScreen)
        await d.press("c")
        await d.until(lambda: d.app.screen is d.main)
        assert d.app.focused is d.main.detail.steps


@pytest.mark.parametrize("size", SIZES)
async def test_the_step_of_a_file_is_shown_also_if_the_changes_were_opened_from_the_table(size, dashboard, manager):
    manager.tell("waiting1", STEPS[:9])
    async with dashboard(size=size) as d:
        await d.press("c")
        await d.screen(ChangesScreen)
        await d.shows("src/clock.py")
        await d.press("number_sign")
        await d.until(lambda: d.app.focused is d.main.detail.steps)
        await d.until(lambda: d.main.detail.steps.cursor == 3)
        assert not d.main.detail.steps.following
        await d.until(
            lambda: any("▌" in line and "± src/clock.py" in line for line in d.text().split("\n")), "the step"
        )


async def test_a_name_means_the_row_or_the_step_by_the_place_that_has_the_keys(dashboard, outside):
    async with dashboard() as d:
        await d.shows("also add a regression test")
        await d.press("colon", *"copy", "enter")
        await d.until(lambda: d.app.clipboard.startswith("The test read the real clock."))
        await d.press("enter", "g g", "colon", *"copy", "enter")
        await d.until(lambda: d.app.clipboard.startswith("fix the flaky login test"))


@pytest.mark.parametrize("read_only", [False, True])
async def test_without_a_session_a_key_of_a_row_says_so(read_only, dashboard, manager):
    manager.empty()
    async with dashboard(settings=DashboardSettings(read_only=read_only)) as d:
        await d.press("y")
        await d.shows("No session selected.")
        await d.press("exclamation_mark")
        await d.shows("The dashboard is read-only." if read_only else "No session selected.")
