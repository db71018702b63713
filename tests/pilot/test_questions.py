"""What a question before a stop or a deletion says about the sessions at hand."""

from msgspec import structs

from agentdash.sessions.model.session import Status
from agentdash.sessions.rules.launch import Ladder
from agentdash.tui.dialogs.asking.confirm import ConfirmScreen
from agentdash.tui.texts.screen_texts import ladder_words
from pilot.examples import session

QUEUED = session("queued01", Status.QUEUED, "wait for a place", created=9)


async def test_a_queued_session_leaves_the_queue_and_gets_no_signal(dashboard, manager):
    manager.put(QUEUED)
    async with dashboard() as d:
        await d.select("queued01")
        await d.press("x")
        await d.screen(ConfirmScreen)
        await d.shows("Removes it from the queue.")
        assert "SIG" not in d.text()


async def test_a_finished_session_is_moved_to_the_trash_and_nothing_is_stopped(dashboard):
    async with dashboard() as d:
        await d.select("done0001")
        await d.press("D")
        await d.screen(ConfirmScreen)
        await d.shows("Moved to the trash. u to undo.")
        assert "stopped" not in d.text().split("Delete")[1].split("n cancel")[0]


async def test_a_running_session_is_stopped_before_it_is_deleted(dashboard):
    async with dashboard() as d:
        await d.select("running1")
        await d.press("D")
        await d.screen(ConfirmScreen)
        await d.shows("It is stopped first. Moved to the trash. u to undo.")


async def test_kill_of_marked_sessions_says_kill(dashboard):
    async with dashboard() as d:
        await d.select("running1")
        await d.press("space")
        await d.press("X")
        await d.screen(ConfirmScreen)
        await d.shows("Sends SIGKILL to all of them.")
        assert "SIGINT" not in d.text()


async def test_a_narrow_question_keeps_the_titles_of_the_sessions(dashboard):
    async with dashboard(size=(50, 24)) as d:
        await d.press("asterisk", "x")
        await d.screen(ConfirmScreen)
        await d.shows("codex    fix the flaky login t…")
        assert "~/co" not in d.text().partition("Stop 2 sessions?")[2]


async def test_a_dialog_is_as_wide_as_its_lines_need_and_never_wider_than_the_screen(dashboard, manager):
    signals = ladder_words(Ladder())
    first, *others = manager.processes
    long = [structs.replace(first, command="x" * 300), *others]
    for processes, width, wide in (
        (manager.processes, 200, len(signals) + 4),
        (long, 200, 120),
        (long, 100, 95),
        (manager.processes, 50, 47),
    ):
        manager.processes = processes
        async with dashboard(size=(width, 45)) as d:
            await d.select("running1")
            await d.press("x")
            screen = await d.screen(ConfirmScreen)
            assert screen.query_one(".dialog").outer_size.width == wide
            if width > 120:
                assert any(f" {signals} " in line for line in d.text().split("\n"))
            await d.press("n")


async def test_a_long_command_is_cut_in_its_middle(dashboard, manager):
    first, *others = manager.processes
    long = structs.replace(first, command=f"python -c {'x' * 300} --only-this-end-differs")
    manager.processes = [long, *others]
    async with dashboard() as d:
        await d.select("running1")
        await d.press("x")
        await d.screen(ConfirmScreen)
        await d.shows("--only-this-end-differs")
        await d.shows("python -c x")
        await d.press("n", "p")
        await d.shows("--only-this-end-differs")
