"""The dashboard by its keys."""

import pytest
from factories import T0
from msgspec import structs
from textual.events import Paste

from agentdash.sessions.model.errors import SessionBusyError, UsageError
from agentdash.sessions.model.session import Receipt, Status, Step, StepKind, StepStatus, StoppedBy, Stopping
from agentdash.sessions.settings.config import DashboardSettings
from agentdash.tui.dialogs.asking.confirm import ConfirmScreen
from agentdash.tui.dialogs.asking.stopping import StoppingScreen
from agentdash.tui.dialogs.help import HelpScreen
from agentdash.tui.dialogs.processes import ProcessesScreen
from agentdash.tui.dialogs.starting.new_session import NewSessionScreen, NoAgentScreen
from agentdash.tui.terminal import state
from agentdash.tui.themes import THEMES
from agentdash.widgets.inputs.history import HistoryInput
from agentdash.widgets.inputs.prompt_box import PromptInput
from pilot.examples import session
from pilot.gate import Gate
from pilot.house import failing, here

GONE = UsageError("No such folder: /x.")


def refusing(manager, monkeypatch):
    """Let each start be refused; return the prompts of those that were asked for."""
    asked = []

    def spawn(start):
        asked.append(start.prompt)
        raise GONE

    monkeypatch.setattr(manager, "spawn", spawn)
    return asked


def newest(turn, text):
    """A prompt that is newer than all others; a later turn has a newer one."""
    return Step(turn=turn, index=0, kind=StepKind.PROMPT, text=text, at=T0 + turn)


async def test_the_table_shows_the_sessions_and_the_steps_of_the_first(dashboard):
    async with dashboard() as d:
        await d.shows("fix the flaky login test")
        await d.shows("wants to run: rm -rf build/")
        await d.shows("split [/red] the mono")
        await d.shows("── turn 2 ──")
        assert "1 waiting" in d.text()
        assert "1 running" in d.text()
        assert "1 failed new" in d.text()
        assert "1 done new" in d.text()
        assert "\x1b" not in d.text()


async def test_keys_move_the_selection(dashboard):
    async with dashboard() as d:
        at = lambda: d.main.table.selected.id  # noqa: E731
        assert at() == "waiting1"
        await d.press("j", "down")
        assert at() == "running1"
        await d.press("k")
        assert at() == "failed01"
        await d.press("G")
        assert at() == "stopped1"
        await d.press("g g")
        assert at() == "waiting1"
        await d.press("pagedown")
        assert at() == "stopped1"
        await d.press("pageup")
        assert at() == "waiting1"
        await d.press("up")
        assert at() == "waiting1"


async def test_the_selection_stays_with_its_session_when_rows_come_and_go(dashboard):
    async with dashboard() as d:
        await d.select("done0001")
        d.manager.put(session("newest01", Status.RUNNING, "another one", created=-5))
        await d.shows("another one")
        assert d.main.table.selected.id == "done0001"
        d.manager.drop("done0001")
        await d.until(lambda: d.main.table.session("done0001") is None)
        assert d.main.table.selected is not None


async def test_a_change_on_disk_reaches_the_screen(dashboard):
    async with dashboard() as d:
        ended = {"status": Status.FAILED, "reason": "exit 137 (SIGKILL)", "updated_at": T0 + 1_000}
        d.manager.put(structs.replace(d.manager.get("running1"), **ended))
        await d.shows("exit 137 (SIGKILL)")
        await d.shows("2 failed")


async def test_ages_go_on_and_only_their_cells_are_drawn_again(dashboard, monkeypatch):
    async with dashboard() as d:
        await d.shows("?   4s")
        drawn = []
        monkeypatch.setattr(d.main.table, "refresh", lambda *regions, **_: drawn.extend(regions))
        d.main.table.tick()
        assert drawn == []
        d.main.table._clock = lambda: T0 + 30_000
        d.main.table.tick()
        monkeypatch.undo()
        # The waiting one on both lines, the failed one and the running one; an hour stays an hour.
        assert [region.width for region in drawn] == [5, 75, 5, 5]
        d.main.table.tick()
        d.main.table.refresh()
        await d.shows("?  30s")


async def test_new_steps_appear_when_the_turn_file_grows(dashboard):
    async with dashboard() as d:
        await d.shows("also add a regression test")
        done = Step(turn=2, index=2, kind=StepKind.COMMAND, command="rm -rf build/", status=StepStatus.OK)
        d.manager.write("waiting1", [done, Step(turn=2, index=3, kind=StepKind.MESSAGE, text="All green.")])
        await d.shows("All green.")
        assert "running…" not in d.text()  # the finished command took the place of the running one


async def test_enter_opens_and_escape_goes_back(dashboard):
    async with dashboard() as d:
        await d.select("done0001")
        await d.press("enter")
        assert d.app.focused is d.main.detail.steps
        await d.until(lambda: d.manager.get("done0001").all_seen)
        await d.press("escape")
        assert d.app.focused is d.main.table
        await d.press("escape")
        assert d.app.is_running


async def test_what_comes_while_somebody_reads_it_is_not_counted_as_new(dashboard):
    async with dashboard() as d:
        await d.select("running1")
        running = d.manager.get("running1")
        await d.press("enter")
        d.manager.put(structs.replace(running, steps=150, seen_steps=140))
        await d.until(lambda: d.manager.get("running1").seen_steps == 150)
        assert d.main.table.session("running1").unread == 0
        await d.press("escape")
        d.manager.put(structs.replace(running, steps=153, seen_steps=150))
        await d.shows("0s  +3")


async def test_a_row_with_a_hundred_unread_steps_is_not_drawn_for_each_one_more(dashboard, monkeypatch):
    async with dashboard() as d:
        await d.shows("0s 99+")
        drawn = []
        monkeypatch.setattr(d.main.table, "refresh", lambda *regions, **_: drawn.extend(regions))
        running = d.manager.get("running1")
        d.main.table.update_rows([structs.replace(running, steps=running.steps + 1)])
        assert drawn == []
        d.main.table.update_rows([structs.replace(running, seen_steps=running.steps)])
        assert [region.width for region in drawn] == [4]


async def test_scrolling_up_leaves_following_and_joins_again(dashboard):
    async with dashboard(size=(100, 24)) as d:
        steps = d.main.detail.steps
        await d.shows("rm -rf build/")
        await d.press("enter", "k")
        assert not steps.following
        await d.shows("follow: off (z F)")
        await d.press("G")
        assert steps.following
        await d.press("g g")
        await d.shows("── turn 1 ──")
        assert not steps.following
        await d.press("z F")
        assert steps.following
        await d.shows("following")
        await d.press("pageup", "pagedown")
        assert steps.following


async def test_resizing_keeps_the_place(dashboard):
    async with dashboard(size=(100, 24)) as d:
        await d.shows("rm -rf build/")
        await d.press("enter", "g g", "j", "J")
        top = d.main.detail.steps.top
        assert top == (0, 1)
        await d.resize(80, 24)
        await d.until(lambda: "∴ The failure depends on the clock" in d.text())
        assert d.main.detail.steps.top == top
        assert not d.main.detail.steps.following


async def test_a_prompt_goes_to_the_selected_session(dashboard):
    async with dashboard() as d:
        await d.select("done0001")
        await d.shows("→ write the migration (turn 4)")
        await d.press("i", *"and q", "ctrl+j", *"test", "enter")
        await d.sent("done0001", "and q\ntest")
        await d.until(lambda: d.main.detail.prompt.input.text == "")
        assert d.app.focused is d.main.table
        await d.select("done0001")
        await d.press("enter", "i", *"more", "enter")
        await d.until(lambda: d.app.focused is d.main.detail.steps)


async def test_a_prompt_that_stays_takes_what_is_typed_on_after_enter(dashboard):
    async with dashboard(settings=DashboardSettings(stay_in_prompt=True)) as d:
        await d.select("done0001")
        await d.press("i", *"alpha", "enter", *"Xq")
        await d.sent("done0001", "alpha")
        await d.until(lambda: d.main.detail.prompt.input.text == "Xq")
        assert d.manager.requests("done0001") == []


async def test_text_in_one_burst_with_the_key_that_opens_the_prompt_is_text(dashboard):
    async with dashboard() as d:
        await d.select("done0001")
        before = d.manager.rows()
        d.burst("kjiXqx\x1b")
        await d.until(lambda: d.main.detail.prompt.input.text == "Xqx")
        await d.until(lambda: d.app.focused is d.main.table)
        assert d.manager.rows() == before


async def test_text_in_one_burst_with_the_key_that_opens_a_dialog_is_text(dashboard):
    async with dashboard() as d:
        before = d.manager.rows()
        d.burst("nqXx")
        dialog = await d.screen(NewSessionScreen)
        await d.until(lambda: dialog.query_one(PromptInput).text == "qXx")
        assert d.manager.rows() == before


async def test_keys_after_a_pasted_text_come_after_it(dashboard):
    async with dashboard() as d:
        await d.select("done0001")
        d.burst("i")
        d.app.post_message(Paste("Xx\nq"))
        d.burst("j")
        await d.until(lambda: d.main.detail.prompt.input.text == "Xx\nqj")


async def test_a_second_prompt_that_is_refused_is_given_back(dashboard, manager, monkeypatch):
    inject = manager.prompts.inject

    def over_after_the_first(ref, prompt, options=None):
        if prompt != "alpha":
            raise SessionBusyError("it is over its limit")
        return inject(ref, prompt, options)

    monkeypatch.setattr(manager.prompts, "inject", over_after_the_first)
    async with dashboard(settings=DashboardSettings(stay_in_prompt=True)) as d:
        await d.select("done0001")
        await d.press("i", *"alpha", "enter", *"beta", "enter")
        await d.shows("it is over its limit")
        await d.until(lambda: d.main.detail.prompt.input.text == "beta")
        assert d.manager.asked_of("done0001") == ["alpha"]


async def test_the_keys_of_the_prompt_stand_below_it(dashboard):
    async with dashboard() as d:
        await d.shows("n new")
        await d.press("i")
        await d.shows("Enter send   Ctrl+N send, next   Ctrl+J new line")
        assert "n new" not in d.text()
        await d.press("escape")
        await d.shows("n new")


async def test_a_refused_prompt_is_told_and_kept(dashboard, manager, monkeypatch):
    async with dashboard() as d:
        await d.select("running1")
        await d.shows("(queued #1, after turn 1)")
        monkeypatch.setattr(manager.prompts, "inject", failing(SessionBusyError("Session is [over] its limit.")))
        await d.press("i", *"hello", "enter")
        await d.shows("Session is [over] its limit.")
        assert d.main.detail.prompt.input.text == "hello"
        await d.press("escape", "escape")  # the first one removes the error
        assert d.app.focused is d.main.table


async def test_a_blank_prompt_is_not_sent(dashboard):
    async with dashboard() as d:
        await d.press("i", "space", "enter")
        assert isinstance(d.app.focused, PromptInput)
        assert d.manager.asked_of("waiting1") == []


async def test_new_session(dashboard):
    async with dashboard() as d:
        await d.press("n")
        await d.screen(NewSessionScreen)
        await d.press(*"quick fix", "tab", "right", "tab", "right", "tab", "tab", *"opus", "enter")
        options = {"permission_mode": "auto"}
        one = await d.begun("quick fix", "claude", "opus", "/home/ann/code/api", options)
        await d.until(lambda: d.app.screen is d.main and d.main.table.selected.id == one.id)


async def test_the_dialog_of_a_start_names_an_agent_that_is_not_installed(dashboard, tmp_path):
    (tmp_path / "programs" / "claude").unlink()
    async with dashboard() as d:
        await d.press("n")
        await d.screen(NewSessionScreen)
        await d.shows("not installed: claude")


async def test_what_was_written_is_there_again_until_something_is_started(dashboard):
    async with dashboard() as d:
        await d.press("n")
        await d.screen(NewSessionScreen)
        await d.press(*"first", "ctrl+j", *"second", "escape")
        await d.until(lambda: d.app.screen is d.main)
        await d.press("N")
        await d.screen(NewSessionScreen)
        await d.press("tab", "escape")
        await d.until(lambda: d.app.screen is d.main)
        await d.press("n")
        screen = await d.screen(NewSessionScreen)
        assert screen.query_one("#new-prompt").text == "first\nsecond"
        await d.press(*", third", "enter")
        await d.begun("first\nsecond, third", "codex", None, "/home/ann/code/api", {})
        await d.until(lambda: d.app.screen is d.main)
        await d.press("n")
        screen = await d.screen(NewSessionScreen)
        assert screen.query_one("#new-prompt").text == ""


async def test_the_dialog_stays_open_with_the_reason(dashboard, manager, monkeypatch):
    async with dashboard() as d:
        await d.press("n")
        await d.screen(NewSessionScreen)
        await d.press("tab", "tab", "tab", "enter")
        await d.shows("The prompt is empty")
        await d.press("shift+tab", "shift+tab", "enter")
        await d.until(lambda: isinstance(d.app.focused, PromptInput))
        monkeypatch.setattr(manager.reader, "plan", failing(GONE))
        asked = refusing(manager, monkeypatch)
        await d.press(*"go")
        await d.shows("No such folder: /x.")
        await d.press("enter")
        await d.until(lambda: asked == ["go"])
        await d.shows("No such folder: /x.")
        await d.press("escape")
        await d.until(lambda: d.app.screen is d.main)


async def test_a_second_enter_while_a_session_starts_starts_no_second_one(dashboard, manager, monkeypatch):
    spawn, may_start, asked = manager.spawn, Gate(), []

    def held(start):
        asked.append(start.prompt)
        may_start.wait()
        return spawn(start)

    monkeypatch.setattr(manager, "spawn", held)
    async with dashboard() as d:
        await d.press("n")
        await d.screen(NewSessionScreen)
        await d.press(*"go", "enter")
        await d.until(lambda: asked)
        await d.press("enter", "tab", "enter")
        may_start.set()
        await d.until(lambda: d.app.screen is d.main and len(d.main.table.on_screen) == 6)
        assert asked == ["go"]
        assert len(d.manager.begun()) == 1


async def test_after_a_start_that_was_refused_enter_starts_it(dashboard, manager, monkeypatch):
    async with dashboard() as d:
        await d.press("n")
        await d.screen(NewSessionScreen)
        with monkeypatch.context() as refused:
            asked = refusing(manager, refused)
            await d.press(*"go", "enter")
            await d.until(lambda: asked == ["go"])
        await d.shows("No such folder: /x.")
        await d.press("enter")
        one = await d.begun("go", "codex", None, "/home/ann/code/api", {})
        await d.until(lambda: d.app.screen is d.main and d.main.table.session(one.id) is not None)


async def test_letters_never_change_what_an_agent_may_do(dashboard):
    async with dashboard() as d:
        await d.press("n")
        await d.screen(NewSessionScreen)
        await d.press(*"go", "tab", "tab", *"/the/folder/hl")
        await d.shows("[workspace-write]")
        await d.press("right")
        await d.shows("No sandbox, no approvals: it can do anything you can")
        await d.press("left")
        await d.until(lambda: "no approvals" not in d.text())
        await d.press("enter")
        await d.begun("go", "codex", None, "/home/ann/code/api", {})


async def test_copies(dashboard):
    async with dashboard() as d:
        await d.press("n")
        await d.screen(NewSessionScreen)
        await d.press(*"go", "shift+tab", "backspace", "0", "enter")
        await d.shows("must be from 1 to 100")
        await d.press("backspace", "3", "enter")
        await d.until(lambda: [one.task for one in d.manager.begun()] == ["go"] * 3)
        await d.until(lambda: d.app.screen is d.main)


async def test_stop_asks_first_and_shows_the_receipt(dashboard):
    async with dashboard() as d:
        await d.select("running1")
        await d.press("x")
        await d.screen(ConfirmScreen)
        await d.shows("4188 bash -c 'pytest [-q]'")
        await d.press("enter")
        await d.until(lambda: d.app.screen is d.main)
        assert d.manager.requests("running1") == []
        await d.press("x")
        await d.screen(ConfirmScreen)
        await d.press("y")
        await d.screen(StoppingScreen)
        await d.shows("2 processes ended (SIGINT 1, SIGKILL 1), 1 left, 1.2s")
        await d.shows("belongs to another user")
        await d.press("escape")
        await d.until(lambda: d.app.screen is d.main)
        await d.shows("■   0s")


async def test_capital_x_stops_at_once(dashboard):
    async with dashboard() as d:
        await d.select("running1")
        await d.press("X")
        await d.requested("running1", "kill")
        await d.screen(StoppingScreen)


async def test_delete_asks_first(dashboard):
    async with dashboard() as d:
        await d.select("stopped1")
        await d.press("D")
        await d.screen(ConfirmScreen)
        await d.press("n")
        await d.until(lambda: d.app.screen is d.main)
        await d.press("D")
        await d.screen(ConfirmScreen)
        await d.press("y")
        await d.until(lambda: d.manager.trash() == {"stopped1"})
        await d.until(lambda: d.main.table.session("stopped1") is None)
        await d.shows('Deleted "rename the store" · u to undo')
        await d.press("u")
        await d.until(lambda: d.manager.trash() == set())
        await d.shows('Restored "rename the store"')
        await d.until(lambda: d.main.table.selected.id == "stopped1")
        await d.press("u")
        await d.shows("Nothing to undo.")


async def test_a_session_is_selected_even_if_its_row_comes_before_the_answer(dashboard, manager, monkeypatch):
    restore, may_answer = manager.housekeeping.restore, Gate()

    def put_back(ref):
        one = restore(ref)
        may_answer.wait()
        return one

    monkeypatch.setattr(manager.housekeeping, "restore", put_back)
    async with dashboard() as d:
        await d.select("stopped1")
        await d.press("D", "y")
        await d.until(lambda: d.main.table.session("stopped1") is None)
        await d.select("running1")
        await d.press("u")
        await d.until(lambda: d.main.table.session("stopped1"))
        may_answer.set()
        await d.until(lambda: d.main.table.selected.id == "stopped1")


async def test_archive_what_has_ended(dashboard):
    async with dashboard() as d:
        await d.select("running1")
        await d.press("A")
        await d.select("done0001")
        await d.press("A")
        await d.until(lambda: d.manager.archived() == {"done0001"})
        await d.until(lambda: d.main.table.session("done0001") is None)
        assert d.main.table.session("running1") is not None


async def test_processes_with_what_they_cost(dashboard):
    async with dashboard() as d:
        await d.select("running1")
        await d.press("p")
        await d.screen(ProcessesScreen)
        await d.shows("4190")
        await d.shows("12.3s")
        await d.shows("1.5 MB")
        await d.shows(":8000")
        await d.press("escape")
        await d.until(lambda: d.app.screen is d.main)


async def test_a_stop_that_somebody_else_asked_for_is_counted_down_in_the_table(dashboard, monkeypatch):
    async with dashboard(size=(80, 24)) as d:
        now = [T0]
        monkeypatch.setattr(d.main.table, "_clock", lambda: now[0])
        one = d.manager.get("running1")
        d.manager.put(structs.replace(one, stopping=Stopping(rung="SIGINT", next="SIGTERM", due_at=T0 + 2500)))
        await d.shows("stopping: SIGINT sent, SIGTERM in 3s")
        now[0] = T0 + 1500
        d.main.table.tick()
        await d.shows("stopping: SIGINT sent, SIGTERM in 1s")
        reason = "stopped by its limit: ran longer than 10m; 3 processes ended (SIGINT 3), 0 left"
        d.manager.put(structs.replace(one, status=Status.STOPPED, stopped_by=StoppedBy.LIMIT, reason=reason))
        await d.shows("stopped by its limit: ran longer")


async def test_nothing_to_stop_needs_no_dialog(dashboard, manager, monkeypatch):
    monkeypatch.setattr(manager, "stop", lambda ref, how: Receipt(session=ref, status=Status.DONE, note="it is done"))
    async with dashboard() as d:
        await d.select("running1")
        await d.press("X")
        await d.shows("it is done")
        await d.until(lambda: d.app.screen is d.main)


async def test_retry_where_it_makes_sense(dashboard):
    async with dashboard() as d:
        await d.select("done0001")
        await d.press("R", "escape")
        await d.select("failed01")
        assert "R retry" in d.text()
        await d.press("R")
        await d.sent("failed01", "task of failed01")
        assert d.manager.asked_of("done0001") == []


async def test_help_lists_every_action(dashboard):
    async with dashboard(size=(100, 45)) as d:
        await d.press("question_mark")
        await d.screen(HelpScreen)
        await d.press("question_mark")
        await d.shows("filter sessions")
        for told in (
            "next session that needs you",
            "start a session",
            "stop the session",
            "quit (sessions keep running)",
        ):
            while told not in d.text():
                await d.press("pagedown")
        await d.press("escape")
        await d.until(lambda: d.app.screen is d.main)


async def test_q_quits_only_where_nobody_types(dashboard):
    async with dashboard() as d:
        before = d.manager.rows()
        await d.press("i", "q")
        assert d.app.is_running
        assert d.main.detail.prompt.input.text == "q"
        await d.press("escape", "q")
        await d.until(lambda: not d.app.is_running)
        assert d.manager.rows() == before


async def test_tab_goes_round(dashboard):
    async with dashboard() as d:
        await d.press("tab")
        assert d.app.focused is d.main.detail.steps
        await d.press("tab")
        assert isinstance(d.app.focused, PromptInput)
        await d.press("tab")
        assert d.app.focused is d.main.table


@pytest.mark.parametrize("size", [(160, 45), (80, 24), (50, 24), (30, 8)])
async def test_it_fits(dashboard, size):
    async with dashboard(size=size) as d:
        await d.shows("fix the flaky")
        table = d.main.table
        assert table.show_horizontal_scrollbar is False
        assert table.size.width <= size[0]


async def test_one_pane_at_a_time_on_a_narrow_screen(dashboard):
    async with dashboard(size=(50, 24)) as d:
        assert not d.main.detail.display
        await d.press("enter")
        await d.shows("also add a regression test")
        assert not d.main.pane.display
        await d.press("escape")
        assert d.main.pane.display
        await d.press("i")
        assert isinstance(d.app.focused, PromptInput)
        await d.press("escape")
        assert d.app.focused is d.main.table


async def test_without_sessions_the_screen_teaches(dashboard, tmp_path, manager):
    manager.empty()
    async with dashboard() as d:
        await d.shows("No sessions yet.")
        for lesson in ("j k    move", "Enter  read the steps", "w      next session that needs you", "?      all keys"):
            await d.shows(lesson)
        await d.shows("→ new codex session in")
        await d.press("i", *"hello", "enter")
        await d.until(lambda: [one.task for one in d.manager.begun()] == ["hello"])


async def test_an_empty_dashboard_draws_nothing_as_time_goes_on(dashboard, manager, monkeypatch):
    manager.empty()
    async with dashboard() as d:
        await d.shows("No sessions yet")
        drawn = []
        for widget in (d.main.table, d.main.detail.steps):
            monkeypatch.setattr(widget, "refresh", lambda *regions, **_: drawn.append(regions))
        d.main.table.tick()
        d.main.detail.steps.tick(T0 + 60_000)
        assert drawn == []


async def test_without_any_agent_the_screen_says_what_to_install_and_nothing_can_be_started(
    dashboard, manager, tmp_path
):
    manager.empty()
    for name in ("codex", "claude"):
        (tmp_path / "programs" / name).unlink()
    async with dashboard() as d:
        await d.shows("No sessions yet, and no agent installed.")
        await d.shows("codex   npm install -g @openai/codex")
        await d.shows("agentdash demo   see what it looks like")
        await d.shows("no agent installed: n shows how to install one")
        await d.press("n")
        await d.screen(NoAgentScreen)
        await d.shows("claude  npm install -g @anthropic-ai/claude-code")
        await d.press("enter", "escape")
        await d.until(lambda: d.app.screen is d.main)
        await d.press("i", *"hello", "enter")
        await d.shows("No agent installed: n shows how to install one.")
        assert d.main.detail.prompt.input.text == "hello"
        assert manager.begun() == []


async def test_a_session_of_an_agent_of_another_version_is_not_repeated(dashboard, manager):
    manager.put(session("hal00001", Status.DONE, "an old task", created=-1, agent="hal"))
    async with dashboard() as d:
        d.main.table.select("hal00001")
        await d.until(lambda: d.main.table.selected.id == "hal00001")
        await d.press("N")
        await d.shows("This version of agentdash cannot start hal.")
        assert d.app.screen is d.main


async def test_a_default_agent_that_is_missing_is_told_before_anybody_writes(dashboard, manager, tmp_path):
    manager.empty()
    (tmp_path / "programs" / "codex").unlink()
    async with dashboard() as d:
        await d.shows("codex is not installed: n starts another agent")


async def test_the_dialog_shows_the_exact_command(dashboard):
    async with dashboard() as d:
        await d.press("n")
        await d.screen(NewSessionScreen)
        await d.will_run(
            f"$ codex exec --json --skip-git-repo-check -C {here('/home/ann/code/api')} -s workspace-write -"
        )
        await d.press("tab", "tab", "right", "tab", "tab", *"o3", *["tab"] * 6, *"--color never -i 'a b.png'")
        await d.will_run("-m o3 -s danger-full-access --color never -i 'a b.png' -")


async def test_folders_are_completed_and_recalled(dashboard, tmp_path):
    (tmp_path / "projects" / "api").mkdir(parents=True)
    async with dashboard() as d:
        await d.press("n")
        screen = await d.screen(NewSessionScreen)
        folder = screen.query_one("#new-cwd", HistoryInput)
        folder.focus()
        await d.press("up")
        assert folder.value == "~/code/web"
        await d.press("down")
        assert folder.value == "~/code/api"
        folder.value = ""
        await d.press(*"~/code/w")
        await d.until(lambda: folder._suggestion == "~/code/web")
        await d.press("right")
        assert folder.value == "~/code/web"
        folder.value = f"{tmp_path}/proj"
        folder.action_end()
        await d.press("e")
        await d.until(lambda: folder._suggestion)
        await d.press("right")
        assert folder.value == f"{tmp_path}/projects/"


async def test_capital_n_starts_one_like_the_selected(dashboard, manager):
    options = {"sandbox": "read-only", "args": ["--skip-git-repo-check"]}
    manager.give("stopped1", options)
    async with dashboard() as d:
        await d.select("stopped1")
        await d.press("N")
        await d.screen(NewSessionScreen)
        await d.shows("rename the store")
        await d.will_run("-s read-only")
        await d.press("enter")
        await d.begun("rename the store", "codex", None, "/home/ann/code/api", options)


async def test_up_brings_back_earlier_prompts_and_down_the_draft(dashboard, manager):
    texts = ("add dark\nmode", "write the migration")
    manager.tell("failed01", [newest(turn, text) for turn, text in enumerate(texts, 1)])
    async with dashboard() as d:
        await d.select("done0001")
        await d.press("i", *"so")
        text = d.main.detail.prompt.input
        await d.until(lambda: text.earlier._texts, "the history")
        await d.press("up")
        assert text.text == "write the migration"
        await d.press("up")
        assert text.text == "add dark\nmode"
        await d.press("up", "down", "down", "down")
        assert text.text == "so"


async def test_a_draft_stays_with_its_session(dashboard):
    async with dashboard() as d:
        await d.select("done0001")
        await d.press("i", *"half a thou", "escape")
        await d.select("stopped1")
        assert d.main.detail.prompt.input.text == ""
        await d.press("i", *"other", "escape")
        await d.select("done0001")
        assert d.main.detail.prompt.input.text == "half a thou"


async def test_a_stop_counts_down_and_can_be_hurried(dashboard):
    async with dashboard() as d:
        d.manager.may_end.clear()
        await d.select("running1")
        await d.press("x")
        await d.screen(ConfirmScreen)
        await d.shows("SIGINT now, SIGTERM after 3s, SIGKILL after 6s;")
        await d.press("y")
        await d.screen(StoppingScreen)
        await d.shows("SIGINT sent, SIGTERM in")
        await d.press("X")
        await d.requested("running1", "stop", "kill")
        await d.shows("SIGKILL sent")
        d.manager.may_end.set()
        await d.shows("2 processes ended (SIGINT 1, SIGKILL 1)")


async def test_a_stop_that_nobody_watches_tells_its_receipt_in_a_line(dashboard):
    async with dashboard() as d:
        d.manager.may_end.clear()
        await d.select("running1")
        await d.press("x")
        await d.screen(ConfirmScreen)
        await d.press("y")
        await d.screen(StoppingScreen)
        await d.press("escape")
        await d.until(lambda: d.app.screen is d.main)
        d.manager.may_end.set()
        await d.shows("ended (SIGINT 1, SIGKILL 1), 1 left")


async def test_deleting_a_running_session_stops_it_first(dashboard):
    async with dashboard() as d:
        await d.select("running1")
        await d.press("D")
        await d.screen(ConfirmScreen)
        await d.press("y")
        await d.screen(StoppingScreen)
        await d.until(lambda: d.manager.trash() == {"running1"})
        assert [one.status for one in d.manager.reader.put_away(archived=False)] == [Status.STOPPED]


async def test_t_goes_through_the_themes(dashboard):
    async with dashboard() as d:
        seen = []
        for _ in THEMES:
            seen.append(d.app.theme)
            await d.press("t")
        assert sorted(seen) == sorted(theme.name for theme in THEMES.values())
        assert d.app.theme == "agentdash-dark"


async def test_the_key_f2_turns_the_mouse_on_and_off(dashboard, monkeypatch):
    async with dashboard() as d:
        written = []
        monkeypatch.setattr(d.app._driver, "write", written.append)
        await d.press("f2")
        await d.shows("Mouse on")
        assert state.MOUSE_ON in written
        await d.press("f2")
        await d.shows("Mouse off")
        assert written.count(state.MOUSE_OFF) == 1


async def test_a_click_selects_and_a_second_one_opens(dashboard):
    async with dashboard() as d:
        table = d.main.table
        await d.pilot.click(table, offset=(20, 5))
        assert table.selected.id == "failed01"
        await d.pilot.click(table, offset=(20, 5), times=2)
        assert d.app.focused is d.main.detail.steps


async def test_ctrl_c_twice_quits_and_once_says_so(dashboard):
    async with dashboard() as d:
        before = d.manager.rows()
        await d.press("ctrl+c")
        await d.shows("Press Ctrl+C again to quit (sessions keep running)")
        assert d.app.is_running
        await d.press("ctrl+c")
        await d.until(lambda: not d.app.is_running)
        assert d.manager.rows() == before


async def test_the_palette_offers_what_can_be_done_now(dashboard):
    async with dashboard() as d:
        await d.select("done0001")
        await d.press("ctrl+p", *"prompt")
        await d.shows("send a prompt to the session")
        await d.press("down", "enter")
        await d.until(lambda: isinstance(d.app.focused, PromptInput))


@pytest.mark.parametrize("size", [(28, 20), (80, 6)])
async def test_a_screen_that_is_too_small_says_so(dashboard, size):
    async with dashboard(size=size) as d:
        await d.shows(f"too small: {size[0]}x{size[1]}")
        await d.resize(80, 24)
        await d.shows("fix the flaky")
        assert "too small" not in d.text()


async def test_silence_is_told_without_any_event(dashboard):
    async with dashboard() as d:
        await d.shows("RUNNING 1")
        d.main.table._clock = lambda: T0 + 240_000
        d.main.table.tick()
        await d.shows("no output for 4m")


async def test_plain_ascii(dashboard):
    async with dashboard(plain_ascii=True) as d:
        await d.shows("* running")
        await d.shows("-- turn 2 --")
        assert not set("●✓✗■∴✦Σ…─") & set(d.text())


async def test_an_unexpected_error_is_told_and_logged(dashboard, manager, monkeypatch):
    async with dashboard() as d:
        await d.select("failed01")
        monkeypatch.setattr(manager.prompts, "retry", failing(RuntimeError("disk on fire")))
        await d.press("R")
        await d.shows("Unexpected RuntimeError: disk on fire")
        assert "disk on fire" in (d.manager.home / "dashboard.log").read_text()
        assert d.app.is_running
