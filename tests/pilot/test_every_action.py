"""Every action of the registry by its first default key: an action without a scenario here fails.

A scenario presses keys by the names of their actions, so that it follows the registry, and says what a user would see.
"""

import os
from contextlib import nullcontext

import pytest
from msgspec import structs
from textual.app import App

from agentdash.sessions.model.session import Change, Status, Step, StepKind
from agentdash.sessions.service.lifecycle.starts.continue_plan import GO_ON
from agentdash.tui.dialogs.asking.confirm import ConfirmScreen
from agentdash.tui.dialogs.asking.conversation import ConversationScreen
from agentdash.tui.dialogs.asking.naming import RenameScreen, SaveScreen
from agentdash.tui.dialogs.command import CommandScreen
from agentdash.tui.dialogs.help import HelpScreen
from agentdash.tui.dialogs.log import LogScreen
from agentdash.tui.dialogs.processes import ProcessesScreen
from agentdash.tui.dialogs.queue import QueueScreen
from agentdash.tui.dialogs.starting.new_session import ContinueScreen, NewSessionScreen
from agentdash.tui.dialogs.table.columns import ColumnsScreen, ViewsScreen
from agentdash.tui.dialogs.table.pick import FindScreen, PickScreen
from agentdash.tui.keys.actions import REGISTRY
from agentdash.tui.screens import usage as usage_screen
from agentdash.tui.screens.changes import ChangesScreen
from agentdash.tui.screens.main import MainScreen
from agentdash.tui.screens.settings import SettingsScreen
from agentdash.tui.screens.usage import UsageScreen
from agentdash.tui.screens.watch import WatchScreen
from agentdash.tui.services import external_programs, pager_editor
from agentdash.widgets.document.document_pane import DocumentPane
from agentdash.widgets.steps.filtered_steps import GROUPS
from pilot.examples import TALK, command, session
from pilot.house import here
from pilot.month import MONTH, TODAY
from pilot.test_asks import drawn as drawn_card

SCENARIOS = {}


def scenario(*names, size=(160, 45)):
    """Says that a function shows what these actions do."""

    def keep(function):
        SCENARIOS[function.__name__] = (function, names, size)
        return function

    return keep


class Keys:
    """Presses keys by the names of their actions."""

    def __init__(self, d):
        self.d = d

    async def __call__(self, *names):
        for name in names:
            await self.d.press(REGISTRY[name].named[0])

    async def read(self):
        """Into the steps of the first session, at their beginning."""
        await self("table.open")
        await self.d.shows("also add a regression test")
        await self("steps.first")
        await self.d.until(lambda: self.d.steps.cursor == 0)


@pytest.fixture
def programs(monkeypatch):
    """What was run in the terminal."""
    ran = []
    monkeypatch.setattr(
        external_programs.ExternalPrograms, "_run", lambda self, argv, folder=None, **_: ran.append(list(argv))
    )
    monkeypatch.setattr(pager_editor, "run", lambda argv, cwd, **_: ran.append(list(argv)) or 0)
    monkeypatch.setattr(App, "suspend", lambda _: nullcontext())
    monkeypatch.setenv("PAGER", "less")
    monkeypatch.setenv("VISUAL", "nano")
    return ran


@pytest.fixture(autouse=True)
def today(monkeypatch):
    monkeypatch.setattr(usage_screen, "day_of", lambda _: TODAY)


def test_every_action_has_a_scenario_and_every_scenario_is_about_actions_that_exist():
    assert {name for _, names, _ in SCENARIOS.values() for name in names} == set(REGISTRY)


def all_scenarios():
    return [pytest.param(*SCENARIOS[name], id=name) for name in SCENARIOS]


@scenario("new_session")
async def starts_a_session(d, keys):
    await keys("new_session")
    await d.screen(NewSessionScreen)


@scenario("new_like")
async def starts_one_like_the_selected(d, keys):
    d.manager.give("stopped1", {"sandbox": "read-only"})
    await d.select("stopped1")
    await keys("new_like")
    await d.screen(NewSessionScreen)
    await d.will_run("-s read-only")


@scenario("new_after", "wait_for", "start_waiting")
async def starts_one_after_the_selected(d, keys):
    await d.select("running1")
    await keys("new_after")
    await d.screen(NewSessionScreen)
    await d.shows("after        running1")
    await d.press("escape")
    d.manager.put(session("waits001", Status.QUEUED, "wait for it", created=9, after="running1"))
    await d.shows("wait for it")
    await d.select("waits001")
    await keys("wait_for")
    await d.screen(PickScreen)
    await d.press("escape")
    await keys("start_waiting")
    await d.until(lambda: d.manager.get("waits001").after is None)


@scenario("continue")
async def continues_a_session(d, keys):
    d.manager.tell("stopped1", TALK)
    await d.select("stopped1")
    await keys("continue")
    await d.screen(ContinueScreen)
    await d.shows("reads 6 messages of codex as text")
    await d.press("enter")
    await d.begun(GO_ON, "claude", None, "/home/ann/code/api", {})


@scenario("write_prompt", "prompt.send", "prompt.new_line", "prompt.earlier", "prompt.later", "prompt.leave")
async def writes_a_prompt(d, keys):
    await d.select("done0001")
    await keys("write_prompt")
    text = d.main.detail.prompt.input
    await d.until(lambda: text.earlier._texts)
    await d.press("a")
    await keys("prompt.earlier")
    assert text.text == d.manager.reader.recent_prompts()[0]
    await keys("prompt.later")
    assert text.text == "a"
    await keys("prompt.new_line")
    await d.press("b")
    await keys("prompt.leave")
    assert d.app.focused is d.main.table
    await keys("write_prompt", "prompt.send")
    await d.sent("done0001", "a\nb")


@scenario("prompt.send_next")
async def replies_and_goes_on_to_the_next(d, keys):
    await d.select("done0001")
    await keys("write_prompt")
    await d.press(*"go on")
    await keys("prompt.send_next")
    await d.sent("done0001", "go on")
    assert d.main.table.selected.id == "waiting1"
    assert d.app.focused is d.main.table


@scenario("prompt.interrupt")
async def interrupts_and_sends(d, keys):
    await d.select("running1")
    await keys("write_prompt")
    await d.press(*"stop that")
    await keys("prompt.interrupt")
    await d.requested("running1", "stop")
    await d.sent("running1", "stop that")


@scenario("prompt.mode")
async def chooses_the_next_mode_for_a_prompt(d, keys):
    await d.select("done0001")
    await keys("write_prompt", "prompt.mode")
    await d.shows("(turn 4) auto ──")


@scenario("prompt.search")
async def searches_earlier_prompts(d, keys):
    await d.select("done0001")
    await keys("write_prompt", "prompt.search")
    await d.screen(FindScreen)
    await d.shows("Earlier prompts")


@scenario("prompt.editor")
async def writes_the_prompt_in_the_editor(d, keys):
    await d.select("done0001")
    await keys("write_prompt", "prompt.editor")
    await d.until(lambda: [argv[0] for argv in d.programs] == ["nano"])


@scenario("template")
async def writes_from_a_template(d, keys):
    d.manager.configure('[templates.rebase]\ntext = "Rebase {title}."\n')
    await d.select("done0001")
    await keys("template")
    await d.screen(FindScreen)
    await d.press("enter")
    await d.shows("Rebase write the migration.")


@scenario("interrupt_turn")
async def interrupts_after_a_question(d, keys):
    await d.select("running1")
    await keys("interrupt_turn")
    await d.screen(ConfirmScreen)


@scenario("answer")
async def shows_what_an_agent_asks(d, keys):
    d.manager.ask("running1", command())
    await d.shows("?1")
    await keys("answer")
    await drawn_card(d)
    await d.shows("rm -rf build")


@scenario("to_lead")
async def goes_to_the_step_of_the_lead(d, keys):
    d.manager.put(session("worker01", Status.RUNNING, "a part of it", created=0, parent="running1"))
    await d.until(lambda: d.main.table.session("worker01") is not None)
    await d.select("worker01")
    await keys("to_lead")
    await d.until(lambda: d.main.current.id == "running1")


@scenario("queue")
async def shows_the_queue(d, keys):
    d.manager.enqueue("running1", "then the docs")
    await d.select("running1")
    await d.shows("1 queued, after turn 1")
    await keys("queue")
    await d.screen(QueueScreen)


@scenario("stop")
async def stops_after_a_question(d, keys):
    await d.select("running1")
    await keys("stop")
    await d.screen(ConfirmScreen)


@scenario("kill")
async def kills_at_once(d, keys):
    await d.select("running1")
    await keys("kill")
    await d.requested("running1", "kill")


@scenario("retry")
async def tries_again(d, keys):
    await d.select("failed01")
    await keys("retry")
    await d.sent("failed01", "task of failed01")


@scenario("delete", "undo")
async def deletes_and_brings_back(d, keys):
    await d.select("stopped1")
    await keys("delete")
    await d.screen(ConfirmScreen)
    await d.press("y")
    await d.until(lambda: d.manager.trash() == {"stopped1"})
    await d.until(lambda: d.app.screen is d.main)
    await keys("undo")
    await d.until(lambda: d.manager.trash() == set())


@scenario("retry_failed")
async def tries_all_failures_again(d, keys):
    d.manager.put(session("failed02", Status.FAILED, "another failure", created=0))
    await d.shows("another failure")
    await d.select("done0001")
    await keys("retry_failed")
    await d.shows("Retry 2 sessions?")
    await d.press("y")
    await d.sent("failed01", "task of failed01")
    await d.sent("failed02", "task of failed02")


@scenario("table.archived", "table.trash")
async def shows_sessions_that_were_put_away(d, keys):
    await keys("table.archived")
    await d.shows("/is:archived")
    await keys("table.trash")
    await d.shows("/is:deleted")


@scenario("table.export")
async def exports_from_the_table(d, keys):
    await d.select("done0001")
    await keys("table.export")
    await d.screen(SaveScreen)


@scenario("table.fork", "table.compact")
async def asks_about_the_conversation_from_the_table(d, keys):
    d.manager.tell("stopped1", TALK)
    await d.select("stopped1")
    for name in ("table.fork", "table.compact"):
        await keys(name)
        await d.screen(ConversationScreen)
        await d.press("escape")
        await d.until(lambda: d.app.screen is d.main)


@scenario("archive")
async def puts_away(d, keys):
    await d.select("done0001")
    await keys("archive")
    await d.until(lambda: d.manager.archived() == {"done0001"})


@scenario("rename")
async def gives_another_title(d, keys):
    await keys("rename")
    await d.screen(RenameScreen)


@scenario("pin")
async def keeps_above_the_others(d, keys):
    await d.select("stopped1")
    await keys("pin")
    await d.until(lambda: d.manager.get("stopped1").pinned_at is not None)


@scenario("mark_read")
async def marks_read_and_unread(d, keys):
    await d.select("done0001")
    await keys("mark_read")
    await d.until(lambda: d.main.table.session("done0001").all_seen)
    await keys("mark_read")
    await d.until(lambda: not d.main.table.session("done0001").all_seen)


@scenario("table.density")
async def changes_the_lines_of_each_session(d, keys):
    await keys("table.density")
    await d.shows("One line per session.")
    await d.shows("add dark mode · 401 invalid api key")


@scenario("settings")
async def shows_the_settings(d, keys):
    await keys("settings")
    await d.screen(SettingsScreen)


@scenario("processes")
async def shows_processes(d, keys):
    await d.select("running1")
    await keys("processes")
    await d.screen(ProcessesScreen)


@scenario("trust")
async def shows_the_settings_of_the_folder(d, keys):
    await keys("trust")
    await d.shows("No .agentdash.toml in")


@scenario("beside", "table.mark")
async def shows_marked_sessions_side_by_side(d, keys):
    await keys("table.mark", "table.down", "table.mark", "beside")
    screen = await d.screen(WatchScreen)
    assert len(screen.details) == 2


@scenario("table.down", "table.up", "table.first", "table.last", "table.page_down", "table.page_up")
async def moves_in_the_table(d, keys):
    seen = []
    for name in ("table.down", "table.up", "table.last", "table.first", "table.page_down", "table.page_up"):
        await keys(name)
        seen.append(d.main.table.selected.id)
    assert seen == ["failed01", "waiting1", "stopped1", "waiting1", "stopped1", "waiting1"]


@scenario("table.open", "back")
async def opens_and_goes_back(d, keys):
    await keys("table.open")
    assert d.app.focused is d.steps
    await keys("back")
    assert d.app.focused is d.main.table


@scenario("next_pane", "previous_pane")
async def goes_round(d, keys):
    await keys("next_pane")
    assert d.app.focused is d.steps
    await keys("previous_pane")
    assert d.app.focused is d.main.table


@scenario("follow")
async def follows(d, keys):
    assert d.steps.following
    await keys("follow")
    await d.shows("follow: off (z F)")


@scenario("table.filter")
async def filters(d, keys):
    await keys("table.filter")
    await d.press(*"state:failed", "enter")
    await d.until(lambda: [one.id for one in d.main.table.on_screen] == ["failed01"])


@scenario("table.all", "table.needs_you", "table.at_work", "table.failed", "table.done", "table.queued")
async def shows_sessions_of_a_state(d, keys):
    for name, count in (("needs_you", 2), ("at_work", 2), ("failed", 1), ("done", 1), ("queued", 0), ("all", 5)):
        await keys(f"table.{name}")
        await d.until(lambda count=count: len(d.main.table.on_screen) == count, name)


@scenario("table.here")
async def shows_one_folder(d, keys):
    await keys("table.here")
    await d.shows("only ~/code/api")


@scenario("table.sort", "table.reverse")
async def chooses_an_order(d, keys):
    await keys("table.sort")
    await d.screen(PickScreen)
    await d.press("w")
    await d.shows("by what")
    await keys("table.reverse")
    await d.shows("by what, reversed")


@scenario("table.group", "table.fold", "table.unfold")
async def groups_and_folds(d, keys):
    d.manager.put(session("child001", Status.RUNNING, "extract users", created=0, parent="stopped1"))
    await d.shows("extract users")
    await keys("table.group")
    await d.shows("└ extract users")
    d.main.table.select("child001")
    await keys("table.fold")
    await d.until(lambda: "└ extract users" not in d.text())
    await keys("table.unfold")
    await d.shows("└ extract users")


@scenario("table.columns", "table.views")
async def chooses_columns_and_views(d, keys):
    await keys("table.columns")
    await d.screen(ColumnsScreen)
    await d.press("escape")
    await d.until(lambda: d.app.screen is d.main)
    await keys("table.views")
    await d.screen(ViewsScreen)


@scenario("table.mark_range", "table.mark_all")
async def marks_several(d, keys):
    await keys("table.mark_range", "table.down", "table.mark_range")
    assert [one.id for one in d.main.table.marked] == ["waiting1", "failed01"]
    await keys("table.mark_all")
    assert len(d.main.table.marked) == 5


@scenario("table.next_attention", "table.previous_attention")
async def goes_to_what_needs_somebody(d, keys):
    await keys("table.next_attention")
    assert d.main.table.selected.id == "failed01"
    await keys("table.previous_attention")
    assert d.main.table.selected.id == "waiting1"


@scenario("smaller", "larger", "zoom")
async def sizes_the_panes(d, keys):
    before = d.main.pane.size.width
    await keys("smaller")
    await d.until(lambda: d.main.pane.size.width < before)
    await keys("larger")
    await d.until(lambda: d.main.pane.size.width == before)
    await keys("zoom")
    await d.until(lambda: d.main.pane.size.width >= 158)


@scenario("meter")
async def shows_what_it_costs(d, keys):
    await keys("meter")
    await d.shows("0 B/s")


@scenario("command_line")
async def asks_for_a_command(d, keys):
    await keys("command_line")
    await d.screen(CommandScreen)
    await d.shows("Tab complete")


@scenario("palette")
async def opens_the_palette(d, keys):
    await keys("palette")
    await d.press(*"Resends the last")
    await d.until(lambda: len(d.app.screen_stack) == 2)


@scenario("menu.go", "menu.view", "menu.session")
async def opens_menus(d, keys):
    for name, title in (("menu.go", '"go to"'), ("menu.view", '"view"'), ("menu.session", "of this session")):
        await keys(name)
        await d.press("9")
        await d.shows(f"9: nothing in the menu {title}.")


@scenario("theme")
async def takes_the_next_theme(d, keys):
    await keys("theme")
    await d.shows("Theme: light")


@scenario("mouse")
async def turns_the_mouse_on(d, keys):
    await keys("mouse")
    await d.shows("Mouse on")


@scenario("log")
async def shows_the_log(d, keys):
    await keys("theme", "log")
    await d.screen(LogScreen)
    await d.shows("  Theme: light")


@scenario("help")
async def shows_the_help(d, keys):
    await keys("help")
    await d.screen(HelpScreen)


@scenario("quit")
async def quits(d, keys):
    await keys("quit")
    await d.until(lambda: not d.app.is_running)


@scenario("interrupt")
async def says_how_to_quit(d, keys):
    await keys("interrupt")
    await d.shows("again to quit")


@scenario("redraw")
async def paints_everything_again(d, keys):
    forgotten = []
    d.app.shown.forget = lambda: forgotten.append(True)
    await keys("redraw")
    await d.until(lambda: forgotten)


@scenario("suspend")
async def suspends(d, keys):
    await keys("suspend")
    await d.until(lambda: d.suspended)


@scenario("steps.down", "steps.up", "steps.first", "steps.last", "steps.jump_back")
async def moves_in_the_steps(d, keys):
    await keys.read()
    await keys("steps.down", "steps.down", "steps.up")
    assert d.steps.cursor == 1
    await keys("steps.last")
    assert d.steps.following
    await keys("steps.first")
    assert d.steps.cursor == 0
    await keys("steps.next_turn")
    assert d.steps.cursor > 1
    await keys("steps.jump_back")
    assert d.steps.cursor == 0


@scenario(
    "lines.down",
    "lines.up",
    "lines.page_down",
    "lines.page_up",
    "lines.half_page_down",
    "lines.half_page_up",
    size=(100, 24),
)
async def scrolls_by_lines_and_pages(d, keys):
    await keys.read()
    for down, up in (("down", "up"), ("page_down", "page_up"), ("half_page_down", "half_page_up")):
        before = d.steps.top
        await keys(f"lines.{down}")
        assert d.steps.top > before
        await keys(f"lines.{up}")
        assert d.steps.top == before


@scenario("steps.more", "steps.less", "steps.fold")
async def shows_more_or_less(d, keys):
    await keys.read()
    await keys("steps.down", "steps.down", "steps.more")
    await d.shows("line 30 of the output")
    await keys("steps.less", "steps.less")
    await d.until(lambda: "line 0 of the output" not in d.text())
    await keys("steps.fold")
    await d.shows("line 20 of the output")


@scenario("steps.next_turn", "steps.previous_turn", "steps.next_prompt", "steps.previous_prompt")
async def goes_by_turns_and_prompts(d, keys):
    await keys.read()
    for there, back in (("next_turn", "previous_turn"), ("next_prompt", "previous_prompt")):
        await keys(f"steps.{there}")
        assert (d.steps.current.turn, d.steps.current.index) == (2, 0)
        await keys(f"steps.{back}")
        assert (d.steps.current.turn, d.steps.current.index) == (1, 0)


@scenario("steps.next_failure", "steps.previous_failure")
async def goes_by_failures(d, keys):
    await keys.read()
    await keys("steps.next_failure", "steps.next_failure", "steps.previous_failure")
    assert d.steps.current.exit_code == 1


@scenario("steps.unread")
async def says_where_nothing_is_new(d, keys):
    await keys.read()
    await keys("steps.unread")
    await d.shows("no unread steps")


@scenario(*(f"steps.only_{group.label}" for group in GROUPS), "steps.all")
async def shows_only_some_kinds(d, keys):
    await keys.read()
    for group in GROUPS:
        await keys(f"steps.only_{group.label}")
        assert group.key in d.steps.groups
    await keys("steps.all")
    assert not d.steps.groups
    await d.press("4")
    assert d.steps.groups == {"4"}


@scenario("steps.search", "steps.next_match", "steps.previous_match")
async def searches(d, keys):
    await keys.read()
    await keys("steps.search")
    await d.press(*"clock", "enter")
    await d.shows("/clock  1 of 4")
    await keys("steps.next_match")
    await d.shows("2 of 4")
    await keys("steps.previous_match")
    await d.shows("1 of 4")


@scenario("take_over")
async def opens_the_agents_own_interface(d, keys):
    d.manager.put(structs.replace(d.manager.get("done0001"), agent_session="11111111-2222-4333-8444-555555555555"))
    await d.select("done0001")
    await keys("take_over")
    await d.shows("by hand in 0s")
    assert [argv[:2] for argv in d.programs] == [["claude", "--resume"]]


@scenario("mode")
async def changes_the_mode(d, keys):
    await keys("mode")
    await d.screen(PickScreen)
    await d.shows("read-only")
    await d.press("a")
    await d.shows("to read-only: from turn 3 on")


@scenario("steps.go_to")
async def goes_to_a_number(d, keys):
    await keys.read()
    await keys("steps.go_to")
    await d.press(*"2.1", "enter")
    await d.until(lambda: d.steps.current.turn == 2)


@scenario("steps.copy", "steps.copy_part")
async def copies(d, keys):
    await keys.read()
    await keys("steps.down", "steps.down", "steps.copy")
    await d.until(lambda: d.app.clipboard == "pytest -q tests/login")
    await keys("steps.copy_part")
    await d.screen(PickScreen)


@scenario("steps.page_step", "steps.page_file", "steps.edit_step")
async def hands_steps_to_programs(d, keys):
    await keys.read()
    await keys("steps.page_step", "steps.page_file", "steps.edit_step")
    await d.until(lambda: [argv[0] for argv in d.programs] == ["less", "less", "nano"])


@scenario("shell", "lazygit", "table.page_answer", "table.edit_answer", "table.page_file")
async def hands_the_selected_session_to_programs(d, keys):
    await d.shows("also add a regression test")
    d.manager.put(session("waiting1", Status.WAITING, "in a repository", created=1, cwd=str(d.repository)))
    await d.shows("in a repository")
    await keys("shell", "lazygit", "table.page_answer", "table.edit_answer", "table.page_file")
    await d.until(lambda: [argv[0] for argv in d.programs] == ["/bin/zsh", "lazygit", "less", "nano", "less"])
    assert d.app.focused is d.main.table


@scenario("table.copy", "table.copy_part", "table.explain", "table.changes")
async def reads_the_selected_session_from_the_table(d, keys):
    await d.shows("also add a regression test")
    await keys("table.copy")
    await d.until(lambda: d.app.clipboard.startswith("The test read the real clock."))
    await keys("table.explain")
    await d.shows("the agent asked a question and waits for the answer")
    await keys("back", "table.copy_part")
    await d.screen(PickScreen)
    await d.press("escape")
    await keys("table.changes")
    await d.screen(ChangesScreen)


@scenario("steps.open", "steps.source")
async def opens_a_step_and_shows_its_source(d, keys):
    await keys.read()
    await keys("steps.open")
    assert isinstance(d.app.focused, DocumentPane)
    await keys("steps.source")
    await d.until(lambda: d.main.detail.viewer.documents.source)


@scenario("steps.raw", "steps.stderr", "steps.explain")
async def shows_what_lies_behind(d, keys):
    d.manager.layout.session("waiting1").errors(1).write_text("warning of turn 1\n")
    await keys.read()
    await keys("steps.raw")
    await d.shows("raw line")
    await keys("steps.stderr")
    await d.shows("warning of turn 1")
    await keys("steps.explain")
    await d.shows("the agent asked a question and waits for the answer")


@scenario("steps.export")
async def saves(d, keys):
    await keys.read()
    await keys("steps.export")
    await d.screen(SaveScreen)


@scenario("steps.fork", "steps.rewind", "steps.undo", "steps.compact")
async def changes_the_conversation(d, keys):
    d.manager.tell("done0001", TALK)
    await d.select("done0001")
    await d.press("enter")
    await d.shows("The index is made.")
    await keys("steps.up")
    for name, title in (("fork", "Fork"), ("rewind", "Go back to"), ("compact", "Compact")):
        await keys(f"steps.{name}")
        await d.screen(ConversationScreen)
        await d.shows(title)
        if name == "rewind":
            await d.press("y")
            await d.shows("went back")
        else:
            await d.press("escape")
    await keys("steps.undo")
    await d.shows("Show again what was hidden?")


@scenario("step.down", "step.up", "step.first", "step.last", "step.next", "step.previous", size=(100, 24))
async def reads_one_step(d, keys):
    await keys.read()
    await keys("steps.down", "steps.down", "steps.open")
    pane = d.main.detail.viewer.pane
    await d.shows("output · 47 lines")
    await keys("step.down")
    assert pane.top > (0, 0)
    await keys("step.up")
    assert pane.top == (0, 0)
    await keys("step.last")
    await d.shows("line 46 of the output")
    await keys("step.first")
    assert pane.top == (0, 0)
    await keys("step.next")
    await d.until(lambda: d.steps.cursor == 3)
    await keys("step.previous")
    await d.until(lambda: d.steps.cursor == 2)


async def changes(d, keys):
    await keys.read()
    await keys("steps.changes")
    screen = await d.screen(ChangesScreen)
    await d.shows("src/clock.py")
    return screen


@scenario("steps.changes", "files.down", "files.up", "files.first", "files.last")
async def moves_in_the_files(d, keys):
    screen = await changes(d, keys)
    seen = []
    for name in ("files.down", "files.up", "files.last", "files.first"):
        await keys(name)
        seen.append(screen.files.cursor)
    assert seen == [1, 0, 1, 0]


async def used(d, keys):
    d.manager.use(MONTH)
    await keys("usage")
    screen = await d.screen(UsageScreen)
    await d.until(lambda: screen.figures is not None)
    return screen


@scenario("usage", "usage.day", "usage.week", "usage.month", "usage.group", "usage.unit")
async def shows_usage(d, keys):
    screen = await used(d, keys)
    for name in ("week", "month", "day"):
        await keys(f"usage.{name}")
        await d.until(lambda name=name: screen.view.step == name)
    await keys("usage.group", "usage.unit")
    await d.until(lambda: (screen.view.by, screen.view.unit) == ("agent", "tokens"))


@scenario("usage.down", "usage.up", "usage.first", "usage.last", "usage.page_down", "usage.page_up")
async def moves_in_the_rows_of_usage(d, keys):
    screen = await used(d, keys)
    seen = []
    for name in ("down", "up", "last", "first", "page_down", "page_up"):
        await keys(f"usage.{name}")
        seen.append(screen.list.cursor)
    assert seen == [1, 0, 2, 0, 2, 0]


@scenario("usage.earlier", "usage.later", "usage.open")
async def moves_in_the_columns_of_usage_and_shows_their_sessions(d, keys):
    screen = await used(d, keys)
    last = screen.plot.cursor
    await keys("usage.earlier", "usage.earlier")
    assert screen.plot.cursor == last - 2
    await keys("usage.later", "usage.later", "usage.open")
    await d.screen(MainScreen)
    await d.shows("usage of today")


@scenario("files.open")
async def reads_the_diffs(d, keys):
    screen = await changes(d, keys)
    await keys("files.open")
    await d.until(lambda: screen.pane.has_focus)


@scenario("files.edit", "files.copy")
async def edits_a_file_and_copies_its_path(d, keys):
    await changes(d, keys)
    await keys("files.copy")
    path = here("/home/ann/code/api") + "/src/clock.py"
    await d.until(lambda: d.app.clipboard == path)
    await keys("files.edit")
    await d.until(lambda: d.programs == [["nano", path]])


@scenario("files.next", "files.previous", "diffs.next", "diffs.previous")
async def goes_to_the_other_file(d, keys):
    screen = await changes(d, keys)
    seen = []
    for name in ("files.next", "files.previous"):
        await keys(name)
        seen.append(screen.files.cursor)
    await keys("files.open")
    await d.until(lambda: screen.pane.has_focus)
    for name in ("files.next", "files.previous", "diffs.next", "diffs.previous"):
        await keys(name)
        cursor = 1 - seen[-1]
        await d.until(lambda cursor=cursor: screen.files.cursor == cursor)
        seen.append(screen.files.cursor)
    assert seen == [1, 0, 1, 0, 1, 0]


@scenario("files.search", "files.next_match", "files.previous_match")
async def searches_in_the_diffs(d, keys):
    screen = await changes(d, keys)
    await keys("files.search")
    await d.press("e", "enter")
    await d.until(lambda: screen.pane.at == 0 and len(screen.pane.matches) > 1)
    await keys("files.next_match")
    await d.until(lambda: screen.pane.at == 1)
    await keys("files.previous_match")
    await d.until(lambda: screen.pane.at == 0)


@scenario("files.look_again")
async def looks_again(d, keys):
    await changes(d, keys)
    more = Change(path="b.py", kind="update", diff="+a")
    d.manager.write("waiting1", [Step(turn=2, index=3, kind=StepKind.FILE_CHANGE, changes=(more,))])
    await keys("files.look_again")
    await d.shows("b.py")
    assert "reading" not in d.text()


@scenario("files.step")
async def goes_to_the_step(d, keys):
    await changes(d, keys)
    await keys("files.step")
    await d.until(lambda: d.app.screen is d.main)
    await d.until(lambda: d.steps.cursor == 3)


@pytest.mark.parametrize(("function", "names", "size"), all_scenarios())
async def test_it_does_what_it_says(function, names, size, dashboard, programs, monkeypatch, tmp_path):
    suspended, repository = [], tmp_path / "repository"
    (repository / ".git").mkdir(parents=True)
    lazygit = tmp_path / "lazygit"
    lazygit.write_text("#!/bin/sh\n")
    lazygit.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    monkeypatch.setenv("SHELL", "/bin/zsh")
    monkeypatch.setattr(App, "action_suspend_process", lambda _: suspended.append(True))
    async with dashboard(size=size) as d:
        d.steps, d.programs, d.suspended = d.main.detail.steps, programs, suspended
        d.repository = repository
        await function(d, Keys(d))
