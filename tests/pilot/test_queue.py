"""Prompts for a busy session: they wait in its queue, and the dashboard shows, edits, moves and sends them."""

import pytest
from factories import T0
from msgspec import structs

from agentdash.sessions.model.session import Status
from agentdash.sessions.settings.config import DashboardSettings
from agentdash.tui.dialogs.asking.confirm import ConfirmScreen
from agentdash.tui.dialogs.queue import QueueScreen
from agentdash.tui.dialogs.table.pick import PickScreen
from agentdash.tui.screens.main import MainScreen
from agentdash.widgets.inputs.prompt_box import PromptInput
from pilot.examples import session

SIZES = [(160, 45), (80, 24), (50, 24)]


def change(manager, sid, **facts):
    manager.put(structs.replace(manager.get(sid), **facts))


async def reading(d, sid):
    """Show the steps and the prompt of a session, also in a narrow terminal."""
    await d.select(sid)
    await d.press("enter")


@pytest.mark.parametrize("size", SIZES)
async def test_a_busy_session_takes_a_prompt_and_says_before_and_after_where_it_waits(dashboard, size):
    async with dashboard(size=size) as d:
        await reading(d, "running1")
        await d.shows("(queued #1, after turn")
        await d.press("i", *"then the docs", "enter")
        await d.sent("running1", "then the docs")
        await d.shows(": #1, after turn 1")
        await d.shows("1 queued, after turn 1")
        await d.shows("(queued #2, after turn")


@pytest.mark.parametrize("size", SIZES)
async def test_a_row_shows_what_waits_what_is_held_and_what_is_unconfirmed(dashboard, manager, size):
    manager.enqueue("running1", "then the docs")
    change(manager, "stopped1", held="turn 1 was stopped")
    manager.enqueue("stopped1", "one", "two")
    manager.unconfirm("done0001", 2, "drop the index")
    async with dashboard(size=size) as d:
        row = {line.partition("│")[0] for line in d.text().split("\n")}
        assert any("split" in line and "+1" in line.split() and "+1 held" not in line for line in row)
        assert any("rename the store +2 held" in line for line in row)
        assert any("write the migration !1" in line for line in row)


async def test_an_unconfirmed_prompt_needs_the_user_until_it_is_sent_again(dashboard, manager):
    manager.unconfirm("done0001", 2, "drop the index")
    change(manager, "done0001", seen_at=T0)
    async with dashboard() as d:
        await d.select("done0001")
        await d.shows("NEEDS YOU 3")
        await d.shows("prompt unconfirmed: g q to send it again")
        await d.press("Q")
        await d.screen(QueueScreen)
        await d.shows("unconfirmed drop the index")
        await d.press("R")
        await d.sent("done0001", "drop the index")
        await d.press("escape")
        await d.until(lambda: "is unconfirmed" not in d.text())


async def test_an_unconfirmed_prompt_is_dismissed_after_a_question(dashboard, manager):
    manager.unconfirm("done0001", 2, "drop the index")
    change(manager, "done0001", seen_at=T0)
    async with dashboard() as d:
        await d.select("done0001")
        await d.press("Q")
        await d.screen(QueueScreen)
        await d.shows("R send again   D dismiss")
        await d.press("D")
        await d.shows("Dismiss the unconfirmed prompt of turn 2?")
        await d.press("y")
        await d.until(lambda: not manager.reader.unconfirmed("done0001"))


@pytest.mark.parametrize("size", SIZES)
async def test_the_queue_is_above_the_box_and_takes_no_line_without_prompts(dashboard, manager, size):
    manager.enqueue("running1", "fix the tests", "write the docs", "bump the version", "tag it")
    async with dashboard(size=size) as d:
        await reading(d, "running1")
        await d.shows("4 queued, after turn 1")
        low = size[1] < 32
        await d.shows("1 fix the tests")
        assert ("2 write the docs   +2 more" in d.text()) is not low
        await reading(d, "waiting1")
        await d.until(lambda: "queued, after" not in d.text())
        assert not d.main.detail.queue.display


async def test_a_held_queue_says_why_and_which_key_releases_it(dashboard, manager):
    change(manager, "stopped1", held="turn 1 failed")
    manager.enqueue("stopped1", "fix the tests")
    async with dashboard() as d:
        await d.select("stopped1")
        await d.shows("1 queued, held: turn 1 failed   g q to release")
        await d.shows("(queued #2, held: turn 1 failed) ──")
        await d.press("Q")
        await d.screen(QueueScreen)
        await d.shows("r release")
        await d.press("r")
        await d.until(lambda: manager.get("stopped1").held is None)
        await d.shows("h hold")


@pytest.fixture
def three(manager):
    manager.enqueue("running1", "fix the tests", "write the docs", "bump the version")
    return manager


async def waits(d, *texts):
    """Wait until these prompts wait, in this order."""
    await d.until(lambda: [one.text for one in d.manager.queue.prompts("running1")] == list(texts), f"{texts} to wait")


async def opened(d):
    await d.select("running1")
    await d.shows("3 queued, after turn 1")
    await d.press("Q")
    return await d.screen(QueueScreen)


@pytest.mark.parametrize("size", SIZES)
async def test_the_dialog_moves_cancels_and_sends_prompts(dashboard, three, size):
    async with dashboard(size=size) as d:
        await d.select("running1")
        await d.press("Q")
        await d.screen(QueueScreen)
        await d.shows("3  3m   queued      bump the version")
        await d.press("J")
        await waits(d, "write the docs", "fix the tests", "bump the version")
        await d.shows("2  1m   queued      fix the tests")
        await d.press("D")
        await d.screen(ConfirmScreen)
        await d.shows("Cancel queued prompt 2?")
        await d.press("y")
        await waits(d, "write the docs", "bump the version")
        await d.until(lambda: "fix the tests" not in d.text())
        await d.press("s")
        await waits(d, "bump the version", "write the docs")


async def test_a_question_comes_before_a_prompt_is_cancelled(dashboard, three):
    async with dashboard() as d:
        await opened(d)
        await d.press("D", "n")
        await d.screen(QueueScreen)
        await waits(d, "fix the tests", "write the docs", "bump the version")


async def test_a_queued_prompt_is_edited_in_the_prompt_box(dashboard, three):
    async with dashboard() as d:
        await opened(d)
        await d.press("j", "enter")
        await d.shows("editing queued #2: Enter saves, Esc cancels")
        box = d.main.detail.prompt.input
        assert (d.app.focused, box.text) == (box, "write the docs")
        await d.press(*" too", "enter")
        await waits(d, "fix the tests", "write the docs too", "bump the version")
        await d.shows(": #2, after turn 1")
        await d.screen(QueueScreen)
        assert box.text == ""
        await d.press("escape", "escape")  # the message, then the queue
        await d.shows("(queued #4, after turn 1)")


async def test_after_an_edit_the_queue_is_open_again_so_that_its_keys_do_not_act_on_the_session(dashboard, three):
    async with dashboard() as d:
        await opened(d)
        await d.press("j", "enter")
        await d.shows("editing queued #2")
        d.burst("!\nD")  # the next key is typed before the edit is saved
        await d.settled()
        await d.screen(ConfirmScreen)
        await d.shows("Cancel queued prompt 2?")
        await d.press("y")
        await waits(d, "fix the tests", "bump the version")
        assert three.trash() == set()


async def test_after_a_cancelled_edit_the_queue_is_open_again(dashboard, three):
    async with dashboard() as d:
        await opened(d)
        await d.press("j", "enter", *" x", "escape")
        await d.screen(QueueScreen)
        await d.press("D")
        await d.shows("Cancel queued prompt 2?")


async def test_the_draft_comes_back_after_an_edit_that_was_cancelled(dashboard, three):
    async with dashboard() as d:
        await d.select("running1")
        await d.press("i", *"my draft", "escape", "Q")
        await d.screen(QueueScreen)
        await d.press("e")
        await d.shows("editing queued #1")
        await d.press(*" x", "escape")
        box = d.main.detail.prompt.input
        await d.until(lambda: box.text == "my draft")
        await waits(d, "fix the tests", "write the docs", "bump the version")


async def test_an_edit_that_comes_too_late_becomes_the_draft(dashboard, three):
    async with dashboard() as d:
        await opened(d)
        await d.press("enter")
        await d.shows("editing queued #1")
        change(three, "running1", status=Status.DONE)
        three.queue.send_now(three.queue.prompts("running1")[0])
        await d.press(*" again", "enter")
        await d.shows("Not edited: it was sent as turn 2.")
        assert d.main.detail.prompt.input.text == "fix the tests again"


async def test_up_in_an_empty_box_edits_the_last_queued_prompt(dashboard, three):
    async with dashboard() as d:
        await d.select("running1")
        await d.shows("3 queued")
        await d.press("i", "up")
        await d.shows("editing queued #3")
        assert d.main.detail.prompt.input.text == "bump the version"


async def test_up_without_a_queue_goes_to_the_earlier_prompt(dashboard):
    async with dashboard() as d:
        await d.select("running1")
        await d.press("i")
        await d.until(lambda: d.main.detail.prompt.input.earlier._texts)
        await d.press("up")
        assert d.main.detail.prompt.input.text == d.manager.reader.recent_prompts()[0]


async def test_a_read_only_dashboard_shows_the_queue_and_changes_nothing(dashboard, three):
    async with dashboard(settings=DashboardSettings(read_only=True)) as d:
        before = three.rows()
        await opened(d)
        await d.press("s")
        await d.shows("The dashboard is read-only: no send.")
        await d.press("escape", "enter")
        await d.shows("The dashboard is read-only: no edit.")
        assert three.rows() == before


@pytest.mark.parametrize("size", SIZES)
async def test_a_turn_is_interrupted_after_a_question_that_says_what_it_does(dashboard, three, size):
    async with dashboard(size=size) as d:
        await d.select("running1")
        await d.press("I")
        await d.screen(ConfirmScreen)
        await d.shows("Ends its process and resumes with the next")
        await d.press("y")
        await d.requested("running1", "stop")
        await d.screen(MainScreen)
        await d.shows("Interrupted ")


@pytest.mark.parametrize("size", SIZES)
async def test_a_live_session_at_work_is_steered_and_keeps_its_process(dashboard, manager, size):
    change(manager, "running1", steers=True)
    async with dashboard(size=size) as d:
        await reading(d, "running1")
        await d.shows("(steers now: it reads")
        await d.shows("Steer (")
        await d.press("I")
        await d.screen(ConfirmScreen)
        await d.shows("Ends the turn and keeps its process")
        await d.press("y")
        await d.requested("running1", "interrupt")
        await d.shows(": process kept")


@pytest.mark.parametrize("size", SIZES)
async def test_a_process_that_waits_for_prompts_is_stopped_after_a_question_that_says_so(dashboard, manager, size):
    change(manager, "done0001", warm_since=T0)
    async with dashboard(size=size) as d:
        await reading(d, "done0001")
        await d.shows(", at once)")
        await d.press("x")
        await d.screen(ConfirmScreen)
        await d.shows("Its turn is over: ends its process")
        await d.press("y")
        await d.requested("done0001", "stop")


async def test_the_box_interrupts_and_sends_instead_and_says_so_before(dashboard):
    async with dashboard() as d:
        await d.select("running1")
        await d.shows("Queue a prompt (Ctrl+T: interrupt and send)")
        await d.press("i")
        await d.shows("Ctrl+T interrupt, send")
        await d.press(*"no, the other one", "ctrl+t")
        await d.requested("running1", "stop")
        await d.sent("running1", "no, the other one")
        await d.shows("· sent (turn 2)")


async def test_a_session_at_rest_offers_no_interruption(dashboard):
    async with dashboard() as d:
        await d.select("done0001")
        await d.press("i")
        await d.shows("Enter send")
        assert "interrupt" not in d.text()
        await d.press(*"go on", "ctrl+t")
        await d.sent("done0001", "go on")


@pytest.mark.parametrize("size", SIZES)
async def test_a_mode_is_chosen_for_one_prompt(dashboard, manager, size):
    async with dashboard(size=size) as d:
        await reading(d, "done0001")
        await d.press("i", *["shift+tab"] * 5)
        await d.shows("(turn 4) plan ──")
        await d.press(*"think first", "enter")
        await d.sent("done0001", "think first")
        assert "plan" in manager.store.launch("done0001", 4).argv
        await d.until(lambda: " plan ──" not in d.text())


async def test_modes_come_round_and_full_danger_is_not_among_them(dashboard, manager):
    manager.give("stopped1", {"sandbox": "read-only"})
    async with dashboard() as d:
        await d.select("stopped1")
        await d.press("i")
        await d.press("shift+tab")
        await d.shows("(turn 2) workspace-write ──")
        assert not d.main.detail.prompt.target._alarming
        await d.press("shift+tab")
        await d.shows("(turn 2) danger-full-access ──")
        assert d.main.detail.prompt.target._alarming
        await d.press("shift+tab")
        await d.shows("(turn 2) ──")
        assert isinstance(d.app.focused, PromptInput)


@pytest.mark.parametrize("size", SIZES)
async def test_a_denied_turn_is_sent_again_with_what_was_denied(dashboard, manager, size):
    manager.put(
        session("denied01", Status.DONE, "run the tests", created=9, agent="claude", denied=1, denied_names=("Bash",))
    )
    async with dashboard(size=size) as d:
        await d.select("denied01")
        await d.press("R")
        await d.screen(PickScreen)
        await d.shows("again, with Bash allowed")
        assert "unchanged" not in d.text()
        await d.press("a")
        await d.sent("denied01", "task of denied01")
        assert "Bash" in manager.store.launch("denied01", 2).argv


async def test_a_turn_that_no_setting_would_have_helped_is_not_sent_again(dashboard, manager):
    manager.put(session("denied01", Status.DONE, "run the tests", created=9, denied=1))
    async with dashboard() as d:
        await d.select("denied01")
        await d.press("R")
        await d.shows("No setting allows what was denied.")


async def test_ascii_has_the_same_marks_and_lines(dashboard, three):
    change(three, "stopped1", queued=1, held="turn 1 was stopped", unconfirmed=1)
    async with dashboard(plain_ascii=True) as d:
        await d.select("running1")
        await d.shows("3 queued, after turn 1")
        await d.shows("rename the store !1 +1 held")
        assert d.text().isascii()
