"""The checklist of a demo: it ticks what the user has done, and goes when all is done."""

import pytest
from msgspec import structs

from agentdash.sessions.model.session import Status, StoppedBy
from agentdash.sessions.rules.launch import Start
from agentdash.tui.dialogs.asking.confirm import ConfirmScreen
from agentdash.tui.keys.footer import first_keys
from agentdash.tui.keys.keymap import Keymap
from agentdash.tui.panes.checklist import TOUR
from pilot.examples import SESSIONS, session

DONE = next(one for one in SESSIONS if one.id == "done0001")
RUNNING = next(one for one in SESSIONS if one.id == "running1")


async def test_the_tour_ticks_what_was_done_and_goes(dashboard):
    async with dashboard(tour=TOUR) as d:
        await d.shows("· j k move   · Enter read   · i reply to a finished one   · x stop a busy one")
        await d.press("j")
        await d.shows("✓ j k move   · Enter")
        await d.select(DONE.id)
        await d.press("enter")
        await d.shows("✓ Enter read   · i")
        await d.press("i", *"go on", "enter")
        await d.shows("✓ i reply to a finished one   · x")
        await d.select(RUNNING.id)
        await d.press("x")
        await d.screen(ConfirmScreen)
        await d.press("y")
        await d.shows("✓ x stop a busy one   · n")
        await d.press("escape")
        await d.until(lambda: d.app.screen is d.main)
        await d.main.operations.starting.spawn(Start("one more", cwd="/"))
        await d.shows("✓ n start one   · ? all keys")
        await d.press("question_mark")
        await d.shows("type to find a key")
        await d.press("escape")
        await d.until(lambda: "start one" not in d.text())


async def test_what_the_agents_or_other_front_ends_do_ticks_nothing(dashboard):
    async with dashboard(tour=TOUR) as d:
        await d.shows("· j k move")
        d.manager.put(structs.replace(session("worker01", Status.RUNNING, "a part", created=0), parent=DONE.id))
        d.manager.put(session("another1", Status.RUNNING, "one more", created=0))
        d.manager.put(structs.replace(DONE, turn=DONE.turn + 1, status=Status.RUNNING))
        d.manager.put(structs.replace(RUNNING, status=Status.STOPPED, stopped_by=StoppedBy.YOU))
        await d.until(lambda: d.main.table.session("worker01"))
        await d.settled()
        assert "· i reply to a finished one   · x stop a busy one   · n start one" in d.text()


async def test_a_key_that_did_nothing_ticks_nothing(dashboard):
    async with dashboard(tour=TOUR) as d:
        await d.press("x")
        await d.shows("n cancel")
        await d.press("n", "i", "escape")
        await d.until(lambda: "n cancel" not in d.text())
        await d.shows("· i reply to a finished one   · x stop a busy one   · n start one")


@pytest.mark.parametrize(("size", "lines"), [((160, 45), 1), ((80, 24), 1), ((50, 24), 2)])
async def test_the_tour_has_short_words_where_the_whole_ones_do_not_fit_on_a_line(dashboard, size, lines):
    async with dashboard(size=size, tour=TOUR) as d:
        await d.shows("j k move")
        shown = [line.strip() for line in d.text().splitlines() if line.strip().startswith("· ")]
        assert len(shown) == lines
        told = "   ".join(shown)
        if size == (160, 45):
            assert told == "   ".join(f"· {first_keys(Keymap(), actions)} {what}" for actions, what in TOUR)
        else:
            assert told == "· j k move   · Enter read   · i reply   · x stop   · n start   · ? help"


async def test_the_tour_knows_plain_ascii(dashboard):
    async with dashboard(tour=TOUR, plain_ascii=True) as d:
        await d.shows("- j k move")
        await d.press("j")
        await d.shows("+ j k move")


@pytest.mark.parametrize("folder", ["chosen", "usual", "demo"])
async def test_the_header_shows_a_state_folder_that_the_user_chose(dashboard, manager, monkeypatch, folder):
    monkeypatch.setenv("HOME", str(manager.home.parent))  # the header has room for a short path
    if folder == "usual":
        monkeypatch.setattr("agentdash.tui.screens.main.usual_home", lambda: manager.home)
    async with dashboard(tour=TOUR if folder == "demo" else ()) as d:
        await d.shows("1 running")
        assert ("~/state" in d.text().splitlines()[0]) is (folder == "chosen")


async def test_a_demo_does_not_say_that_its_sessions_keep_running(dashboard):
    async with dashboard(tour=TOUR) as d:
        await d.press("ctrl+c")
        await d.shows("Press Ctrl+C again to quit (its sessions end)")
